"""The command ``qrn``: one small module per verb, loaded only when the verb is used.

Exit codes: 0 fine, 1 bad input (one line on standard error), 2 wrong usage, 3 warnings of ``data check``, 130
interrupted.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from query_reduction._version import __version__
from query_reduction.cli.arguments import parse_arguments
from query_reduction.cli.plain_text import allow_plain_text
from query_reduction.errors import InputError, needs

__all__ = ["VERBS", "main", "options_of", "parse", "verb_of", "verbs"]

_LAB = "query_reduction_lab.cli"

VERBS: dict[str, tuple[str, str]] = {
    "train": ("train:Train", "train a network on stories, with restarts"),
    "evaluate": ("evaluate:Evaluate", "test a trained model"),
    "ask": ("ask:Ask", "ask a trained model about a story"),
    "track": ("track:Track", "follow things through a story: their state after every sentence"),
    "predict": ("predict:Predict", "answer all questions of a file, into a file"),
    "explain": ("explain:Explain", "show how a model arrived at its answer: terminal, HTML, PNG, SVG, JSON"),
    "export": ("export:Export", "write a model as a page of its own, as ONNX, or for the Hugging Face Hub"),
    "serve": ("serve:Serve", "a web page and JSON API for trained models"),
    "models": ("models:Models", "list the models that come with the package"),
    "reproduce": (f"{_LAB}.reproduce:Reproduce", "the paper's tables, published and measured side by side"),
    "chat": ("chat:Chat", "talk to a model trained on dialogs"),
    "bench": (f"{_LAB}.bench:Bench", "speed and memory, compared with other implementations of the same computation"),
    "demo": ("demo:Demo", "generate stories, train, answer and show the gates, in under a minute"),
    "data list": ("data:ListData", "list the available data and where it is stored"),
    "data fetch": ("data:FetchData", "download a published dataset"),
    "data check": ("data:CheckData", "count the contents of a file or folder of stories and list its problems"),
    "data symmetries": ("data:DataSymmetries", "discover which words are interchangeable, from the stories alone"),
    "data generate": ("data:GenerateData", "write generated stories as bAbI files"),
}
"""Verb → (module:class, what it does). A class is a dataclass of options with a ``run`` method."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    if os.name != "posix":
        print("qrn: runs on Linux and macOS; on Windows, use it inside WSL", file=sys.stderr)
        return 1
    given = list(sys.argv[1:] if arguments is None else arguments)
    # Threads that wait for each other spin first and sleep later. On a busy machine long spinning makes a step five
    # times slower (results/EXPERIMENTS.md); the OpenMP library reads this when PyTorch is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    # NumPy's products here are small: a second thread spins three times as long as the first one computes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    allow_plain_text()
    try:
        try:
            return _dispatch(given)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(given: list[str]) -> int:
    if given and given[0] in ("--version", "-V"):
        print(f"qrn {__version__}")
        return 0
    if not given or given[0] in ("--help", "-h", "help"):
        print(_overview())
        return 0
    verb = verb_of(given)
    if verb is None:
        return _wrong_verb(given)
    try:
        code: int = parse(verb, given[len(verb.split()) :]).run()
        return code
    except InputError as error:
        return _failed(verb, str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        # A disk that is full, a folder that may not be written: whatever the operating system refuses.
        where = f" {error.filename}:" if error.filename else ""
        return _failed(verb, f"{where} {error.strerror or error}".strip())
    except UnicodeEncodeError:
        return _failed(verb, "a text holds half a character (a lone surrogate), which cannot be written")
    except MemoryError as error:
        return _failed(verb, str(error) or "not enough memory")
    except KeyboardInterrupt:
        print(f"qrn {verb}: interrupted", file=sys.stderr)
        return 130


def _failed(verb: str, message: str) -> int:
    from query_reduction.cli.output import shown

    print(f"qrn {verb}: {shown(message)}", file=sys.stderr)
    return 1


def verb_of(given: Sequence[str]) -> str | None:
    """The verb that some arguments begin with."""
    return next((name for name in (" ".join(given[:2]), given[0]) if name in VERBS), None)


def options_of(verb: str) -> Any:
    """The dataclass of a verb's options."""
    module_name, class_name = VERBS[verb][0].split(":")
    if "." not in module_name:
        module_name = f"query_reduction.cli.{module_name}"
    elif not _has_laboratory():
        raise InputError("it belongs to the laboratory, which is not installed: in a clone, pip install ./lab")
    with needs("train", "this"):
        return getattr(import_module(module_name), class_name)


def verbs() -> dict[str, str]:
    """The verbs that can be used, with what they do: those of the laboratory if it is installed."""
    return {name: what for name, (where, what) in VERBS.items() if "." not in where or _has_laboratory()}


def _has_laboratory() -> bool:
    """Looked for by its name: reading the entry points of all packages would take half as long as an answer."""
    return find_spec("query_reduction_lab") is not None


def parse(verb: str, arguments: Sequence[str]) -> Any:
    """A verb's options with these values; wrong ones end the program with a message."""
    from query_reduction.settings import check_ranges

    options = parse_arguments(options_of(verb), arguments, f"qrn {verb}")
    check_ranges(options)
    return options


def _overview() -> str:
    shown = verbs()
    width = max(map(len, shown))
    lines = "\n".join(f"  {name:<{width}}  {what}" for name, what in shown.items())
    return (
        "qrn: read stories, answer questions that need several facts, show how\n\n"
        f"usage: qrn VERB [options]\n\n{lines}\n\n"
        "'qrn VERB --help' explains a verb; every verb takes --json for scripts; 'qrn --version' prints the version."
    )


def _wrong_verb(given: list[str]) -> int:
    group = [name for name in VERBS if name.split()[0] == given[0]]
    if group and (len(given) == 1 or given[1] in ("--help", "-h")):
        print(_overview())
        return 0 if len(given) > 1 else 2
    typed = " ".join(given[:2]) if group else given[0]
    near = difflib.get_close_matches(typed, VERBS, n=1) or group[:1]
    hint = f"; did you mean 'qrn {near[0]}'?" if near else ""
    print(f"qrn: no verb {typed!r}{hint} ('qrn --help' lists them)", file=sys.stderr)
    return 2
