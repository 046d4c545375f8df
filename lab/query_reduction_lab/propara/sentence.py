"""The sentence-level evaluation of ProPara (NAACL 2018): is a thing created, moved or destroyed, when, and where?

Ten questions are put to the labels of each annotator: 1, 4, 7: is it created, destroyed, moved (category 1); 2, 5, 8:
at which sentences (category 2); 3, 6, 9, 10: where to, where from (category 3). The labels are those of the official
repository, ``tests/fixtures/eval/all-moves.full-grid.tsv``, in which a blank line ends what one annotator said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction_lab.propara.document import ABSENT, UNKNOWN, Grid
from query_reduction_lab.propara.stems import porter2

__all__ = ["Event", "Labels", "SentenceScores", "read_labels", "sentence_scores"]

_COLUMNS = 11
_ASKED = (750, 601, 823)
"""How many questions each category has in the official test: the weights of the micro average, also for other parts."""
_LETTERS_APART = 3
_OTHER_NAMES = {
    "alternating current": "alternate current",
    "fixed nitrogen": "nitrogen",
    "living things": "live thing",
    "red giant star": "star",
    "refrigerent liquid": "liquid",
    "remains of living things": "remains of live thing",
    "retina's rods and cones": "retina 's rod and cone",
}
"""Participants whose name differs between labels and grids, as the official evaluation maps them."""


@dataclass(frozen=True, slots=True)
class Event:
    """What an annotator says happens to a thing at a sentence (from 1)."""

    sentence: int
    thing: str
    kind: str
    """``create``, ``destroy`` or ``move``."""
    origin: str
    goal: str


Labels = Mapping[str, Sequence[Sequence[Event]]]
"""For each paragraph, what each annotator said."""


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Accuracy by category, in percent."""

    categories: tuple[float, float, float]

    @property
    def macro(self) -> float:
        """The mean of the categories."""
        return sum(self.categories) / 3

    @property
    def micro(self) -> float:
        """The mean over questions, as many as the official test has."""
        return sum(score * asked for score, asked in zip(self.categories, _ASKED, strict=True)) / sum(_ASKED)


@dataclass(slots=True)
class _Count:
    right: int = 0
    wrong: int = 0
    rightly_not: int = 0
    missed: int = 0

    def accuracy(self) -> float:
        total = self.right + self.wrong + self.rightly_not + self.missed
        return 100 * (self.right + self.rightly_not) / total if total else 0.0

    def f1(self) -> float:
        total = 2 * self.right + self.wrong + self.missed
        return 200 * self.right / total if total else 0.0

    def whether(self, said: bool, true: bool) -> None:
        self.right += said and true
        self.wrong += said and not true
        self.rightly_not += not said and not true
        self.missed += not said and true

    def which(self, said: int | None, true: int) -> None:
        self.right += said == true
        self.wrong += said not in (None, true)
        self.missed += said is None

    def where(self, said: str, true: str) -> None:
        known = said not in (ABSENT, UNKNOWN)
        same = known and _same_place(said, true)
        self.right += same
        self.wrong += known and not same
        self.missed += not known


def sentence_scores(labels: Labels, grids: Mapping[str, Grid]) -> SentenceScores:
    """The scores of predicted grids, whose alternative names (";") each count as a thing."""
    counts = {number: _Count() for number in range(1, 11)}
    for paragraph, annotators in labels.items():
        rows = {name.strip().lower(): row for names, row in grids[paragraph].items() for name in names.split(";")}
        _count(counts, [list(_known(events, list(rows))) for events in annotators], rows)
    accuracy = {number: count.f1() if number == 8 else count.accuracy() for number, count in counts.items()}
    return SentenceScores(
        (
            (accuracy[1] + accuracy[4] + accuracy[7]) / 3,
            (accuracy[2] + accuracy[5] + accuracy[8]) / 3,
            (accuracy[3] + accuracy[6] + accuracy[9] + accuracy[10]) / 4,
        )
    )


