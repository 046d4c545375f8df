"""Questions about stories as examples: what is marked in the text, and which answers are right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from query_reduction.heads.chain import actions_of
from query_reduction.pointing.lexicon import Lexicon
from query_reduction.pointing.texts import Ints, Text
from query_reduction.text.phrases import alternatives, find_runs, phrase_key, words_of
from query_reduction.text.stories import Story
from query_reduction.text.tracks import ABSENT, tracks_of

__all__ = ["Example", "examples_of"]

_Key = tuple[str, ...]
_Marks = NDArray[np.bool_]
_ASKED, _OTHER = 1, 2
_STAYING = 0.3
"""How much a state counts that follows from the one before: it is decided there, not here."""


@dataclass(frozen=True)
class Example:
    """One question about a story, or one thing to be tracked through it."""

    text: Text
    question: str
    query: Ints
    query_vectors: Ints
    marks: list[Ints]
    chances: NDArray[np.float32]
    kinds: Ints
    states: Ints
    cells: Ints
    right: dict[int, list[int]] = field(default_factory=dict)
    """For places among the states, the numbers of the right class or phrases."""
    weights: dict[int, float] = field(default_factory=dict)
    actions: list[int] = field(default_factory=list)


def examples_of(
    story: Story, lexicon: Lexicon, *, taught: bool = False, things: Sequence[str] | None = None
) -> Iterator[Example]:
    """The questions of a story, or its things; ``taught`` ones have their answers, and chances from other stories."""
    own = {" ".join(phrase_key(question.answer)) for question in story.questions} if taught else set[str]()
    if lexicon.tracked:
        tracks = tracks_of(story) if things is None else {thing: {} for thing in things}
        yield from _tracked(story, lexicon, tracks, own, taught)
        return
    for question in story.questions:
        text = Text.of(story.sentences[: question.after], lexicon, 1)
        wanted = {word.key for word in words_of(question.text)}
        marks = [np.array([_ASKED if key in wanted else 0 for key in keys], np.int64) for keys in text.keys]
        kinds = np.array([_ASKED if wanted.issuperset(key) else 0 for key in text.phrases], np.int64)
        states = np.array([question.after])
        cells = text.mentions.cells(states, len(text.sentences))
        example = _example(text, lexicon, question.text, marks, kinds, states, cells, own)
        if taught and (right := _right(lexicon, text, question.answer, question.span)):
            example.right[0], example.weights[0] = right, 1.0
        yield example


def _tracked(
    story: Story, lexicon: Lexicon, tracks: Mapping[str, Mapping[int, str]], own: set[str], taught: bool
) -> Iterator[Example]:
    states = np.arange(len(story.sentences) + 1)
    text = Text.of(story.sentences, lexicon, len(states))
    cells = text.mentions.cells(states, len(text.sentences))
    names = [alternatives(thing) for thing in tracks]
    marked = [_marks(text.keys, of_thing) for of_thing in names]
    for number, (thing, said) in enumerate(tracks.items()):
        others = [place for place in range(len(names)) if place != number]
        marks = [
            np.where(asked, _ASKED, _OTHER * np.any([marked[other][at] for other in others], 0) if others else 0)
            for at, asked in enumerate(marked[number])
        ]
        mine, rest = set(names[number]), {key for other in others for key in names[other]}
        kinds = [_ASKED if key in mine else _OTHER if key in rest else 0 for key in text.phrases]
        example = _example(text, lexicon, thing, marks, np.array(kinds, np.int64), states, cells, own)
        if taught:
            _teach(example, lexicon, said)
        yield example


def _example(
    text: Text,
    lexicon: Lexicon,
    question: str,
    marks: list[Ints],
    kinds: Ints,
    states: Ints,
    cells: Ints,
    own: set[str],
) -> Example:
    chances = [math.log1p(lexicon.chances.get(key := " ".join(phrase), 0) - (key in own)) for phrase in text.phrases]
    query = question.replace(";", " ")
    return Example(
        text,
        question,
        lexicon.numbers(query),
        lexicon.vector_rows(query),
        marks,
        np.array(chances, np.float32),
        kinds,
        states,
        cells,
    )


def _teach(example: Example, lexicon: Lexicon, said: Mapping[int, str]) -> None:
    """Add the right answers of a track."""
    if lexicon.chained:
        along = [said.get(0, said[1]), *(said[place] for place in range(1, len(example.states)))]
        example.actions.extend(actions_of(along, ABSENT))
    for place, state in said.items():
        if right := _right(lexicon, example.text, state, None):
            changed = place == 0 or state != said.get(place - 1)
            example.right[place] = right
            example.weights[place] = 1.0 if changed or not lexicon.chained else _STAYING


def _right(lexicon: Lexicon, text: Text, answer: str, span: tuple[int, int, int] | None) -> list[int]:
    """Numbers of the class, or of all phrases that are the answer (of the one place, if that is known)."""
    if answer in lexicon.classes:
        return [lexicon.classes.index(answer)]
    wanted = phrase_key(answer)
    found = [number for number, key in enumerate(text.phrases) if key == wanted]
    if span is not None and not lexicon.tracked:
        sentence, start, end = span
        places = {number: text.phrase(text.spans_of[number][0]) for number in found}
        exact = [n for n, at in places.items() if (at.sentence, *at.characters) == (sentence, start, end)]
        found = exact or found
    return [len(lexicon.classes) + number for number in found]


def _marks(keys: Sequence[_Key], names: Sequence[_Key]) -> list[_Marks]:
    """The words that are one of a thing's names; if none is found as a whole, its last word will do."""
    marks = [_covered(of_sentence, names) for of_sentence in keys]
    if not any(of_sentence.any() for of_sentence in marks):
        marks = [_covered(of_sentence, [name[-1:] for name in names]) for of_sentence in keys]
    return marks


def _covered(keys: _Key, names: Sequence[_Key]) -> _Marks:
    marks = np.zeros(len(keys), np.bool_)
    for name in names:
        for first in find_runs(keys, name):
            marks[first : first + len(name)] = True
    return marks
