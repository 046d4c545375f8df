"""What tyro says of a mistake, in one line and in plain words."""

from __future__ import annotations

import re
from itertools import groupby

__all__ = ["in_one_line"]

_FRAME = str.maketrans("─│╭╮╰╯", "-     ")
"""A box as it is drawn where only plain text can be shown."""

_MISTAKES = tuple(
    (re.compile(tyros), ours)
    for tyros, ours in (
        (r"^error parsing (\S+): it must be", r"\1 must be"),
        (r"^invalid choice (.+) for argument '(\S+)'\. Expected one of \((.+?),?\)$", r"\2 must be one of \3, not \1"),
        (r"^missing value for argument '(\S+)'\. Expected 1 values$", r"\1 needs a value"),
        (r"^missing from qrn [a-z ]+: (--\S+) \S+ (.+) \(required\)$", r"\1 is missing: \2"),
        (r"^missing from qrn [a-z ]+: ([A-Z]+) (.+) \(required\)$", r"\1 is missing: \2"),
    )
)
"""tyro's words for a mistake, and ours."""


def in_one_line(box: str) -> str:
    """What tyro says in a box that fills the screen: what is wrong, and the option that may be meant."""
    title, *lines = (line.translate(_FRAME).strip() for line in box.strip().splitlines())
    parts = [" ".join(part) for ruled, part in groupby(filter(None, lines), key=_is_rule) if not ruled]
    if not parts:
        return title
    meant = [word for part in parts if part.startswith("Perhaps") for word in part.split() if word.startswith("--")]
    wrong = parts[0][:1].lower() + parts[0][1:].rstrip(".")
    for words, said in _MISTAKES:
        wrong = words.sub(said, wrong)
    return f"{wrong}; did you mean {meant[0]}?" if meant else wrong


def _is_rule(line: str) -> bool:
    return not line.strip("-")
