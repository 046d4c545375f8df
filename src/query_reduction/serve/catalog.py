"""The models a server offers: those named at its start, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.model import DialogModel, StoryModel, load_listed
from query_reduction.model_file import MODEL_FILE
from query_reduction.models import find_model, ready_models, story_tasks
from query_reduction.training.example import example_in
from query_reduction.worlds import TASKS

__all__ = ["describe", "load_models"]


def load_models(names: Sequence[str]) -> dict[str, StoryModel | DialogModel]:
    """Load the named models (files, folders of runs, folders of those, ready models); by default, all ready ones."""
    paths = [path for name in names for path in _expand(name)] or [model.path for model in ready_models()]
    if not paths:
        raise InputError("this copy of the package contains no models: name one, e.g.  qrn serve runs/qa2-2r")
    models: dict[str, StoryModel | DialogModel] = {}
    for path in paths:
        name = base = path.parent.name if path.name == MODEL_FILE else path.stem
        number = 1
        while name in models:
            number += 1
            name = f"{base}.{number}"
        models[name] = load_listed(path)
    return models


def _expand(name: str) -> list[Path]:
    """The model files a name stands for."""
    path = find_model(name)
    if path.is_file():
        return [path]
    if (path / MODEL_FILE).is_file():
        return [path / MODEL_FILE]
    inside = sorted([*path.glob("*.safetensors"), *path.glob(f"*/{MODEL_FILE}")])
    if not inside:
        raise InputError(f"{name}: no models in this folder (*.safetensors, or runs with {MODEL_FILE})")
    return inside


def describe(name: str, model: StoryModel | DialogModel) -> dict[str, Any]:
    """What the page and the API say about a model."""
    card = model.card
    tasks = story_tasks(card)
    title = card.get("title") or (TASKS[tasks[0]].title if len(tasks) == 1 else f"{len(tasks)} tasks" if tasks else "")
    return {
        "name": name,
        "title": str(title or card.get("about") or ""),
        "kind": "story" if isinstance(model, StoryModel) else "dialog",
        "network": model.network_name,
        "tasks": tasks,
        "answers": len(model.task.vocabulary.answers),
        "decodes_questions": isinstance(model, StoryModel) and model.decodes_questions,
        "example": _example(card),
        "card": dict(card),
    }


def _example(card: Mapping[str, Any]) -> dict[str, Any] | None:
    story = example_in(card)
    if story is None:
        return None
    (question,) = story.questions
    told = {"sentences": story.sentences, "question": question.text}
    return told | {"answer": question.answer, "support": question.support}
