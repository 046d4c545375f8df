"""A folder for the Hugging Face Hub: weights as safetensors, settings as JSON, and a model card.

``query_reduction.load`` opens the folder as it is: the safetensors file holds everything.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from query_reduction._version import __version__
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.model import DialogModel, StoryModel
from query_reduction.rivals.registry import config_to_json, kind_of

__all__ = ["write_hub_folder"]

_CARD_FIELDS = ("about", "title", "network", "test_error", "test_errors", "errors", "questions", "data")


def write_hub_folder(model: StoryModel | DialogModel, folder: Path, title: str) -> list[Path]:
    """Write model.safetensors, config.json and README.md; returns their paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    weights = model.save(folder)
    config, card = folder / "config.json", folder / "README.md"
    write_atomically(config, json.dumps(_config(model), ensure_ascii=False, indent=2) + "\n")
    write_atomically(card, _card(model, folder.resolve().name, title))
    return [weights, config, card]


def _config(model: StoryModel | DialogModel) -> dict[str, Any]:
    return {
        "model_type": "query-reduction",
        "architectures": [kind_of(model.saved.config).architecture],
        "query_reduction_version": __version__,
        "network": config_to_json(model.saved.config),
        "task": {"kind": model.task.kind, **asdict(model.task.options)},
        "vocabulary": asdict(model.task.vocabulary),
    }


def _card(model: StoryModel | DialogModel, name: str, title: str) -> str:
    known = {field: model.card[field] for field in _CARD_FIELDS if model.card.get(field) not in (None, "", {})}
    dialogs = isinstance(model, DialogModel)
    use = (
        'print(model.respond([], "hello").text)'
        if dialogs
        else 'print(model.answer(["A sentence.", "Another one."], "A question?"))'
    )
    front = {
        "library_name": "query-reduction",
        "pipeline_tag": "text-generation" if dialogs else "question-answering",
        "tags": ["query-reduction-network", "dialog" if dialogs else "story-understanding", "babi"],
    } | _index(model, name)
    answers = model.task.vocabulary.answers
    return f"""---
{_yaml(front)}---

# {_one_line(title)}

A small network ({_one_line(model.network_name)}) that {"takes the system's side of dialogs" if dialogs else "reads a story and answers a question about it"}, trained with
[query-reduction](https://arxiv.org/abs/1606.04582): {kind_of(model.saved.config).about}.
It knows {len(model.task.vocabulary.words)} words and {len(answers)} {"responses" if dialogs else "answers"}, and no others.

## Use

```python
import query_reduction as qr

model = qr.load("{name}")  # this folder
{use}
```

## Where it comes from

```json
{json.dumps(known, ensure_ascii=False, indent=1)}
```

## Limits

Answers are chosen among those of its training. Sentences are read as weighted bags of words: it will not follow free
prose. No licence was chosen for this copy; whoever publishes it should name one.
"""  # noqa: E501


def _index(model: StoryModel | DialogModel, name: str) -> dict[str, Any]:
    """The measured errors as the Hub lists them, if there are any."""
    rows = model.card.get("test_errors")
    if not isinstance(rows, dict) or not rows:
        return {}
    data = str(model.card.get("data", {}).get("name", "its own data"))
    metrics = [
        {"type": "error", "name": f"error in percent, {measure}{f', task {row}' if row else ''}", "value": error}
        for measure, errors in rows.items()
        for row, error in errors.items()
    ]
    task = {"type": "question-answering", "name": "questions about stories"}
    result = {"task": task, "dataset": {"type": data, "name": data}, "metrics": metrics}
    return {"model-index": [{"name": name, "results": [result]}]}


def _yaml(values: dict[str, Any]) -> str:
    """JSON is YAML: each value on its line, texts quoted, nothing to escape twice."""
    return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items())


def _one_line(text: str) -> str:
    return " ".join(text.split())