def _count(counts: Mapping[int, _Count], annotators: Sequence[Sequence[Event]], rows: Grid) -> None:
    things = {event.thing for events in annotators for event in events}
    created = {thing: _created(rows[thing]) for thing in things}
    destroyed = {thing: _created(rows[thing][::-1]) for thing in things}
    destroyed = {thing: None if at is None else len(rows[thing]) - at for thing, at in destroyed.items()}
    moved = {thing: _moves(rows[thing]) for thing in things}
    for events in annotators:
        said = {kind: {event.thing for event in events if event.kind == kind} for kind in ("create", "destroy", "move")}
        for thing in things:
            counts[1].whether(created[thing] is not None, thing in said["create"])
            counts[4].whether(destroyed[thing] is not None, thing in said["destroy"])
            counts[7].whether(bool(moved[thing]), thing in said["move"])
        for event in events:
            before, after = rows[event.thing][event.sentence - 1 : event.sentence + 1]
            if event.kind == "create":
                counts[2].which(created[event.thing], event.sentence)
                if event.goal != UNKNOWN:
                    counts[3].where(after, event.goal)
            elif event.kind == "destroy":
                counts[5].which(destroyed[event.thing], event.sentence)
                if event.origin != UNKNOWN:
                    counts[6].where(before, event.origin)
            else:
                if event.origin != UNKNOWN:
                    counts[9].where(before, event.origin)
                if event.goal != UNKNOWN:
                    counts[10].where(after, event.goal)
        for thing in said["move"]:
            true = {event.sentence for event in events if event.kind == "move" and event.thing == thing}
            counts[8].right += len(true & moved[thing])
            counts[8].wrong += len(moved[thing] - true)
            counts[8].missed += len(true - moved[thing])


def _created(row: Sequence[str]) -> int | None:
    """The sentence that creates a thing, from 1; None if it is there from the first, or never."""
    if row[0] != ABSENT:
        return None
    return next((place for place, state in enumerate(row) if state != ABSENT), None)


def _moves(row: Sequence[str]) -> set[int]:
    return {
        place
        for place in range(1, len(row))
        if ABSENT not in (row[place - 1], row[place]) and row[place - 1] != row[place]
    }


def _same_place(said: str, true: str) -> bool:
    """Whether what was said is a part of what is true, by the stems of the words."""
    if said == true:
        return True
    first, second = (_stems(said), _stems(true))
    return f" {first} " in f" {second} "


def _stems(text: str) -> str:
    return " ".join(porter2(word) for word in text.lower().replace('"', "").split())


def _known(events: Sequence[Event], things: Sequence[str]) -> Iterator[Event]:
    """Events of things that are in the grid, under the names they have there."""
    for event in events:
        for thing in _names(event.thing.lower(), things):
            yield Event(event.sentence, thing, event.kind, event.origin, event.goal)


def _names(name: str, things: Sequence[str]) -> list[str]:
    if name in things:
        return [name]
    near = [thing for thing in things if _letters_apart(name, thing) < _LETTERS_APART]
    return near or [_OTHER_NAMES[name]] * (_OTHER_NAMES.get(name) in things)


def _letters_apart(first: str, second: str) -> int:
    """How many letters must be changed, added or left out (Levenshtein)."""
    row = list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        before, row[0] = row[0], number
        for place, other in enumerate(second, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != other))
    return row[-1]


def read_labels(path: Path, paragraphs: set[str]) -> Labels:
    """The labels of some paragraphs."""
    labels: dict[str, list[list[Event]]] = {name: [] for name in paragraphs}
    events: list[Event] = []
    paragraph = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines()[1:], start=2):
        fields = line.rstrip("\n").split("\t")
        if not any(field.strip() for field in fields):
            if paragraph in labels:
                labels[paragraph].append(events)
            events = []
            continue
        if len(fields) != _COLUMNS:
            raise InputError(f"{path}: line {number} has {len(fields)} columns, not {_COLUMNS}")
        paragraph = fields[0]
        if fields[1] != "?":
            events += _events(int(fields[1]), *fields[3:7])
    return {name: found for name, found in labels.items() if found}


def _events(sentence: int, things: str, kind: str, origins: str, goals: str) -> Iterator[Event]:
    for thing in things.split(";"):
        for origin in origins.split(";"):
            for goal in goals.split(";"):
                yield Event(sentence, thing.strip(), kind, origin.strip(), goal.strip())
