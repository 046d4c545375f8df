"""Columns: one class of words in two forms, some of them alike ("mouse" and "mice", but "sheep" and "sheep").

A word that has the same form in both columns is two units, distinguished by context; otherwise nothing could
show that "sheep" exchanged with "cat" is "cats" after "afraid of".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from query_reduction.names.discovery.candidates import Candidates, joined
from query_reduction.names.discovery.corpus import Corpus, Encoded
from query_reduction.names.units import EDGE, Place, TextKind

__all__ = ["find_columns"]

_SHARED = 0.5
"""Two columns are different if they share at most this fraction of the smaller one's words."""
_NO_UNIT = -1

_Slot = tuple[TextKind, int, int]


def find_columns(corpus: Corpus, candidates: Candidates) -> dict[str, dict[Place, int]]:
    """For every word that belongs to several columns of its class: its column in each context."""
    filled: dict[tuple[int, _Slot], Counter[int]] = defaultdict(Counter)
    places: dict[tuple[int, _Slot], set[tuple[int, Place]]] = defaultdict(set)
    for kind, text in _texts(corpus):
        padded = (_NO_UNIT, *text, _NO_UNIT)
        for left, unit, right in zip(padded, padded[1:], padded[2:], strict=False):
            if unit not in candidates.in_class:
                continue
            own = int(candidates.classes[unit])
            around = [int(candidates.classes[near]) if near != _NO_UNIT else near for near in (left, right)]
            slot = (own, (kind, around[0], around[1]))
            names = [corpus.names[near] if near != _NO_UNIT else EDGE for near in (left, right)]
            filled[slot][unit] += 1
            places[slot].add((unit, (kind, names[0], names[1])))
    slots_of: dict[int, list[tuple[int, _Slot]]] = defaultdict(list)
    for slot in filled:
        slots_of[slot[0]].append(slot)
    columns: dict[str, dict[Place, int]] = defaultdict(dict)
    for slots in slots_of.values():
        # The fullest slots first: they form the first column.
        slots.sort(key=lambda slot: (-len(filled[slot]), slot[1]))
        column_of = _columns([set(filled[slot]) for slot in slots])
        seen: dict[int, set[int]] = defaultdict(set)
        for slot, column in zip(slots, column_of, strict=True):
            for unit in filled[slot]:
                seen[unit].add(column)
        for slot, column in zip(slots, column_of, strict=True):
            for unit, place in places[slot]:
                if len(seen[unit]) > 1:
                    columns[corpus.names[unit]][place] = column
    return dict(columns)


def _columns(fillers: list[set[int]]) -> list[int]:
    """The column of each slot: slots filled by mostly the same words are one column."""
    alike = [
        (one, other)
        for other in range(len(fillers))
        for one in range(other)
        if len(fillers[one] & fillers[other]) > _SHARED * min(len(fillers[one]), len(fillers[other]))
    ]
    roots = joined(len(fillers), alike).tolist()
    order = {root: number for number, root in enumerate(dict.fromkeys(roots))}
    return [order[root] for root in roots]


def _texts(corpus: Corpus) -> Iterator[tuple[TextKind, Encoded]]:
    seen: set[tuple[TextKind, Encoded]] = set()
    for story in corpus.stories:
        seen.update(("sentence", sentence) for sentence in story.sentences)
        for question in story.questions:
            seen.add(("question", question.text))
            # The parts of an answer have no neighbours.
            seen.update(("answer", (unit,)) for unit in question.answer)
    yield from sorted(seen)
