"""qrn evaluate"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from rich.text import Text

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, print_json
from query_reduction.cli.scores import score_table
from query_reduction.errors import InputError
from query_reduction.explain.scoring import FIGURES, RANKINGS, score_explanations
from query_reduction.model import Model, StoryModel, load
from query_reduction.pointing.model import PointerModel
from query_reduction.reading.answers import error_by_kind
from query_reduction.reading.protocol import Given
from query_reduction.settings import Between
from query_reduction.sources.named import load_parts, refuse_task
from query_reduction.text.formats.dialog import is_dialog_file, read_dialogs
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Story

__all__ = ["Evaluate"]


@dataclass(frozen=True)
class Evaluate:
    """Test a trained model on stories it has not seen.

    Of a dataset the test part is used; of a single file, every question in it.
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    data: str | None = None
    """generated, babi (or babi/en-10k …), dialog, generated-dialog, or the path of a file or folder; by default the
    model's own task, if its card names it."""
    task: str | None = None
    """Which bAbI task or tasks (2, 1-5, all)."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Seed of the generated stories."""
    explanations: bool = False
    """Also compare the sentences that contributed most with the supporting facts, where the data names them."""
    mistakes: Annotated[int, Between(0, 1_000_000)] = 0
    """List this many of the questions that were answered wrongly."""
    json: bool = False
    """Print the result as one JSON object."""

    def run(self) -> int:
        """Evaluate and report."""
        model = load(self.model)
        data, task = self._source(model)
        result: dict[str, Any] = {"model": self.model, "data": data, "task": task}
        for suffix, stories in self._tests(
            "stories" if isinstance(model, PointerModel) else model.task.kind, data, task
        ):
            scores = model.evaluate(stories)
            if "error" not in result:
                result |= {"questions": scores.questions, "error": scores.error, "errors": {}}
            for measure, rows in scores.errors.items():
                result["errors"].setdefault(measure, {}).update(
                    {f"{row}{suffix}": error for row, error in rows.items()}
                )
            if isinstance(model, StoryModel):
                result |= self._about_stories(model, stories)
            if self.mistakes > 0 or (isinstance(model, StoryModel) and not any(story.task for story in stories)):
                given = model.given(stories)
                wrong = [one for one in given if not one.right]
                result["mistakes"] = result.get("mistakes", []) + [_mistake(one) for one in wrong]
                if isinstance(model, StoryModel):
                    result["by_kind"] = error_by_kind(given)
        if "error" not in result:
            raise InputError(f"{data}: no test questions")
        result["mistakes"] = result.get("mistakes", [])[: max(self.mistakes, 0)]
        if self.json:
            print_json(result)
            return 0
        named = f"{data} task {task}" if task else data
        console.print(f"error [bold]{result['error']:.1f}%[/] on {result['questions']} questions of {named}")
        if sum(map(len, result["errors"].values())) > 1:
            console.print(score_table(result["errors"]))
        if len(result.get("by_kind", {})) > 1:
            console.print(_kind_table(result["by_kind"]))
        if result.get("unknown_words"):
            unknown = ", ".join(result["unknown_words"][:10])
            console.print(f"words the model does not know: {unknown}", style="yellow", markup=False)
        if result.get("answers_never_seen"):
            console.print(f"answers it never saw in training: {result['answers_never_seen']}", style="yellow")
        if self.explanations and "explanations" in result:
            _print_explanations(result["explanations"])
        for mistake in result["mistakes"]:
            _print_mistake(mistake)
        return 0

    def _about_stories(self, model: StoryModel, stories: list[Story]) -> dict[str, Any]:
        vocabulary = model.task.vocabulary
        answers = [question.answer for story in stories for question in story.questions]
        found: dict[str, Any] = {
            "answers_never_seen": sum(vocabulary.answer_number(answer) < 0 for answer in answers),
            "unknown_words": vocabulary.unknown_words(_distinct_texts(stories)),
        }
        if self.explanations:
            found["explanations"] = score_explanations(model.network, model.task, stories)
        return found

    def _source(self, model: Model | PointerModel) -> tuple[str, str | None]:
        """The data and the task: those given, or those on the model's card."""
        if self.data is not None:
            return self.data, self.task
        known = model.card.get("data", {})
        source, task = known.get("source"), self.task or known.get("task")
        if not isinstance(source, str) or not (task is None or isinstance(task, str)):
            raise InputError(f"{self.model} does not say what it was trained for: give --data")
        return source, task

    def _tests(self, kind: str, data: str, task: str | None) -> list[tuple[str, list[Story]]]:
        """The test part of a dataset, or all of a file."""
        if self.explanations and kind == "dialogs":
            raise InputError("--explanations has no effect on dialogs: they name no supporting facts")
        path = Path(data)
        if path.is_file():
            refuse_task(data, self.task)
            if kind == "stories" and is_dialog_file(path):
                raise InputError(f"{data} holds dialogs, but {self.model} was trained on stories")
            return [("", read_dialogs(path) if kind == "dialogs" else read_file(path))]
        parts = load_parts(data, task, seed=self.seed)
        if parts.kind != kind:
            raise InputError(f"{data} holds {parts.kind}, but {self.model} was trained on {kind}")
        return list(parts.tests())


def _distinct_texts(stories: list[Story]) -> list[str]:
    """The distinct sentences and questions."""
    texts = (text for story in stories for text in (*story.sentences, *(q.text for q in story.questions)))
    return list(dict.fromkeys(texts))


def _mistake(given: Given) -> dict[str, Any]:
    return {
        "sentences": list(given.sentences),
        "question": given.question.text,
        "answer": given.question.answer,
        "given": given.answer,
    }


def _print_mistake(mistake: dict[str, Any]) -> None:
    console.print()
    for sentence in mistake["sentences"]:
        console.print(f"  {sentence}", style="dim", markup=False, soft_wrap=True)
    console.print(mistake["question"], style="bold", markup=False, soft_wrap=True)
    console.print(f"  right: {mistake['answer']}   given: {mistake['given']}", markup=False, soft_wrap=True)


def _kind_table(kinds: dict[str, dict[str, float]]) -> Table:
    table = Table(title="error by kind of question, %", title_justify="left")
    for title in ("questions that begin with", "questions", "error"):
        table.add_column(title, justify="left" if title.endswith("with") else "right")
    for kind, found in kinds.items():
        table.add_row(Text(kind), str(found["questions"]), f"{found['error']:.1f}")
    return table


def _print_explanations(scores: dict[str, dict[str, Any]]) -> None:
    """One row per task and ranking: the model's, and those it has to beat."""
    if not scores:
        console.print("the data names no supporting facts to compare explanations with")
        return
    table = Table(title="sentences ranked by contribution, compared with supporting facts, %", title_justify="left")
    for title in ("task", "questions", "ranked by", *(figure.replace("_", " ") for figure in FIGURES)):
        table.add_column(title, justify="left" if title == "ranked by" else "right")
    for task, score in scores.items():
        for ranked_by in RANKINGS:
            figures = [f"{score[ranked_by][figure]:.1f}" for figure in FIGURES]
            first = (task, str(score["questions"])) if ranked_by == "model" else ("", "")
            table.add_row(*first, ranked_by, *figures, end_section=ranked_by == RANKINGS[-1])
    console.print(table)
