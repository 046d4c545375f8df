"""Hold out part of the stories for development so that no development example is also a training example.

An example is a question with the sentences it sees, as text, ignoring case and whitespace. Whole stories go
to one side or the other, and stories that have an example in common go together.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from query_reduction.errors import InputError
from query_reduction.text.stories import Question, Story
from query_reduction.text.words import compose, fold

__all__ = ["Split", "examples_of", "shared_examples", "split_by_story"]

_ORDERS_TRIED = 20


class Split(NamedTuple):
    """Stories in two parts."""

    train: list[Story]
    dev: list[Story]

    def counts(self) -> dict[str, int]:
        """The number of stories and questions in each part, and of development examples that are also in training."""
        return {
            "train_stories": len(self.train),
            "train_questions": _question_count(self.train),
            "dev_stories": len(self.dev),
            "dev_questions": _question_count(self.dev),
            "shared_examples": shared_examples(self.train, self.dev),
        }


def split_by_story(stories: Sequence[Story], fraction: float, seed: int) -> Split:
    """Hold out as near to ``fraction`` of the questions as whole groups of stories allow, chosen by ``seed``.

    Both parts keep the order of the stories and have at least one question. If stories with examples in common
    leave less than half of the requested share (in the extreme they are all one group), single stories are held out
    instead and lose the questions that are also in training.
    """
    if not 0 < fraction < 1:
        raise InputError(f"the part held out for development must be between 0 and 1, not {fraction}")
    wanted = max(1, round(_question_count(stories) * fraction))
    groups = _groups(stories)
    asking = sum(bool(story.questions) for story in stories)
    if asking < 2:
        raise InputError(
            f"{asking or 'no'} stor{'y' if asking == 1 else 'ies'} with questions: too few to hold some out for "
            "development; give more stories, or separate development stories"
        )
    split = _hold_out(stories, groups, wanted, seed)
    if _dev_questions(split) * 2 < wanted:
        split = max(
            split, _without_shared(_hold_out(stories, _own_examples(stories), wanted, seed)), key=_dev_questions
        )
    if not _dev_questions(split):
        raise InputError(
            "the stories keep asking the same questions about the same sentences, so none can be held out "
            "for development; give separate development stories"
        )
    return split


def shared_examples(train: Iterable[Story], dev: Iterable[Story]) -> int:
    """The number of questions of ``dev`` that, with all they see, are also in ``train``."""
    known = {example for story in train for _, example in examples_of(story)}
    return sum(example in known for story in dev for _, example in examples_of(story))


def _question_count(stories: Iterable[Story]) -> int:
    return sum(len(story.questions) for story in stories)


def _dev_questions(split: Split) -> int:
    return _question_count(split.dev)


def examples_of(story: Story) -> Iterator[tuple[Question, bytes]]:
    """Each question with a digest of what it sees and asks; every sentence is digested once."""
    told = hashlib.blake2b(digest_size=16)
    seen = 0
    for question in sorted(story.questions, key=lambda question: question.after):
        for sentence in story.sentences[seen : question.after]:
            told.update(_normal(sentence))
        seen = question.after
        example = told.copy()
        example.update(b"?" + _normal(question.text))
        yield question, example.digest()


def _normal(text: str) -> bytes:
    """The normalised text for comparison, terminated by a line end."""
    return " ".join(fold(compose(text)).split()).encode("utf-8", "surrogatepass") + b"\n"


def _groups(stories: Sequence[Story]) -> list[list[int]]:
    """Numbers of stories that have examples in common, directly or indirectly; excluding those without questions."""
    parent = list(range(len(stories)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    first_with: dict[bytes, int] = {}
    for number, story in enumerate(stories):
        for _, example in examples_of(story):
            parent[root(number)] = root(first_with.setdefault(example, number))
    groups: dict[int, list[int]] = {}
    for number, story in enumerate(stories):
        if story.questions:
            groups.setdefault(root(number), []).append(number)
    return list(groups.values())


def _own_examples(stories: Sequence[Story]) -> list[list[int]]:
    """Numbers of stories that have an example no other story has, each by itself."""
    examples = [{example for _, example in examples_of(story)} for story in stories]
    stories_with = Counter(example for one in examples for example in one)
    return [[number] for number, one in enumerate(examples) if any(stories_with[example] == 1 for example in one)]


def _hold_out(stories: Sequence[Story], groups: Sequence[Sequence[int]], wanted: int, seed: int) -> Split:
    """Some of the groups with nearly the requested number of questions: the best of several random orders."""
    sizes = [sum(len(stories[number].questions) for number in group) for group in groups]
    asking = sum(bool(story.questions) for story in stories)
    best: list[int] = []
    best_miss = -1
    for attempt in range(_ORDERS_TRIED):
        order = np.random.default_rng((seed, len(stories), attempt)).permutation(len(groups)).tolist()
        chosen: list[int] = []
        miss, left = wanted, asking
        for group in order:
            # Take what brings the total closer, and leave something for training.
            if abs(miss - sizes[group]) < abs(miss) and left > len(groups[group]):
                chosen.append(group)
                miss -= sizes[group]
                left -= len(groups[group])
        if not chosen:  # each is more than twice the requested number
            chosen = [group for group in sorted(order, key=sizes.__getitem__) if len(groups[group]) < asking][:1]
            miss -= sum(sizes[group] for group in chosen)
        if chosen and not 0 <= best_miss <= abs(miss):
            best, best_miss = chosen, abs(miss)
        if best_miss == 0:
            break
    held_out = {number for group in best for number in groups[group]}
    return Split(
        [story for number, story in enumerate(stories) if number not in held_out],
        [stories[number] for number in sorted(held_out)],
    )


def _without_shared(split: Split) -> Split:
    """The split without the development questions that are also in training."""
    known = {example for story in split.train for _, example in examples_of(story)}
    dev = []
    for story in split.dev:
        kept = tuple(question for question, example in examples_of(story) if example not in known)
        if kept:
            dev.append(replace(story, questions=kept))
    return Split(split.train, dev)
