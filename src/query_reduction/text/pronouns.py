"""Words that stand for whoever or whatever was named before: "Then she went to ward 3" names nobody.

They are no names, and without knowing them nobody can tell whom a sentence is about.
"""

from __future__ import annotations

import re

from query_reduction.text.words import WORD

__all__ = ["PERSONAL", "POSSESSIVE", "pronouns"]

PERSONAL = frozenset(["he", "him", "it", "she", "them", "they"])
POSSESSIVE = frozenset(["her", "his", "its", "their"])
"""Something of somebody who was named before; ``her`` may also be the person."""
_ALL = PERSONAL | POSSESSIVE | frozenset(["which", "who", "whom", "whose"])


def pronouns(text: str) -> list[re.Match[str]]:
    """Those of a text; a word with a capital letter amid other words is none: Doctor Who, the IT room."""
    found = [(number, word) for number, word in enumerate(WORD.finditer(text)) if word[0].lower() in _ALL]
    shouted = bool(found) and text.isupper()
    return [word for number, word in found if number == 0 or word[0].islower() or shouted]
