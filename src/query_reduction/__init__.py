"""Query-Reduction Networks: read stories, answer questions that need several facts, show how.

>>> import query_reduction as qr
>>> model = qr.load("runs/qa2-2r")
>>> model.answer(["Mary got the milk.", "Mary went to the garden."], "Where is the milk?").text
'garden'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from query_reduction._version import __version__
from query_reduction.errors import InputError

if TYPE_CHECKING:
    from query_reduction.data.stories import Question, Story
    from query_reduction.model import Answer, Reader, load

__all__ = ["Answer", "InputError", "Question", "Reader", "Story", "__version__", "load"]

# Loaded on first use: the command line must answer --help and --version without waiting for PyTorch.
_HOME = {
    "Answer": "query_reduction.model",
    "Question": "query_reduction.data.stories",
    "Reader": "query_reduction.model",
    "Story": "query_reduction.data.stories",
    "load": "query_reduction.model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'query_reduction' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
