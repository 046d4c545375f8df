"""Units: the words of stories, and names of several words ("box of chocolates") treated as one.

Units are lower case; their words are joined by one space. A word whose form serves two columns of a kind ("sheep": one
of them, or many) is two units there, distinguished by its neighbours; the second carries a mark after its name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from query_reduction.text.stories import Story
from query_reduction.text.words import WORD

__all__ = ["EDGE", "Place", "TextKind", "Units", "find_phrases", "plain", "words_of"]

EDGE = ""
"""The neighbour of a unit that has none: no word is empty."""
COLUMN_MARK = "#"
"""Between a unit's words and the number of its column; never part of a word."""

_ASKED = "?"
"""After the words of a question; never a word."""

TextKind = Literal["sentence", "question", "answer"]
Place = tuple[TextKind, str, str]
"""The context of a unit: in a sentence, question or answer, and the units to its left and right."""

_LONGEST = 4
_CONTEXTS = 3
"""The number of contexts in which a phrase must alternate with something of another length."""
_TEXTS = 4000
_WORDS = 30
"""Phrases are looked for in at most so many different texts, the most frequent, of at most so many words."""
_BOUND = 0.98
"""The fraction of a word's occurrences that must lie inside a phrase for the phrase to be its home."""


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in lower case."""
    # Word by word: a few letters become two in lower case, which must not create another word.
    return tuple([word.lower() for word in WORD.findall(text)])


def plain(unit: str) -> str:
    """The words of a unit, without the mark of its column."""
    return unit.partition(COLUMN_MARK)[0]


@dataclass(frozen=True)
class Units:
    """How texts are cut into units."""

    phrases: frozenset[tuple[str, ...]] = frozenset()
    """The names of several words."""
    columns: Mapping[str, Mapping[Place, int]] = field(default_factory=dict)
    """For each word that is several units: which of them it is in which context."""
    names: Mapping[str, str] = field(default_factory=dict)
    """For each form of a name, and each word that agrees with one, the form that stands for all of them."""

    def __post_init__(self) -> None:
        by_first: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for phrase in sorted(self.phrases, key=lambda phrase: (-len(phrase), phrase)):
            by_first[phrase[0]].append(phrase)
        object.__setattr__(self, "_by_first", dict(by_first))

    def lengths(self, words: Sequence[str]) -> list[int]:
        """How many words each unit of these words has, the longest phrase first."""
        by_first: dict[str, list[tuple[str, ...]]] = self._by_first  # type: ignore[attr-defined]
        lengths = []
        start = 0
        while start < len(words):
            length = 1
            for phrase in by_first.get(words[start], ()):
                if tuple(words[start : start + len(phrase)]) == phrase:
                    length = len(phrase)
                    break
            lengths.append(length)
            start += length
        return lengths

    def of_words(self, words: Sequence[str], kind: TextKind = "sentence") -> list[str]:
        """The units of a text's words."""
        units = self.forms_of_words(words)
        if self.names:
            units = [self.names.get(form, form) for form in units]
        return self._in_columns(units, kind) if self.columns else units

    def forms_of_words(self, words: Sequence[str]) -> list[str]:
        """The words and phrases of a text, in the forms in which it has them."""
        forms = []
        start = 0
        for length in self.lengths(words):
            forms.append(" ".join(words[start : start + length]))
            start += length
        return forms

    def of_text(self, text: str, kind: TextKind) -> list[str]:
        """The units of a text; those of an answer one part between commas after the other."""
        parts = text.split(",") if kind == "answer" else (text,)
        return [unit for part in parts for unit in self.of_words(words_of(part), kind)]

    def _in_columns(self, units: list[str], kind: TextKind) -> list[str]:
        marked = []
        for position, unit in enumerate(units):
            places = self.columns.get(unit)
            if places:
                left = units[position - 1] if position else EDGE
                right = units[position + 1] if position + 1 < len(units) else EDGE
                # A context never seen in training is read as the first column.
                column = places.get((kind, left, right), 0)
                unit = f"{unit}{COLUMN_MARK}{column + 1}" if column else unit
            marked.append(unit)
        return marked


