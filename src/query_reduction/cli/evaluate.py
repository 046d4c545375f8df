"""qrn evaluate"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from query_reduction.cli.output import console, print_json
from query_reduction.cli.responses import response_table
from query_reduction.data.dialog import read_dialogs
from query_reduction.data.encoding import encode_stories
from query_reduction.data.readers import read_file
from query_reduction.data.stories import Story
from query_reduction.errors import InputError
from query_reduction.explain.scoring import FIGURES, score_explanations
from query_reduction.ready import find_model
from query_reduction.tasks.answers import error_by_task, evaluate
from query_reduction.tasks.preparation import Preparation
from query_reduction.tasks.responder import Responder
from query_reduction.tasks.responses import score_responses
from query_reduction.tasks.sources import load_parts
from query_reduction.training.checkpoint import SavedModel, load_model

__all__ = ["Evaluate"]


@dataclass(frozen=True)
class Evaluate:
    """Test a trained model on stories it has not seen.

    Of a dataset the test part is used; of a single file, every question in it.
    """

    model: Annotated[str, tyro.conf.Positional]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    data: str = "generated"
    """generated, babi (or babi/en-10k …), dialog, generated-dialog, or the path of a file or folder."""
    task: str | None = None
    """Which bAbI task or tasks (2, 1-5, all)."""
    seed: int = 0
    """Decides which stories are generated."""
    explanations: bool = False
    """Also hold the sentences that contributed most against the supporting facts, where the data names them."""
    json: bool = False
    """Print the result as one JSON object."""

    def run(self) -> int:
        """Evaluate and report."""
        saved = load_model(find_model(self.model))
        if saved.preparation is not None:
            return self._evaluate_dialogs(saved, saved.preparation)
        stories = self._stories()
        questions = encode_stories(stories, saved.vocabulary, saved.config.memory)
        if not len(questions):
            raise InputError(f"{self.data}: no test questions")
        outcome = evaluate(saved.network(), questions)
        result: dict[str, Any] = {
            "model": self.model,
            "data": self.data,
            "questions": len(questions),
            "error": round(float(outcome.error[0]), 4),
            "loss": round(float(outcome.loss[0]), 6),
            "answers_never_seen": int((questions.answers < 0).sum()),
            "unknown_words": saved.vocabulary.unknown_words(_distinct_texts(stories)),
            "error_by_task": error_by_task(questions, outcome.correct[0]),
        }
        if self.explanations:
            result["explanations"] = score_explanations(saved.network(), saved.vocabulary, stories)
        if self.json:
            print_json(result)
            return 0
        console.print(f"error [bold]{result['error']:.1f} %[/] on {len(questions)} questions of {self.data}")
        if len(result["error_by_task"]) > 1:
            for task, error in result["error_by_task"].items():
                console.print(f"  task {task:>2}  {error:5.1f} %")
        if result["answers_never_seen"]:
            console.print(f"{result['answers_never_seen']} questions have answers the model never saw in training")
        if result["unknown_words"]:
            console.print(f"unknown words: {', '.join(result['unknown_words'][:20])}", markup=False)
        if self.explanations:
            _print_explanations(result["explanations"])
        return 0

    def _evaluate_dialogs(self, saved: SavedModel, preparation: Preparation) -> int:
        """All three measures, on the test dialogs and on those with names training never mentions."""
        tests = self._dialogs()
        if not any(tests.values()):
            raise InputError(f"{self.data}: no test dialogs")
        responder = Responder(saved.network(), saved.vocabulary, preparation)
        scores = {
            name: score_responses(dialogs, responder.respond(dialogs)).as_json()
            for name, dialogs in tests.items()
            if dialogs
        }
        if self.json:
            print_json({"model": self.model, "data": self.data, "task": self.task, "responses": scores})
        else:
            console.print(response_table(scores))
        return 0

    def _dialogs(self) -> dict[str, list[Story]]:
        if Path(self.data).is_file():
            return {"test": read_dialogs(Path(self.data))}
        parts = load_parts(self.data, self.task, seed=self.seed)
        if not parts.dialogs:
            raise InputError(f"{self.data}: stories, but {self.model} was trained on dialogs")
        return {"test": parts.test, "unseen names": parts.unseen}

    def _stories(self) -> list[Story]:
        if Path(self.data).is_file():
            return read_file(Path(self.data))
        return load_parts(self.data, self.task, seed=self.seed).test


def _distinct_texts(stories: list[Story]) -> list[str]:
    """Sentences and questions, each once."""
    texts = (text for story in stories for text in (*story.sentences, *(q.text for q in story.questions)))
    return list(dict.fromkeys(texts))


def _print_explanations(scores: dict[str, dict[str, Any]]) -> None:
    """One row a task and ranking: the model's, and the two it has to beat."""
    if not scores:
        console.print("the data names no supporting facts to hold explanations against")
        return
    table = Table(title="sentences ranked by contribution against supporting facts, %", title_justify="left")
    for title in ("task", "questions", "ranked by", *(figure.replace("_", " ") for figure in FIGURES)):
        table.add_column(title, justify="left" if title == "ranked by" else "right")
    for task, score in scores.items():
        for ranked_by in ("model", "random", "recency"):
            figures = [f"{score[ranked_by][figure]:.1f}" for figure in FIGURES]
            first = (task, str(score["questions"])) if ranked_by == "model" else ("", "")
            table.add_row(*first, ranked_by, *figures, end_section=ranked_by == "recency")
    console.print(table)
