"""Contexts: sentences with a gap, and which kinds fill it; they determine the kind of an unknown name.

A context is written as a text: the units of a sentence, a kind as its number after ``@``, the gap as ``_``. Neither
can be a word itself: ``@`` is not part of a word, and a single ``_`` is distinguished by its mark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from query_reduction.names.renaming import Sentences
from query_reduction.names.units import TextKind, Units
from query_reduction.text.stories import Story

__all__ = ["GAP", "context_of", "find_contexts", "gaps", "kind_numbers"]

GAP = "@_"
_SEEN = 5
"""How often a kind must have filled a context."""
_CLEAR = 0.95
"""The fraction of a context's fillers that must be units of kinds."""
_MOST = 200


def kind_numbers(columns: Sequence[Sequence[str]]) -> dict[str, int]:
    """The number of the kind of every unit that is in one."""
    return {unit: number for number, column in enumerate(columns) for unit in column}


def context_of(units: Sequence[str], start: int, end: int, kind: Mapping[str, int], of: TextKind) -> str:
    """The context of the units from ``start`` to ``end``; sentences and questions have separate contexts."""
    named = [f"@{kind[unit]}" if unit in kind else unit for unit in units]
    return " ".join([f"@{of}", *named[:start], GAP, *named[end:]])


def gaps(units: Sequence[str], kind: Mapping[str, int], of: TextKind) -> Iterator[tuple[str, str]]:
    """Every unit of a text with its context."""
    for place, unit in enumerate(units):
        yield context_of(units, place, place + 1, kind, of), unit


def find_contexts(
    stories: Iterable[Story], units: Units, columns: Sequence[Sequence[str]]
) -> dict[str, tuple[int, ...]]:
    """The contexts that kinds fill and hardly anything else does; the most frequent ones."""
    kind = kind_numbers(columns)
    texts: Counter[tuple[TextKind, str]] = Counter()
    for story in stories:
        texts.update(("sentence", sentence) for sentence in story.sentences)
        texts.update(("question", question.text) for question in story.questions)
    filled: dict[str, Counter[int]] = defaultdict(Counter)
    sentences = Sentences(units)
    for (of, text), count in texts.items():
        for context, unit in gaps([unit for _, unit in sentences.apart(text, of).units], kind, of):
            filled[context][kind.get(unit, -1)] += count
    contexts = {
        context: (tuple(sorted(number for number, count in kinds.items() if number >= 0 and count >= _SEEN)), kinds)
        for context, kinds in filled.items()
    }
    clear = [
        (kinds.total(), context, found)
        for context, (found, kinds) in contexts.items()
        if found and sum(kinds[number] for number in found) >= _CLEAR * kinds.total()
    ]
    return {context: found for _, context, found in sorted(clear, reverse=True)[:_MOST]}
