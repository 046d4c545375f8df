"""The paper's gate figures: its own stories and dialogs, read by networks trained here, gates beside the printed ones.

Most of the figures are excerpts; the story or dialog they come from is read as a whole, where it was found in the
published data, and the sentences of the excerpt are shown.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from query_reduction.config import preset
from query_reduction.data.stories import Question, Story
from query_reduction.errors import InputError
from query_reduction.experiments.published import PublishedFigure, published
from query_reduction.explain import html, picture
from query_reduction.explain.trace import Trace, trace_answer
from query_reduction.files import write_atomically
from query_reduction.ready import find_model
from query_reduction.tasks.responder import Responder
from query_reduction.tasks.sources import load_parts
from query_reduction.training.checkpoint import SavedModel, load_model
from query_reduction.training.run import Run, RunSettings, is_finished

__all__ = ["GATES", "draw_figures", "figure_runs", "figures_markdown", "places_of", "story_of"]

GATES = ("z1", "r1 forward", "r1 backward", "z2")
_VARIANT = "2r"
_RUNS = Path("runs") / "figures"
_DIALOG_RESTARTS = 1
"""A dialog network takes minutes where one of stories takes seconds."""


def figure_runs(restarts: int | None = None) -> Iterator[tuple[Path, Run]]:
    """The trainings the figures still need, one at a time; each may be resumed."""
    for figure in published().figures:
        folder = _run_of(figure)
        if not is_finished(folder):
            model, recipe = preset("dialog" if figure.data == "dialog" else "original", _VARIANT)
            own = _DIALOG_RESTARTS if figure.data == "dialog" else recipe.restarts
            recipe = replace(recipe, restarts=restarts or own)
            parts = load_parts(figure.data, figure.task)
            about = f"figures of {figure.data} task {figure.task}"
            yield folder, Run(parts, RunSettings(model, recipe, folder, about=about))


def draw_figures(folder: Path) -> dict[str, Any]:
    """Read every story of the figures, draw it, and give its gates beside the printed ones."""
    figures = []
    pictures = importlib.util.find_spec("matplotlib") is not None
    for figure in published().figures:
        model = load_model(find_model(_run_of(figure)))
        trace = _trace(model, story_of(figure))
        write_atomically(folder / f"{figure.name}.html", html.page(trace))
        if pictures:
            picture.write_picture(trace, folder / f"{figure.name}.svg")
        gates = _gates(trace)
        places = places_of(figure, trace.sentences)
        figures.append(
            {
                "name": figure.name,
                "data": figure.data,
                "task": figure.task,
                "question": figure.question,
                "paper_answer": figure.answer,
                "answer": trace.answer,
                "sentences_read": len(trace.sentences),
                "excerpt": [
                    {"sentence": sentence, "paper": list(paper), "ours": gates[place]}
                    for (sentence, paper), place in zip(figure.excerpt, places, strict=True)
                ],
                "note": figure.note,
                "network": {name: model.card.get(name) for name in ("test_error", "command", "commit", "data")}
                | {"seed": model.card["recipe"]["seed"], "restarts": model.card["recipe"]["restarts"]},
            }
        )
    value = {"table": "figures", "gates": list(GATES), "figures": figures}
    write_atomically(folder / "figures.json", json.dumps(value, indent=1) + "\n")
    write_atomically(folder / "figures.md", figures_markdown(value))
    return value


def story_of(figure: PublishedFigure) -> Story:
    """What the network reads, with the figure's question as the last one."""
    if figure.source is None:
        sentences = tuple(sentence for sentence, _ in figure.excerpt)
        return Story(sentences, (Question(figure.question, figure.answer, len(sentences)),))
    stories: Sequence[Story] = getattr(load_parts(figure.data, figure.task), figure.source.part)
    try:
        story = stories[figure.source.story]
        questions = story.questions[: figure.source.question + 1]
        asked = questions[figure.source.question]
    except IndexError:
        asked = None
    if asked is None or (asked.text, asked.answer) != (figure.question, figure.answer):
        raise _not_the_published(figure)
    return Story(story.sentences[: asked.after], questions)


def _run_of(figure: PublishedFigure) -> Path:
    return _RUNS / f"{figure.data}-{figure.task}"


def _trace(model: SavedModel, story: Story) -> Trace:
    if model.preparation is not None:
        return Responder(model.network(), model.vocabulary, model.preparation).trace(story)
    return trace_answer(model.network(), model.vocabulary, story.sentences, story.questions[-1].text)


def places_of(figure: PublishedFigure, sentences: Sequence[str]) -> list[int]:
    """Where the sentences of the excerpt stand; of those said several times, the latest that fit."""
    places: list[int] = []
    end = len(sentences)
    for sentence, _ in reversed(figure.excerpt):
        end = max((place for place in range(end) if sentences[place] == sentence), default=-1)
        if end < 0:
            raise _not_the_published(figure)
        places.append(end)
    return places[::-1]


def _not_the_published(figure: PublishedFigure) -> InputError:
    return InputError(f"{figure.data} task {figure.task} is not as published: figure {figure.name} is not in it")


def _gates(trace: Trace) -> list[list[float]]:
    """A row a sentence, in the order of ``GATES``."""
    first, last = (layer.gates() for layer in trace.layers)
    columns = [first["update"], first["reset_forward"], first["reset_backward"], last["update"]]
    return [[round(float(column[row]), 2) for column in columns] for row in range(len(trace.sentences))]


def figures_markdown(value: dict[str, Any]) -> str:
    """Paper and ours side by side."""
    heads = "".join(f" {gate} paper | ours |" for gate in value["gates"])
    lines = []
    for figure in value["figures"]:
        kind = "Dialog task" if figure["data"] == "dialog" else "Task"
        lines += [
            f"### {kind} {figure['task']}: {_cell(figure['question'])}",
            "",
            f"| sentence |{heads}",
            "|---|" + "---:|" * (2 * len(value["gates"])),
        ]
        for row in figure["excerpt"]:
            pairs = zip(row["paper"], row["ours"], strict=True)
            lines.append(f"| {_cell(row['sentence'])} |" + "".join(f" {a:.2f} | {b:.2f} |" for a, b in pairs))
        right = "as in the paper" if figure["answer"] == figure["paper_answer"] else f"paper: {figure['paper_answer']}"
        lines += ["", f"Answer: {figure['answer']} ({right}). {_about(figure)}", ""]
    return "\n".join(lines)


def _about(figure: dict[str, Any]) -> str:
    network, shown = figure["network"], len(figure["excerpt"])
    read = f"{shown} of the {figure['sentences_read']} sentences read. " if shown < figure["sentences_read"] else ""
    restarts = f"the best of {network['restarts']} on development" if network["restarts"] > 1 else "one restart"
    note = f" {figure['note']}" if figure["note"] else ""
    return f"{read}Test error of this network ({restarts}): {network['test_error']:.1f} %.{note}"


def _cell(text: str) -> str:
    """Silence is written with angle brackets, which Markdown would take for a tag."""
    return text.replace("<", "&lt;")