def find_phrases(stories: Iterable[Story], names: Mapping[str, str] | None = None) -> frozenset[tuple[str, ...]]:
    """The names of several words: they fill a gap that something of another length fills as well.

    ``names`` are those of single words; a phrase is found if its words are, in whatever forms.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    answers_written: set[tuple[str, ...]] = set()
    for story in stories:
        counts.update(words_of(sentence) for sentence in story.sentences)
        for question in story.questions:
            # What fills a gap of a question says nothing about a sentence that has the same words around one.
            counts[*words_of(question.text), _ASKED] += 1
            answers_written.update(words_of(part) for part in question.answer.split(","))
    most = counts.most_common(_TEXTS) if len(counts) > _TEXTS else counts.items()
    as_written = {words for words, _ in most if len(words) <= _WORDS}
    names = names or {}
    found = {
        phrase for phrase in _phrases(_named(as_written, names), _named(answers_written, names)) if _ASKED not in phrase
    }
    if not names:
        return frozenset(found)
    return frozenset(
        words[start : start + length]
        for words in as_written | answers_written
        for length in {len(phrase) for phrase in found}
        for start in range(len(words) - length + 1)
        if tuple([names.get(word, word) for word in words[start : start + length]]) in found
    )


def _named(texts: Iterable[tuple[str, ...]], names: Mapping[str, str]) -> set[tuple[str, ...]]:
    return {tuple([names.get(word, word) for word in words]) for words in texts}


def _phrases(texts: set[tuple[str, ...]], answers: set[tuple[str, ...]]) -> frozenset[tuple[str, ...]]:
    phrases = {answer for answer in answers if 1 < len(answer) <= _LONGEST}
    taken = {word for answer in answers for word in answer}
    phrases |= _bound_runs(texts, taken)
    for _ in range(_LONGEST):
        before = len(phrases)
        for length in range(2, _LONGEST + 1):
            phrases |= _homes(_joined(texts, phrases), length, taken)
        if len(phrases) == before:
            break
    return frozenset(phrases | _companions(_joined(texts, phrases), taken))


def _joined(texts: Iterable[tuple[str, ...]], phrases: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The texts in units: a phrase found so far is one, its words joined by spaces."""
    units = Units(frozenset(phrases))
    return {tuple(units.of_words(words)) for words in texts}


def _flat(filler: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(filler).split(" "))


def _homes(texts: set[tuple[str, ...]], length: int, taken: set[str]) -> set[tuple[str, ...]]:
    """Phrases of this many units that are the home of one of these, and alternate with fillers of other lengths."""
    contexts: Counter[tuple[str, ...]] = Counter()
    for filled in _fillers(texts).values():
        for filler in filled:
            if len(filler) == length and any(
                len(other) != length and not set(_flat(other)) & set(_flat(filler)) for other in filled
            ):
                contexts[filler] += 1
    occurrences = Counter(unit for text in texts for unit in text)
    inside: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for text in texts:
        for start in range(len(text) - length + 1):
            span = text[start : start + length]
            if contexts[span] >= _CONTEXTS:
                inside[span].update(span)
    return {
        _flat(phrase)
        for phrase, within in inside.items()
        if not taken.intersection(_flat(phrase)) and len(_flat(phrase)) <= _LONGEST
        and any(within[unit] >= _BOUND * occurrences[unit] for unit in phrase)
    }  # fmt: skip


def _companions(texts: set[tuple[str, ...]], taken: set[str]) -> set[tuple[str, ...]]:
    """Phrases made of words used elsewhere too ("red square", "red sphere"), recognised by their contexts.

    Each fills gaps that phrases already found and single words fill as well, sharing no word with them.
    """
    contexts: Counter[tuple[str, ...]] = Counter()
    for filled in _fillers(texts).values():
        phrases = [set(_flat(filler)) for filler in filled if len(filler) == 1 and " " in filler[0]]
        words = [set(filler) for filler in filled if len(filler) == 1 and " " not in filler[0]]
        if not phrases or not words:
            continue
        for filler in filled:
            own = set(_flat(filler))
            if (
                len(filler) > 1
                and not own & taken
                and not all(own & other for other in phrases)
                and not all(own & other for other in words)
            ):
                contexts[_flat(filler)] += 1
    return {phrase for phrase, count in contexts.items() if count >= _CONTEXTS and len(phrase) <= _LONGEST}


def _fillers(
    texts: Iterable[tuple[str, ...]],
) -> dict[tuple[tuple[str, ...], tuple[str, ...]], set[tuple[str, ...]]]:
    """What fills each gap of one to four units; gaps with only one filler are omitted."""
    fillers: dict[tuple[tuple[str, ...], tuple[str, ...]], set[tuple[str, ...]]] = defaultdict(set)
    for text in texts:
        for start in range(len(text)):
            for end in range(start + 1, min(start + _LONGEST, len(text)) + 1):
                fillers[text[:start], text[end:]].add(text[start:end])
    return {gap: filled for gap, filled in fillers.items() if len(filled) > 1}


def _bound_runs(texts: set[tuple[str, ...]], taken: set[str]) -> set[tuple[str, ...]]:
    """Words that only ever occur one after the other ("los angeles"), if there are several such names."""
    after: dict[str, set[str]] = defaultdict(set)
    before: dict[str, set[str]] = defaultdict(set)
    for words in texts:
        for left, right in zip((EDGE, *words), (*words, EDGE), strict=True):
            after[left].add(right)
            before[right].add(left)
    runs = {
        (left, right)
        for left, rights in after.items()
        for right in rights
        if len(rights) == 1 and len(before[right]) == 1 and EDGE not in (left, right)
        and not taken.intersection((left, right))
    }  # fmt: skip
    rivals = Counter(run for filled in _fillers(texts).values() if len(filled & runs) > 1 for run in filled & runs)
    return {run for run, count in rivals.items() if count >= _CONTEXTS}
