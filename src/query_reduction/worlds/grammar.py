"""Forms of words: cases, endings, articles, and agreement with another word of the sentence.

A paradigm says how its words are put into each form: ``*`` is the word, ``*-2`` the word without its last two letters,
and the rest is written as it stands ("den \\*", "\\*-1ю"). A word of no paradigm has one form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter

__all__ = ["SHAPES", "Grammar", "Part", "parts_of"]

SHAPES = ("capital", "lower")
_WORD = re.compile(r"\*(?:-(\d+))?")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a template: text, and then a word in some form."""

    text: str
    slot: str = ""
    """The slot that is filled, or ``=`` and a word; empty after the last word."""
    form: str = ""
    """The name of the form, or ``@`` and the slot whose gender names it; empty for the word as it stands."""
    shape: str = ""


def parts_of(template: str) -> tuple[Part, ...]:
    """The pieces of a template such as ``{who} {=went:@who} to {place:locative.capital}``."""
    parts = []
    for text, slot, spec, _ in Formatter().parse(template):
        named = [name for name in (spec or "").split(".") if name]
        shape = next((name for name in named if name in SHAPES), "")
        form = next((name for name in named if name not in SHAPES), "")
        parts.append(Part(text, slot or "", form, shape))
    return tuple(parts)


@dataclass(frozen=True, eq=False)
class Grammar:
    """The forms of words, and their genders."""

    paradigm_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each word that has several forms: the pattern of each."""
    gender_of: Mapping[str, str] = field(default_factory=dict)

    def form(self, word: str, form: str) -> str:
        """The word in a form; the word itself if it has no such form."""
        pattern = self.paradigm_of.get(word, {}).get(form)
        return word if pattern is None else _WORD.sub(lambda found: word[: len(word) - int(found[1] or 0)], pattern)

    def written(self, part: Part, words: Mapping[str, str]) -> str:
        """A piece of a template with its slot filled by one of these words."""
        if not part.slot:
            return part.text
        word = part.slot[1:] if part.slot.startswith("=") else words[part.slot]
        form = part.form
        if form.startswith("@"):
            form = self.gender_of.get(words[form[1:]], "")
        word = self.form(word, form) if form else word
        if part.shape == "capital":
            word = word[:1].upper() + word[1:]
        return part.text + (word.lower() if part.shape == "lower" else word)
