"""Names never heard before: read as known names of their kind that the story does not use, and named back after.

"Zelda went to the attic. Where is Zelda?" is as good as "Mary went to the kitchen. Where is Mary?" if Mary and the
kitchen are not in the story: the network answers with the kitchen, and the kitchen is the attic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from query_reduction.symmetry.contexts import GAP, kind_numbers
from query_reduction.symmetry.symmetries import Symmetries
from query_reduction.symmetry.units import TextKind, plain

__all__ = ["KnownReading", "read_unknown"]

_WORD = re.compile(r"\w+")
_SOME_KIND = re.compile(r"@\d+")
_OTHER = "@?"
"""Another unknown name in the same sentence: it may be of any kind."""


@dataclass(frozen=True)
class KnownReading:
    """A story and a question in known words only, as far as that was possible."""

    sentences: tuple[str, ...]
    question: str
    names: Mapping[str, str]
    """What each known name that was put in stands for."""
    unplaced: tuple[str, ...]
    """Unknown words that fit no kind, or one whose names are all taken; they are left as they are."""

    def name_back(self, answer: str) -> str:
        """The answer with the names of the story."""
        parts = answer.split(",")
        return ",".join([self.names.get(part.strip().lower(), part) for part in parts])


@dataclass(frozen=True, slots=True)
class _Run:
    """Unknown words one after the other: taken to be one name."""

    name: str
    start: int
    end: int


def read_unknown(
    symmetries: Symmetries, sentences: Sequence[str], question: str, known_words: Collection[str]
) -> KnownReading:
    """Replace unknown names by unused known ones of the kind whose contexts they fill."""
    known = {word.lower() for word in known_words}
    texts: list[tuple[TextKind, str]] = [*(("sentence", text) for text in sentences), ("question", question)]
    contexts = [(context.split(" "), set(kinds)) for context, kinds in symmetries.contexts.items()]
    kind = kind_numbers(symmetries.columns)
    fitting: dict[str, set[int] | None] = {}
    written: dict[str, str] = {}
    used: set[str] = set()
    for of, text in texts:
        runs = _unknown_runs(text, known)
        units, places = _units_around(symmetries, text, of, runs)
        used.update(units)
        for run, place in zip(runs, places, strict=True):
            written.setdefault(run.name, text[run.start : run.end])
            fits = fitting.setdefault(run.name, None)
            pattern = [f"@{of}", *(f"@{kind[unit]}" if unit in kind else unit for unit in units)]
            pattern[place + 1] = GAP
            found = set().union(*(kinds for context, kinds in contexts if _matches(context, pattern)))
            # A sentence of a form never seen says nothing about what its words are.
            if found:
                fitting[run.name] = found if fits is None else fits & found
    chosen: dict[str, str] = {}
    for name, fits in fitting.items():
        # Of a table (mouse, mice) one form does not tell the others, so only plain kinds lend their names.
        if fits is not None and len(fits) == 1 and min(fits) < len(symmetries.kinds):
            free = [unit for unit in symmetries.kinds[min(fits)] if unit not in used]
            if free:
                chosen[name] = free[0]
                used.add(free[0])
    replaced = [_replaced(text, _unknown_runs(text, known), chosen) for _, text in texts]
    return KnownReading(
        tuple(replaced[:-1]),
        replaced[-1],
        {plain(unit): written[name] for name, unit in chosen.items()},
        tuple(name for name in fitting if name not in chosen),
    )


def _unknown_runs(text: str, known: set[str]) -> list[_Run]:
    runs: list[_Run] = []
    last_known = True
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in known:
            last_known = True
        elif last_known:
            runs.append(_Run(word, match.start(), match.end()))
            last_known = False
        else:
            before = runs.pop()
            runs.append(_Run(f"{before.name} {word}", before.start, match.end()))
    return runs


def _units_around(symmetries: Symmetries, text: str, of: TextKind, runs: Sequence[_Run]) -> tuple[list[str], list[int]]:
    """The units of a text, every unknown name as one, and where these stand."""
    units: list[str] = []
    places = []
    done = 0
    for run in runs:
        units += symmetries.units.of_text(text[done : run.start], of)
        places.append(len(units))
        units.append(_OTHER)
        done = run.end
    return units + symmetries.units.of_text(text[done:], of), places


def _matches(context: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a context is this pattern; phrases are several words of the context, so both are compared as words."""
    words = " ".join(pattern).split(" ")
    return len(words) == len(context) and all(
        ours == theirs or (ours == _OTHER and _SOME_KIND.fullmatch(theirs) is not None)
        for ours, theirs in zip(words, context, strict=True)
    )


def _replaced(text: str, runs: Sequence[_Run], chosen: Mapping[str, str]) -> str:
    pieces = []
    done = 0
    for run in runs:
        if run.name in chosen:
            name = plain(chosen[run.name])
            capital = text[run.start].isupper()
            pieces += [text[done : run.start], name[0].upper() + name[1:] if capital else name]
            done = run.end
    return "".join([*pieces, text[done:]])
