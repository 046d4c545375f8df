"""Query-Reduction Networks: read stories, answer questions that need several facts, show how.

>>> import query_reduction as qr
>>> model = qr.load("task2")
>>> model.answer(["Mary got the milk.", "Mary went to the garden."], "Where is the milk?").text
'garden'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from query_reduction._version import __version__
from query_reduction.errors import InputError, needs

if TYPE_CHECKING:
    from query_reduction.dialog.responses import Response
    from query_reduction.explain.trace import Trace
    from query_reduction.model import DialogModel, StoryModel, load
    from query_reduction.pointing.decide import State
    from query_reduction.pointing.model import PhraseAnswer, PointerModel
    from query_reduction.pointing.track import Track
    from query_reduction.reading.predictions import Prediction
    from query_reduction.reading.protocol import Scores
    from query_reduction.reading.stories import Answer
    from query_reduction.recurrence.scan import scan
    from query_reduction.text.formats.readers import read
    from query_reduction.text.phrases import Phrase
    from query_reduction.text.stories import Question, Story
    from query_reduction.training.api import Epoch, train
    from query_reduction.training.pointing_run import train_span

__all__ = [
    "Answer",
    "DialogModel",
    "Epoch",
    "InputError",
    "Phrase",
    "PhraseAnswer",
    "PointerModel",
    "Prediction",
    "Question",
    "Response",
    "Scores",
    "State",
    "Story",
    "StoryModel",
    "Trace",
    "Track",
    "__version__",
    "load",
    "read",
    "scan",
    "train",
    "train_span",
]

# Loaded on first use: --help needs none of it, and models are used without PyTorch.
_HOME = {
    "Answer": "query_reduction.reading.stories",
    "DialogModel": "query_reduction.model",
    "Epoch": "query_reduction.training.api",
    "Phrase": "query_reduction.text.phrases",
    "PhraseAnswer": "query_reduction.pointing.model",
    "PointerModel": "query_reduction.pointing.model",
    "Prediction": "query_reduction.reading.predictions",
    "Question": "query_reduction.text.stories",
    "Response": "query_reduction.dialog.responses",
    "Scores": "query_reduction.reading.protocol",
    "State": "query_reduction.pointing.decide",
    "Story": "query_reduction.text.stories",
    "StoryModel": "query_reduction.model",
    "Trace": "query_reduction.explain.trace",
    "Track": "query_reduction.pointing.track",
    "load": "query_reduction.model",
    "read": "query_reduction.text.formats.readers",
    "scan": "query_reduction.recurrence.scan",
    "train": "query_reduction.training.api",
    "train_span": "query_reduction.training.pointing_run",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'query_reduction' has no attribute {name!r}")
    with needs("train", f"query_reduction.{name}"):
        return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
