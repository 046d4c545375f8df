"""What annotators of ProPara's test said, recovered from how many of them gave each state.

The labels of each annotator are not part of every copy of ProPara; ``sentence-level-gold.test.tsv`` has, for each thing
and sentence, the share of annotators for each state. Annotators are followed from state to state such that as many as
possible stay where they are; whoever changes has said that something happens. An annotator whose two labels around
a sentence disagree counts half for each of them. This is no exact copy: on the six scored test files the macro average
of the sentence level comes within 1.4 of the official one (categories within 0.8, 1.6 and 3.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction_lab.propara.document import ABSENT, UNKNOWN, Grid
from query_reduction_lab.propara.sentence import Event, Labels, letters_apart

__all__ = ["named_as_in", "recovered_labels"]

_States = Mapping[int, Mapping[str, Fraction]]
_WRITTEN = {"null": ABSENT, "unk": UNKNOWN}
_ANNOTATORS = (5, 4, 8, 9, 10, 3, 6, 7, 2, 1)


def recovered_labels(path: Path) -> Labels:
    """For each paragraph, what each annotator probably said."""
    paragraphs: dict[str, dict[str, dict[int, dict[str, Fraction]]]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        paragraph, sentence, thing, when, *shares = line.split("\t")
        if len(shares) % 2 or when not in ("before", "after"):
            raise InputError(f"{path}: line {number} is not a state with the shares of annotators")
        if when == "after" or sentence == "1":
            states = paragraphs.setdefault(paragraph, {}).setdefault(thing, {})
            states[0 if when == "before" else int(sentence)] = {
                _WRITTEN.get(state, state): Fraction(share).limit_denominator(60)
                for state, share in zip(shares[::2], shares[1::2], strict=True)
            }
    return {name: _annotators(things) for name, things in paragraphs.items()}


def named_as_in(labels: Labels, grids: Mapping[str, Grid]) -> dict[str, Grid]:
    """Grids with a row for each name in the labels, which are written in their basic forms."""
    found: dict[str, Grid] = {}
    for paragraph, annotators in labels.items():
        rows = {name.strip().lower(): row for names, row in grids[paragraph].items() for name in names.split(";")}
        things = {event.thing for events in annotators for event in events}
        found[paragraph] = {
            thing: rows[min(rows, key=lambda name: letters_apart(thing, name) / max(len(thing), len(name)))]
            for thing in sorted(things)
        }
    return found


def _annotators(things: Mapping[str, _States]) -> list[list[Event]]:
    """As many lists of events as there are annotators, by the shares of their states."""
    shares = [share for states in things.values() for at in states.values() for share in at.values()]
    fits = {count: sum((2 * count * share).denominator == 1 for share in shares) for count in _ANNOTATORS}
    count = next(count for count in _ANNOTATORS if fits[count] >= 0.98 * max(fits.values()))
    events: list[list[Event]] = [[] for _ in range(count)]
    for thing, states in things.items():
        halves = sorted(_halves(states[0], count).elements())[: 2 * count]
        halves += halves[-1:] * (2 * count - len(halves))
        now = [(halves[2 * number], halves[2 * number + 1]) for number in range(count)]
        for sentence in range(1, len(states)):
            now, changed = _step(now, _halves(states[sentence], count))
            for number, (origin, goal) in changed.items():
                kind = "create" if origin == ABSENT else "destroy" if goal == ABSENT else "move"
                events[number].append(Event(sentence, thing, kind, origin, goal))
    return events


def _halves(shares: Mapping[str, Fraction], count: int) -> Counter[str]:
    return Counter({state: round(2 * count * share) for state, share in shares.items()})


def _step(now: list[tuple[str, str]], left: Counter[str]) -> tuple[list[tuple[str, str]], dict[int, tuple[str, str]]]:
    """The two halves of each annotator after a sentence, and who said that something happened."""
    after: dict[int, tuple[str, str]] = {}
    order = sorted(range(len(now)), key=lambda number: now[number][0] != now[number][1])

    def take(number: int, first: str, second: str) -> None:
        after[number] = first, second
        left.subtract([first, second])

    for number in order:
        first, second = now[number]
        if first == second and left[first] >= 2:
            take(number, first, first)
    for number in order:
        first, second = now[number]
        odd = [state for state in left if left[state] % 2 and state != first]
        if number not in after and first == second and left[first] > 0 and left[first] % 2 and odd:
            take(number, first, odd[0])  # half of an annotator drifts to where the next event begins
    changed: dict[int, tuple[str, str]] = {}
    for number in order:
        if number in after:
            continue
        first, second = now[number]
        whole = [state for state in sorted(left) if left[state] >= 2]
        parts = sorted(left.elements())
        if first != second and left[second] >= 2:
            take(number, second, second)
        elif whole:
            take(number, whole[0], whole[0])
        elif len(parts) >= 2:
            take(number, parts[0], parts[1])
        else:
            after[number] = first, second
        if after[number][0] != second:
            changed[number] = second, after[number][0]
    return [after[number] for number in range(len(now))], changed
