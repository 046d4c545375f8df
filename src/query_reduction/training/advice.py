"""What a model of one's own stories is worth: beside simple ways to answer, and beside one that saw half of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from query_reduction.reading.stories import StoryParts
from query_reduction.sources.named import question_count
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import split_words
from query_reduction.training.results import RunResult
from query_reduction.training.run import Run, best_restart, score_restarts, train_to_end
from query_reduction.training.setup import Setup, setup

__all__ = ["Advice", "RuleOfThumb", "advice"]

_COMMON_IN_QUESTIONS = 0.3
"""A word that a larger share of the questions has is none of the names that they ask about."""
_OPENING = 2
"""Words at the beginning of a question that tell which answers it may have."""
_WORTH_IT = 0.85
"""More stories will help if with all of them the error is at most this share of that with half of them."""
_SOLVED = 1.0
"""Error in percent below which nobody needs advice."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Errors in percent on the same questions, and what to do next."""

    beside: dict[str, float]
    """Of simple ways to answer, by name."""
    half: float | None
    """The development error of one restart with half of the training stories; None if it was not measured."""
    all: float | None
    """The development error of the same restart with all of them."""

    def lines(self, folder: str) -> list[str]:
        """What to print below the error of the model, in the folder of its run."""
        errors = ", ".join(f"{name} {error:.1f}%" for name, error in self.beside.items())
        lines = [f"for comparison, on the same questions: {errors}"]
        if self.half is None or self.all is None:
            return lines
        curve = f"with half of your stories {self.half:.1f}%, with all {self.all:.1f}% (development, one restart): "
        if self.all <= _SOLVED:
            return [*lines, f"{curve}there is little left to gain"]
        if self.all <= _WORTH_IT * self.half:
            return [*lines, f"{curve}more stories will help"]
        return [
            *lines,
            f"{curve}more of the same will hardly help; see what it gets wrong:  qrn evaluate {folder} --mistakes 20",
        ]


def advice(run: Run, result: RunResult) -> Advice:
    """Compare a finished run of people's own stories with what is simpler and what is smaller."""
    train, dev = run.split.train, run.split.dev
    asked = run.parts.test or dev
    rule = RuleOfThumb(train)
    beside = {
        "the most frequent answer": _error(asked, [rule.most_frequent] * question_count(asked)),
        "bag of words": _bag_of_words(train, dev, asked, run.setup.recipe.seed),
        "the last sentence that shares a name with the question": _error(asked, rule.answers(asked)),
    }
    if len(train) < 2 or not dev:
        return Advice(beside, None, None)
    half = train[::2]
    smaller = Run(StoryParts("half", list(half), list(dev)), _for_fewer(run.setup, question_count(half)), restarts=(0,))
    train_to_end(smaller)
    first = next((restart for restart in result.restarts if restart.restart == 0), result.chosen)
    return Advice(beside, smaller.trainer.restarts[0].dev_error, first.dev_error)


def _for_fewer(full: Setup, questions: int) -> Setup:
    """The same training for fewer questions: an epoch has as many as before, told more often."""
    copies = round(10_000 / max(questions, 1)) if full.recipe.copies else 0
    return replace(full, recipe=replace(full.recipe, copies=min(copies, 10_000)))


def _bag_of_words(train: Sequence[Story], dev: Sequence[Story], asked: Sequence[Story], seed: int) -> float:
    parts = StoryParts("control", list(train), list(dev), list(asked))
    control = Run(parts, setup("bag-of-words", changes={"restarts": 1, "seed": seed}))
    train_to_end(control)
    (tested,) = score_restarts(control, [best_restart(control)])
    return tested.test_error if tested.test_error is not None else 100.0


class RuleOfThumb:
    """The answer that stands last in the last sentence that shares a name with the question."""

    def __init__(self, stories: Sequence[Story]) -> None:
        """What is learned: the possible answers, the most frequent one, and words that most questions have."""
        questions = [question for story in stories for question in story.questions]
        self.most_frequent = Counter(question.answer for question in questions).most_common(1)[0][0]
        self._answers = {_words(question.answer): question.answer for question in questions}
        self._longest = max(map(len, self._answers))
        self._to: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for question in questions:
            self._to[_words(question.text)[:_OPENING]].add(question.answer)
        counts = Counter(word for question in questions for word in set(_words(question.text)))
        self._common = {word for word, count in counts.items() if count > _COMMON_IN_QUESTIONS * len(questions)}
        told = Counter(word for story in stories for sentence in story.sentences for word in set(_words(sentence)))
        most = sum(len(story.sentences) for story in stories) * _COMMON_IN_QUESTIONS
        self._common |= {word for word, count in told.items() if count > most}

    def answers(self, stories: Sequence[Story]) -> list[str]:
        """The answer to every question."""
        return [self._answer(story, question) for story in stories for question in story.questions]

    def _answer(self, story: Story, question: Question) -> str:
        asked = set(_words(question.text)) - self._common
        possible = self._to.get(_words(question.text)[:_OPENING], set(self._answers.values()))
        for sentence in reversed(story.sentences[: question.after]):
            words = _words(sentence)
            if asked.isdisjoint(words):
                continue
            for end in range(len(words), 0, -1):
                for length in range(min(self._longest, end), 0, -1):
                    found = words[end - length : end]
                    if self._answers.get(found) in possible and asked.isdisjoint(found):
                        return self._answers[found]
        return self.most_frequent


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in split_words(text, "text"))


def _error(stories: Sequence[Story], answers: Sequence[str]) -> float:
    """The share of wrong answers in percent; case does not matter."""
    right = [question.answer for story in stories for question in story.questions]
    wrong = sum(own.lower() != other.lower() for own, other in zip(answers, right, strict=True))
    return 100 * wrong / max(len(right), 1)
