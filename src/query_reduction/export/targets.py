"""Export by the name of the target: ``.html``, ``.onnx``, or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.export.hub import write_hub_folder
from query_reduction.export.onnx_graph import onnx_of
from query_reduction.export.page import page_of
from query_reduction.files import write_atomically
from query_reduction.model import DialogModel, StoryModel
from query_reduction.models import story_tasks
from query_reduction.pointing.model import PointerModel
from query_reduction.training.example import example_in
from query_reduction.worlds import generate

__all__ = ["export_model"]


def export_model(
    model: StoryModel | DialogModel | PointerModel, target: Path, *, story: Sequence[str] = (), question: str = ""
) -> list[Path]:
    """Write a model for use elsewhere; returns the files. ``story`` and ``question`` are what a page opens with."""
    if not isinstance(model, StoryModel | DialogModel):
        raise InputError("models that answer with phrases of the story cannot be exported yet; copy their file")
    suffix = target.suffix.lower()
    if suffix in (".html", ".htm"):
        if not story:
            story, question = _example(model)
        write_atomically(target, page_of(model, _title(model), story, question))
        return [target]
    if story or question:
        raise InputError("story and question are what a page opens with; they have no effect on other targets")
    if suffix == ".onnx":
        write_atomically(target, onnx_of(model))
        return [target]
    if suffix and not target.is_dir():
        raise InputError(f"{target}: a model is exported to a page (.html), to .onnx, or to a folder for the Hub")
    return write_hub_folder(model, target, _title(model))


def _title(model: StoryModel | DialogModel) -> str:
    return str(model.card.get("title") or model.card.get("about") or "A Query-Reduction Network")


def _example(model: StoryModel | DialogModel) -> tuple[Sequence[str], str]:
    """A story of its own data, or one of its task, if such stories can be generated."""
    own = example_in(model.card)
    tasks = story_tasks(model.card)
    if own is None and not tasks:
        return (), ""
    told = own or generate(tasks[-1], 1, split="test")[0]
    asked = told.questions[0]
    return told.sentences[: asked.after], asked.text
