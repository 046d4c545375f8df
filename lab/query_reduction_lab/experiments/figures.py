"""The paper's gate figures: its own stories and dialogs, read by networks trained here, gates next to the printed ones.

Most of the figures are excerpts; the whole story or dialog they come from is read, where it was found in the
published data, and the sentences of the excerpt are shown.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.explain import html, picture
from query_reduction.explain.trace import Trace
from query_reduction.files import write_atomically
from query_reduction.model import DialogModel, Model, StoryModel, load
from query_reduction.origin import provenance
from query_reduction.sources.named import load_parts
from query_reduction.text.stories import Question, Story
from query_reduction.training.run import Run
from query_reduction.training.run_folder import Place, is_finished
from query_reduction_lab.experiments.published import PublishedFigure, published
from query_reduction_lab.experiments.table_recipes import RECIPES

__all__ = [
    "GATES",
    "Figure",
    "draw_figures",
    "figure_runs",
    "figures_json",
    "figures_markdown",
    "places_of",
    "story_of",
]

GATES = ("z1", "r1 forward", "r1 backward", "z2")
_NETWORK = "2r"
_RUNS = Path("runs") / "figures"
_DIALOG_RESTARTS = 1
"""A dialog network takes minutes where one of stories takes seconds."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A sentence of a figure with its gates, in the order of ``GATES``."""

    sentence: str
    paper: tuple[float, ...]
    ours: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FigureNetwork:
    """The network that read a figure's story, and where it comes from."""

    test_error: float
    command: str
    commit: str | None
    data: dict[str, str]
    seed: int
    restarts: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper, reproduced."""

    name: str
    data: str
    task: str
    question: str
    paper_answer: str
    answer: str
    sentences_read: int
    excerpt: tuple[FigureRow, ...]
    note: str
    network: FigureNetwork


def figure_runs(restarts: int | None = None) -> Iterator[tuple[Path, Run]]:
    """The trainings the figures still need, one at a time; each may be resumed."""
    for figure in published().figures:
        folder = _run_of(figure)
        if not is_finished(folder):
            setup = RECIPES["dialog" if figure.data == "dialog" else "original"].setup(_NETWORK)
            own = _DIALOG_RESTARTS if figure.data == "dialog" else setup.recipe.restarts
            setup = replace(setup, recipe=replace(setup.recipe, restarts=restarts or own))
            about = f"figures of {figure.data} task {figure.task}"
            yield folder, Run(load_parts(figure.data, figure.task), setup, Place(folder, about=about))


def draw_figures(folder: Path) -> list[Figure]:
    """Read every story of the figures, draw it, and give its gates next to the printed ones."""
    figures = []
    pictures = importlib.util.find_spec("matplotlib") is not None
    for figure in published().figures:
        model = load(_run_of(figure))
        trace = _trace(model, story_of(figure))
        write_atomically(folder / f"{figure.name}.html", html.page(trace))
        if pictures:
            picture.write_picture(trace, folder / f"{figure.name}.svg")
        gates = _gates(trace)
        rows = tuple(
            FigureRow(sentence, paper, gates[place])
            for (sentence, paper), place in zip(figure.excerpt, places_of(figure, trace.sentences), strict=True)
        )
        about = figure.name, figure.data, figure.task, figure.question, figure.answer
        figures.append(Figure(*about, trace.answer, len(trace.sentences), rows, figure.note, _network(model)))
    content = figures_json(figures) | provenance()
    write_atomically(folder / "figures.json", json.dumps(content, indent=1) + "\n")
    write_atomically(folder / "figures.md", figures_markdown(figures))
    return figures


def figures_json(figures: Sequence[Figure]) -> dict[str, Any]:
    """Everything as plain values."""
    return {"table": "figures", "gates": list(GATES), "figures": [asdict(figure) for figure in figures]}


def _network(model: Model) -> FigureNetwork:
    card = model.card
    about = card["test_error"], card["command"], card["commit"], card["data"]
    return FigureNetwork(*about, card["settings"]["recipe"]["seed"], len(card["restarts"]))


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


def _trace(model: StoryModel | DialogModel, story: Story) -> Trace:
    if isinstance(model, DialogModel):
        return model.explain_dialog(story)
    return model.explain(story.sentences, story.questions[-1].text)


def places_of(figure: PublishedFigure, sentences: Sequence[str]) -> list[int]:
    """The positions of the excerpt's sentences; for repeated ones, the latest that fit."""
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


def _gates(trace: Trace) -> list[tuple[float, ...]]:
    """One row per sentence, in the order of ``GATES``."""
    first, last = (layer.mean_gates() for layer in trace.layers)
    columns = [first["update"], first["reset_forward"], first["reset_backward"], last["update"]]
    return [tuple(round(float(column[row]), 2) for column in columns) for row in range(len(trace.sentences))]


def figures_markdown(figures: Sequence[Figure]) -> str:
    """Paper and ours side by side."""
    heads = "".join(f" {gate} paper | ours |" for gate in GATES)
    lines = []
    for figure in figures:
        kind = "Dialog task" if figure.data == "dialog" else "Task"
        lines += [
            f"### {kind} {figure.task}: {_cell(figure.question)}",
            "",
            f"| sentence |{heads}",
            "|---|" + "---:|" * (2 * len(GATES)),
        ]
        for row in figure.excerpt:
            pairs = zip(row.paper, row.ours, strict=True)
            lines.append(f"| {_cell(row.sentence)} |" + "".join(f" {a:.2f} | {b:.2f} |" for a, b in pairs))
        right = "as in the paper" if figure.answer == figure.paper_answer else f"paper: {figure.paper_answer}"
        lines += ["", f"Answer: {figure.answer} ({right}). {_about(figure)}", ""]
    return "\n".join(lines)


def _about(figure: Figure) -> str:
    network, shown = figure.network, len(figure.excerpt)
    read = f"{shown} of the {figure.sentences_read} sentences read. " if shown < figure.sentences_read else ""
    restarts = f"the best of {network.restarts} on development" if network.restarts > 1 else "one restart"
    note = f" {figure.note}" if figure.note else ""
    return f"{read}Test error of this network ({restarts}): {network.test_error:.1f} %.{note}"


def _cell(text: str) -> str:
    """Silence is written with angle brackets, which Markdown would take for a tag."""
    return text.replace("<", "&lt;")
