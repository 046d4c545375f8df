"""Unknown names: read as known names of their kind that the story does not use, and translated back afterwards.

"Zelda went to the attic. Where is Zelda?" is as good as "Mary went to the kitchen. Where is Mary?" if Mary and the
kitchen are not in the story: the network answers with the kitchen, and the kitchen is the attic.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from query_reduction.data.words import compose
from query_reduction.symmetry.contexts import GAP, kind_numbers
from query_reduction.symmetry.symmetries import Symmetries
from query_reduction.symmetry.units import TextKind, plain

__all__ = ["KnownReading", "NameReader", "read_unknown"]

_WORD = re.compile(r"\w+")
_SOME_KIND = re.compile(r"@\d+")
_OTHER = "@?"
"""Another unknown name in the same sentence: it may be of any kind."""
_TEXTS_KEPT = 20_000
"""The number of split texts that are cached: stories repeat sentences, and questions repeat stories."""


@dataclass(frozen=True)
class KnownReading:
    """A story and a question in known words only, as far as that was possible."""

    sentences: tuple[str, ...]
    question: str
    names: Mapping[str, str]
    """What each substituted known name stands for."""
    unplaced: tuple[str, ...]
    """Unknown words that fit no kind, or one whose names are all taken; they are left as they are."""
    crowded: tuple[str, ...] = field(default=())
    """Those of them that fit a kind whose names are all taken."""

    def name_back(self, answer: str) -> str:
        """The answer with the names of the story."""
        parts = answer.split(",")
        return ",".join([self.names.get(part.strip().lower(), part) for part in parts])

    def in_known_names(self, answer: str) -> str:
        """The reverse: an answer in the story's names with the substituted ones."""
        known = {compose(name).lower(): unit for unit, name in self.names.items()}
        return ",".join([known.get(compose(part).strip().lower(), part) for part in answer.split(",")])


@dataclass(frozen=True, slots=True)
class _Run:
    """Unknown words one after the other: taken to be one name."""

    name: str
    start: int
    end: int
    kinds: frozenset[int] = frozenset()
    """The kinds that could occur there; none if no sentence of this form is known."""


@dataclass(frozen=True, slots=True)
class _Apart:
    """A text split into words."""

    text: str
    units: tuple[str, ...]
    runs: tuple[_Run, ...]


class NameReader:
    """Reads unknown names using what was learned about known ones."""

    def __init__(self, symmetries: Symmetries, known_words: Collection[str]) -> None:
        self.symmetries = symmetries
        # "pallet 3" may be known as one name: that alone does not make "pallet" a known word.
        self._known = {part for word in known_words if " " not in word for part in _WORD.findall(word.lower())}
        self._kind = kind_numbers(symmetries.fillers)
        self._contexts: dict[int, list[tuple[list[str], frozenset[int]]]] = defaultdict(list)
        for context, kinds in symmetries.contexts.items():
            words = context.split(" ")
            self._contexts[len(words)].append((words, frozenset(kinds)))
        self._apart = lru_cache(_TEXTS_KEPT)(self._take_apart)

    def read(self, sentences: Sequence[str], question: str) -> KnownReading:
        """Replace unknown names by unused known ones of the kind whose contexts they fill.

        Where there are too few, those come first that the question asks about, and then those told last.
        """
        texts = [*(self._apart(text, "sentence") for text in sentences), self._apart(question, "question")]
        fitting: dict[str, frozenset[int] | None] = {}
        written: dict[str, str] = {}
        used: set[str] = set()
        for apart in reversed(texts):
            used.update(apart.units)
            for run in reversed(apart.runs):
                written[run.name] = apart.text[run.start : run.end]
                fits = fitting.setdefault(run.name, None)
                # A sentence of an unknown form says nothing about its words.
                if run.kinds:
                    fitting[run.name] = run.kinds if fits is None else fits & run.kinds
        chosen: dict[str, str] = {}
        crowded = []
        for name, fits in fitting.items():
            # In a table (mouse, mice) one form does not determine the others, so only plain kinds provide names.
            kinds = self.symmetries.lending_kinds
            if fits is None or len(fits) != 1 or min(fits) >= len(kinds):
                continue
            free = next((unit for unit in kinds[min(fits)] if unit not in used), None)
            if free is None:
                crowded.append(name)
            else:
                chosen[name] = free
                used.add(free)
        replaced = [_replaced(apart, chosen) for apart in texts]
        return KnownReading(
            tuple(replaced[:-1]),
            replaced[-1],
            {plain(unit): written[name] for name, unit in reversed(chosen.items())},
            tuple(name for name in reversed(fitting) if name not in chosen),
            tuple(crowded),
        )

    def _take_apart(self, text: str, of: TextKind) -> _Apart:
        text = compose(text)
        runs = self._unknown_runs(text)
        units: list[str] = []
        places = []
        done = 0
        for run in runs:
            units += self.symmetries.units.of_text(text[done : run.start], of)
            places.append(len(units))
            units.append(_OTHER)
            done = run.end
        units += self.symmetries.units.of_text(text[done:], of)
        pattern = [f"@{of}", *(f"@{self._kind[unit]}" if unit in self._kind else unit for unit in units)]
        found = []
        for run, place in zip(runs, places, strict=True):
            kinds = self._fitting([*pattern[: place + 1], GAP, *pattern[place + 2 :]])
            found.append(_Run(run.name, run.start, run.end, kinds))
        return _Apart(text, tuple(units), tuple(found))

    def _unknown_runs(self, text: str) -> list[_Run]:
        matches = list(_WORD.finditer(text))
        words = [match[0].lower() for match in matches]
        runs: list[_Run] = []
        last_known = True
        start = 0
        for length in self.symmetries.units.lengths(words):
            word, match = words[start], matches[start]
            known = length > 1 or word in self._known
            if not known and last_known:
                runs.append(_Run(word, match.start(), match.end()))
            elif not known:
                before = runs.pop()
                runs.append(_Run(f"{before.name} {word}", before.start, match.end()))
            last_known = known
            start += length
        return runs

    def _fitting(self, pattern: Sequence[str]) -> frozenset[int]:
        # Phrases are several words of a context, so both are compared as words.
        words = " ".join(pattern).split(" ")
        kinds = (kinds for context, kinds in self._contexts.get(len(words), ()) if _matches(context, words))
        return frozenset().union(*kinds)


def read_unknown(
    symmetries: Symmetries, sentences: Sequence[str], question: str, known_words: Collection[str]
) -> KnownReading:
    """Read one story; a ``NameReader`` reads many faster."""
    return NameReader(symmetries, known_words).read(sentences, question)


def _matches(context: Sequence[str], words: Sequence[str]) -> bool:
    return all(
        ours == theirs or (ours == _OTHER and _SOME_KIND.fullmatch(theirs) is not None)
        for ours, theirs in zip(words, context, strict=True)
    )


def _replaced(apart: _Apart, chosen: Mapping[str, str]) -> str:
    text = apart.text
    pieces = []
    done = 0
    for run in apart.runs:
        if run.name in chosen:
            name = plain(chosen[run.name])
            capital = text[run.start].isupper()
            pieces += [text[done : run.start], name[0].upper() + name[1:] if capital else name]
            done = run.end
    return "".join([*pieces, text[done:]])
