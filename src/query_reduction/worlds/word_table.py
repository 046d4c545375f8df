"""Reads the table of words, and says what is wrong with it.

A user may replace the table that comes with the package, ``words.toml`` next to this file, by an own one or by that of
another language, in the folder ``languages``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from string import Formatter

from query_reduction.errors import InputError
from query_reduction.worlds.grammar import SHAPES, Grammar
from query_reduction.worlds.words import Lexicon, Motive, Words

__all__ = ["LANGUAGES", "load_language", "load_words"]

LANGUAGES = ("chinese", "english", "german", "latin", "russian", "turkish")
"""The languages that have a table of their own."""

_LEXICONS = {
    "people": ("house", "giving", "town", "deduction", "induction", "motives"),
    "places": ("house", "town"),
    "things": ("carried",),
    "containers": ("packed",),
    "animals": ("deduction", "induction"),
    "colours": ("induction",),
    "shapes": ("placed",),
}
_VERBS = ("move", "get", "drop", "give")
# The slots each sentence and question must have: all of them, or its content would be lost.
_SENTENCES = {
    "move": "who place",
    "get": "who thing",
    "get_there": "who thing",
    "drop": "who thing",
    "drop_there": "who thing",
    "give": "who thing whom",
    "is_in": "who place",
    "is_not_in": "who place",
    "is_either_in": "who place other",
    "then_moves": "pronoun place",
    "both_move": "who whom place",
    "then_both_move": "place",
    "moved_when": "who place when",
    "lies": "place direction other",
    "are_afraid": "animals others",
    "is_a": "who animal",
    "is_colour": "who colour",
    "above": "thing other",
    "below": "thing other",
    "left_of": "thing other",
    "right_of": "thing other",
    "fits": "thing other",
    "bigger": "thing other",
    "feels": "who feeling",
    "distractor": "",
}
_QUESTIONS = {
    "where_is": "who",
    "where_is_thing": "thing",
    "where_was_thing": "thing place",
    "where_was": "who place",
    "is_in": "who place",
    "how_many": "who",
    "what_carries": "who",
    "what_given": "who whom",
    "who_gave": "thing",
    "who_gave_to": "thing whom",
    "who_received": "thing",
    "whom_gave": "who thing",
    "what_lies": "direction place",
    "lies_of_what": "place direction",
    "afraid_of": "who",
    "what_colour": "who",
    "is_above": "thing other",
    "is_below": "thing other",
    "is_left_of": "thing other",
    "is_right_of": "thing other",
    "does_fit": "thing other",
    "is_bigger": "thing other",
    "how_to_go": "place other",
    "where_will_go": "who",
    "why_go": "who place",
    "why_get": "who thing",
}
_SLOTS = frozenset(" ".join((*_SENTENCES.values(), *_QUESTIONS.values())).split())
_ANSWERS = ("yes", "no", "maybe", "nothing")
_SECTIONS = (
    *_LEXICONS, "pronouns", "plurals", "directions", "times", "motives", "verbs", "sentences", "questions", "answers",
    "paradigms",
)  # fmt: skip


def load_words(path: Path | None = None) -> Words:
    """Read and check a table; without a path, the one that comes with the package."""
    if path is None:
        return _default_words()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such words table") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    return _Table(str(path), text).words()


def load_language(name: str) -> Words:
    """The table of a language that comes with the package."""
    if name not in LANGUAGES:
        raise InputError(f"no words for the language {name!r}; choose from {', '.join(LANGUAGES)}")
    return _default_words() if name == "english" else _shipped(f"languages/{name}.toml")


@cache
def _shipped(path: str) -> Words:
    text = resources.files("query_reduction.worlds").joinpath(path).read_text(encoding="utf-8")
    return _Table(path, text).words()


def _default_words() -> Words:
    return _shipped("words.toml")


class _Table:
    """A TOML table while it is checked: every error is one line with file, key and problem."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        try:
            self.sections = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also a number of thousands of digits, and too deep a nesting
            raise InputError(f"{source}: not valid TOML: {error}") from None

    def words(self) -> Words:
        for name in self.sections:
            if name not in _SECTIONS:
                raise self._wrong(name, f"unknown section; choose from {', '.join(_SECTIONS)}")
        lexicons = {kind: self._lexicon(kind, groups) for kind, groups in _LEXICONS.items()}
        for name in _VERBS:
            if name not in self._section("verbs"):
                raise self._wrong(f"verbs.{name}", "is missing")
        verbs = {name: self._words(self._section("verbs"), "verbs", name) for name in self._section("verbs")}
        for name in verbs.keys() & _SLOTS:
            raise self._wrong(f"verbs.{name}", "this is the name of a slot")
        self._grammar = self._paradigms()
        answers = self._section("answers", (*_ANSWERS, "numbers"))
        return Words(
            source=self.source,
            **lexicons,
            pronouns=self._pronouns(lexicons["people"]),
            plurals={name: self._word(word, f"plurals.{name}") for name, word in self._section("plurals").items()},
            directions=self._directions(),
            times=self._times(),
            motives=self._motives(),
            sentences=self._templates("sentences", _SENTENCES, verbs),
            questions=self._templates("questions", _QUESTIONS, verbs),
            answers={name: self._word(answers[name], f"answers.{name}") for name in _ANSWERS},
            numbers=self._words(answers, "answers", "numbers", at_least=4),
            grammar=self._grammar,
        )

    def _wrong(self, key: str, problem: str) -> InputError:
        return InputError(f"{self.source}: {key}: {problem}")

    def _section(self, name: str, keys: Sequence[str] | None = None) -> dict[str, object]:
        section = self.sections.get(name)
        if not isinstance(section, dict):
            raise self._wrong(name, "section is missing" if section is None else "must be a table of keys")
        if keys is not None:
            for key in keys:
                if key not in section:
                    raise self._wrong(f"{name}.{key}", "is missing")
            for key in section:
                if key not in keys:
                    raise self._wrong(f"{name}.{key}", f"unknown key; choose from {', '.join(keys)}")
        return section

    def _word(self, word: object, key: str) -> str:
        if not isinstance(word, str) or not word or word != word.strip():
            raise self._wrong(key, f"{word!r} is not a word; give non-empty text without spaces around it")
        if re.search(r"[,\t\r\n\0]", word):
            raise self._wrong(key, f"{word!r} has a comma, tab or line end, which the bAbI format cannot hold")
        return word

    def _words(self, section: Mapping[str, object], name: str, key: str, *, at_least: int = 1) -> tuple[str, ...]:
        words = section[key]
        where = f"{name}.{key}"
        if not isinstance(words, list) or len(words) < at_least:
            raise self._wrong(where, f"must be a list of at least {at_least} word{'s' if at_least > 1 else ''}")
        checked = tuple(self._word(word, where) for word in words)
        for position, word in enumerate(checked):
            if word in checked[:position]:
                raise self._wrong(where, f"{word!r} is there twice")
        return checked

    def _lexicon(self, kind: str, groups: tuple[str, ...]) -> Lexicon:
        section = self._section(kind, (*groups, "more"))
        own = {group: self._words(section, kind, group, at_least=2) for group in groups}
        more = self._words(section, kind, "more", at_least=0)
        for group, words in own.items():
            for word in words:
                if word in more:
                    raise self._wrong(f"{kind}.more", f"{word!r} is already in {group}")
        return Lexicon(kind, own, more, self.source)

    def _pronouns(self, people: Lexicon) -> dict[str, str]:
        section = self._section("pronouns")
        pronoun_of = {name: pronoun for pronoun in section for name in self._words(section, "pronouns", pronoun)}
        for name in people.groups["house"] + people.more:
            if name not in pronoun_of:
                raise self._wrong("pronouns", f"{name!r} of [people] has no pronoun; add it to one of the lists")
        return pronoun_of

    def _directions(self) -> dict[str, str]:
        section = self._section("directions")
        letters = {name: self._word(letter, f"directions.{name}") for name, letter in section.items()}
        if len(letters) != 4 or len(set(letters.values())) != 4:
            raise self._wrong("directions", "must have four directions (north, south, east, west) with four letters")
        return letters

    def _times(self) -> tuple[str, ...]:
        return self._words(self._section("times", ("order",)), "times", "order", at_least=2)

    def _motives(self) -> tuple[Motive, ...]:
        motives = self.sections.get("motives")
        if not isinstance(motives, list) or len(motives) < 2:
            raise self._wrong("motives", "must be at least two [[motives]] with feeling, place and thing")
        checked = []
        for number, motive in enumerate(motives, start=1):
            if not isinstance(motive, dict) or sorted(motive) != ["feeling", "place", "thing"]:
                raise self._wrong(f"motives {number}", "must have feeling, place and thing, and nothing else")
            checked.append(Motive(**{key: self._word(word, f"motives {number}.{key}") for key, word in motive.items()}))
        if len({motive.feeling for motive in checked}) < len(checked):
            raise self._wrong("motives", "each feeling may be there once")
        return tuple(checked)

    def _templates(
        self, name: str, slots_of: Mapping[str, str], verbs: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        section = self._section(name, tuple(slots_of))
        checked = {}
        for key, slots in slots_of.items():
            ways = section[key] if isinstance(section[key], list) else [section[key]]
            assert isinstance(ways, list)
            if not ways:
                raise self._wrong(f"{name}.{key}", "must have at least one way to say it")
            checked[key] = tuple(way for text in ways for way in self._ways(f"{name}.{key}", text, slots, verbs))
        return checked

    def _ways(self, key: str, text: object, slots: str, verbs: Mapping[str, tuple[str, ...]]) -> list[str]:
        """One sentence of the table, once with each of its verbs."""
        if not isinstance(text, str) or not text.strip() or re.search(r"[\t\r\n\0]", text):
            raise self._wrong(key, f"{text!r} is not one line of text")
        try:
            parts = list(Formatter().parse(text))
        except ValueError as error:
            raise self._wrong(key, f"{text!r}: {error}") from None
        found = [slot for _, slot, _, _ in parts if slot is not None and slot not in verbs]
        if sorted(found) != sorted(slots.split()):
            expected = " ".join(f"{{{slot}}}" for slot in slots.split()) or "no slots"
            raise self._wrong(key, f"{text!r} must have {expected}, each once, and nothing else but verbs in braces")
        for _, slot, spec, turned in parts:
            if slot is not None and (problem := self._problem(spec or "", slots, turned, verb=slot in verbs)):
                raise self._wrong(key, f"{text!r}: {{{slot}:{spec}}}: {problem}")
        ways = [text.strip()]
        for _, slot, spec, _ in parts:
            if slot is not None and slot in verbs:
                # A verb without a form is text like any other; one with a form is put into it with the other words.
                old = f"{{{slot}:{spec}}}" if spec else f"{{{slot}}}"
                new = [f"{{={verb}:{spec}}}" if spec else verb for verb in verbs[slot]]
                ways = [way.replace(old, verb) for way in ways for verb in new]
        return ways

    def _problem(self, spec: str, slots: str, turned: str | None, *, verb: bool) -> str:
        """What is wrong with the part of a slot after its colon; nothing if it is right."""
        forms = [name for name in spec.split(".") if name not in SHAPES] if spec else []
        if turned or len(forms) > 1 or (verb and len(forms) < len(spec.split(".")) and spec):
            return "a slot may be followed by one form, 'capital' or 'lower', a verb by a form"
        for name in forms:
            if name.startswith("@") and name[1:] not in slots.split():
                return f"there is no slot {name[1:]!r} to agree with; choose from {slots}"
            if not name.startswith("@") and name not in self._forms:
                known = ", ".join(sorted(self._forms)) or "there are none"
                return f"not ':capital', ':lower' or a form of [paradigms] ({known})"
        return ""

    def _paradigms(self) -> Grammar:
        """How words are put into forms; a table without paradigms needs none."""
        self._forms: set[str] = set()
        paradigm_of: dict[str, dict[str, str]] = {}
        gender_of: dict[str, str] = {}
        for name, paradigm in self._section("paradigms").items() if "paradigms" in self.sections else ():
            where = f"paradigms.{name}"
            if not isinstance(paradigm, dict) or "words" not in paradigm:
                raise self._wrong(where, "must be a table with words, their gender if others agree with it, and forms")
            forms = {
                form: self._word(pattern, f"{where}.{form}")
                for form, pattern in paradigm.items()
                if form not in ("words", "gender")
            }
            self._forms |= forms.keys()
            for word in self._words(paradigm, where, "words"):
                if word in paradigm_of:
                    raise self._wrong(where, f"{word!r} is in another paradigm already")
                paradigm_of[word] = forms
                if "gender" in paradigm:
                    gender_of[word] = self._word(paradigm["gender"], f"{where}.gender")
        return Grammar(paradigm_of, gender_of)
