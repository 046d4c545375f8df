"""The raw fields of records (from JSON, a table, a DataFrame): checked, and converted to texts and numbers."""

from __future__ import annotations

import json
import math
import re
from typing import Any

__all__ = [
    "NO_ANSWER",
    "BadRecordError",
    "answer_of",
    "checked_text",
    "is_missing",
    "label_of",
    "parse_json",
    "plain",
    "positions_of",
    "shown",
]

NO_ANSWER = "no answer"
"""The answer to a question that SQuAD marks as impossible."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_MANY_DIGITS = 4000
"""Python itself refuses to read or write integers of more than 4300 digits."""


class BadRecordError(Exception):
    """What is wrong with a record; becomes a Problem with its place."""


def parse_json(text: str) -> Any:
    """The value of a JSON text; BadRecordError if it is not valid."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadRecordError(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from error
    except RecursionError as error:
        raise BadRecordError("JSON nested too deeply") from error
    except ValueError as error:  # of int(), which json calls
        raise BadRecordError("a number of thousands of digits") from error


def shown(value: object) -> str:
    """A value as shown in a message: short, on one line, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # nested too deeply, an integer of too many digits, or an object that cannot be shown
        text = f"a {type(value).__name__}"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 40 else f"{text[:39]}…"


def checked_text(value: object, name: str) -> str:
    """A text without surrounding whitespace; anything else, or a text that cannot be written to a file, is an error."""
    if not isinstance(value, str):
        raise BadRecordError(f"{name} must be a text, not {shown(value)}")
    if not value.isascii() and _SURROGATE.search(value):
        raise BadRecordError(f"{name} has half a character (a lone surrogate): {shown(value)}")
    if "\0" in value:
        raise BadRecordError(f"{name} has a NUL character: {shown(value)}")
    return value.strip()


def is_missing(value: object) -> bool:
    """Whether a field is empty, as in JSON, tables or DataFrames."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return not value.strip() if isinstance(value, str) else isinstance(value, float) and math.isnan(value)


def plain(value: Any) -> Any:
    """The value with NumPy arrays and numbers converted to Python's."""
    as_list = getattr(value, "tolist", None)
    return as_list() if callable(as_list) else value


def answer_of(value: Any, question: str, *, unanswered: bool = False) -> str:
    """An answer as one text: a text, a number, true or false; a list is several words; SQuAD's answers are the first.

    With ``unanswered`` a missing answer is an empty text.
    """
    value = plain(value)
    if isinstance(value, dict) and "text" in value:  # SQuAD as one row per question: {"text": [...], ...}
        texts = plain(value["text"])
        value = texts if isinstance(texts, str) else NO_ANSWER if texts == [] else texts[0]
    elif isinstance(value, list) and value and all(isinstance(each, dict) and "text" in each for each in value):
        value = value[0]["text"]
    if isinstance(value, list) and value:
        return ",".join(_word(plain(word), question) for word in value)
    if is_missing(value) or value == []:
        if unanswered:
            return ""
        raise BadRecordError(f"question {shown(question)} has no 'answer' (a text, a number, or a list of words)")
    return _word(value, question)


def _word(value: object, question: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # DataFrames turn integers into floats where a value is missing
    if isinstance(value, int) and abs(value) < 10**_MANY_DIGITS:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    name = f"the answer to {shown(question)}"
    if not isinstance(value, str):
        raise BadRecordError(f"{name} must be a text, a number or a list of words, not {shown(value)}")
    if not (text := checked_text(value, name)):
        raise BadRecordError(f"{name} has an empty word")
    return text


def positions_of(value: Any, limit: int) -> tuple[int, ...]:
    """Positions of supporting sentences, from 0: a list, a number, or a text with spaces or commas between them."""
    value = plain(value)
    if is_missing(value):
        return ()
    facts = value
    if isinstance(value, str):
        words = value.strip().strip("[]").replace(",", " ").split()
        facts = [int(word[:12]) if word.isdecimal() else word for word in words]
    elif isinstance(value, float) and value.is_integer():
        facts = [int(value)]
    elif type(value) is int:
        facts = [value]
    if not isinstance(facts, list) or not all(type(fact) is int and 0 <= fact < limit for fact in facts):
        raise BadRecordError(f"'support' must be positions from 0 to {limit - 1}, not {shown(value)}")
    return tuple(facts)


def label_of(value: Any, name: str) -> str:
    """A short text such as a task or an id: a text or a number, empty if missing."""
    value = plain(value)
    if is_missing(value):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadRecordError(f"{name} must be a text or a number, not {shown(value)}")
    return checked_text(value, name) if isinstance(value, str) else _word(value, name)
