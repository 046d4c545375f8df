"""Story tasks: a story, a question about it, and one of the answers seen in training."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch

from query_reduction.data.encoding import EncodedQuestions, encode_stories
from query_reduction.data.stories import Question, Story
from query_reduction.data.vocabulary import Vocabulary, case_matters
from query_reduction.errors import InputError
from query_reduction.networks.heads import HeadConfig
from query_reduction.networks.protocol import StackedNetwork
from query_reduction.settings import Between, check, from_json
from query_reduction.symmetry import Renamer, Symmetries, discover
from query_reduction.tasks.answers import error_by_task, evaluate, percent_wrong
from query_reduction.tasks.protocol import Parts, Scores, Task

__all__ = ["Answer", "StoryOptions", "StoryParts", "StoryTask"]

_RUNNERS_UP = 3
_TOLD_AGAIN = 10
"""How often stories are told in other words to find all words and answers there can be."""


@dataclass(frozen=True, slots=True)
class StoryOptions:
    """How stories are read."""

    memory: Annotated[int, Between(0, 10_000_000)] = 50
    """Read only the last so many sentences of a story; 0 reads all."""
    vocabulary: Literal["train", "all"] = "train"
    """Words from the training part only, or from all parts as in the original."""
    writing: Literal["exact", "any"] = "exact"
    """exact = words are told apart as they are written; any = upper or lower case and Unicode forms make no difference,
    unless the training part tells words apart by them, and signs such as emoji are words."""
    symmetries: bool = False
    """Find out which words may stand for each other without making an answer false, so that stories can be told in
    other words (see --copies)."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in words, how sure the model is, and what it did not understand."""

    text: str
    confidence: float
    """The model's probability of the answer, from 0 to 1."""
    runners_up: tuple[tuple[str, float], ...]
    """The next best answers with their probabilities."""
    unknown_words: tuple[str, ...]
    """Words of story and question the model never saw in training; it read them as nothing."""


@dataclass(frozen=True)
class StoryTask(Task):
    """What a model keeps of a story task: its vocabulary, and which words may stand for each other."""

    kind: ClassVar[str] = "stories"

    vocabulary: Vocabulary
    options: StoryOptions
    symmetries: Symmetries | None = None

    @property
    def head(self) -> HeadConfig:
        """One classifier of whole answers."""
        return HeadConfig("answers")

    def encode(self, stories: Sequence[Story]) -> EncodedQuestions:
        """See ``Task``."""
        return encode_stories(stories, self.vocabulary, self.options.memory)

    def score(self, networks: Sequence[StackedNetwork], stories: Sequence[Story]) -> list[Scores]:
        """The share of wrong answers, over all and by task; an answer never seen in training counts as wrong."""
        questions = self.encode(stories)
        scores = []
        for network in networks:
            correct = evaluate(network, questions).correct[0]
            error = percent_wrong(correct)
            scores.append(Scores(error, len(questions), {"answer": error_by_task(questions, correct) or {"": error}}))
        return scores

    @torch.inference_mode()
    def answer(self, network: StackedNetwork, asked: Sequence[tuple[Sequence[str], str]]) -> list[Answer]:
        """Answer several questions, each about its own story, in one batch."""
        if not asked:
            return []
        questions = self.encode([as_story(sentences, question) for sentences, question in asked])
        scores = network.scores(questions.batch(np.arange(len(asked))))[0]
        names = self.vocabulary.answers
        best = torch.softmax(scores, dim=1).topk(min(1 + _RUNNERS_UP, len(names)))
        answers = []
        for (sentences, question), values, indices in zip(
            asked, best.values.tolist(), best.indices.tolist(), strict=True
        ):
            ranked = [(names[index], value) for value, index in zip(values, indices, strict=True)]
            unknown = tuple(self.vocabulary.unknown_words([*sentences, question]))
            answers.append(Answer(ranked[0][0], ranked[0][1], tuple(ranked[1:]), unknown))
        return answers

    def describe(self) -> list[str]:
        """Which words may stand for each other."""
        if self.symmetries is None:
            return []
        return self.symmetries.describe() or ["no words were found that may stand for each other"]

    def renewed(self, stories: Sequence[Story], copies: int, chance: random.Random) -> Sequence[Story]:
        """So many copies of the stories, each in a renaming of its own."""
        if self.symmetries is None:
            raise InputError("copies has no effect without symmetries")
        renamer = Renamer(self.symmetries, stories)
        return [story for _ in range(copies) for story in renamer.stories(stories, chance)]

    def as_json(self) -> dict[str, Any]:
        """See ``Task``."""
        found = self.symmetries.as_json() if self.symmetries else None
        return {"options": asdict(self.options), "symmetries": found}

    @staticmethod
    def from_json(values: Mapping[str, Any], vocabulary: Vocabulary) -> StoryTask:
        """What ``as_json`` gave."""
        found = values["symmetries"]
        symmetries = None if found is None else Symmetries.from_json(found)
        return StoryTask(vocabulary, from_json(StoryOptions, values["options"]), symmetries)


@dataclass(frozen=True)
class StoryParts(Parts):
    """Stories in parts."""

    kind: ClassVar[str] = "stories"
    options_type: ClassVar[type] = StoryOptions

    def learn(self, options: StoryOptions, train: Sequence[Story]) -> StoryTask:
        """The words and answers of the training part (or of all parts), and its symmetries if they are wanted."""
        known = [*self.train] if options.vocabulary == "train" else [*self.train, *self.dev, *self.test]
        symmetries = None
        if options.symmetries:
            symmetries = discover(train)
            # Other words can make answers and capitals that no story has: the vocabulary must know them as well.
            known += Renamer(symmetries, train).stories([*train] * _TOLD_AGAIN, random.Random(0))
        any_writing = options.writing == "any"
        vocabulary = Vocabulary.from_stories(
            known,
            "text" if any_writing else "words",
            fold_case=any_writing and not case_matters(known),
            phrases=symmetries.units.phrases if symmetries else (),
        )
        return StoryTask(vocabulary, options, symmetries)


def as_story(sentences: Sequence[str], question: str) -> Story:
    """A story with one question at its end."""
    return Story(tuple(sentences), (Question(question, "", len(sentences)),))
