"""Sampling by errors: with several tasks, an epoch has more stories of the tasks that are still answered wrongly.

Most of twenty tasks are learned in a few epochs, while some stay at chance for dozens: sampling all equally often would
spend most of the time on what is known.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from query_reduction.stacked.network import StackedNetwork
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.stories import Story
from query_reduction.training.evaluation import evaluate

__all__ = ["Focus"]

_ASKED = 60
"""Training questions of each task on which its error is estimated."""


class Focus:
    """Draws the stories of an epoch."""

    def __init__(
        self, stories: Sequence[Story], share: float, encode: Callable[[Sequence[Story]], EncodedQuestions]
    ) -> None:
        """``share`` of the questions are drawn by errors, the rest in proportion to their number."""
        self._of_task: dict[str, list[Story]] = defaultdict(list)
        asked: list[Story] = []
        count: dict[str, int] = defaultdict(int)
        for story in stories:
            self._of_task[story.task].append(story)
            if count[story.task] < _ASKED:
                asked.append(story)
            count[story.task] += len(story.questions)
        self._questions = dict(count)
        self.total = sum(count.values())
        """The questions of all stories."""
        self._asked = encode(asked)
        self._share = share

    def draw(self, questions: int, network: StackedNetwork, chance: random.Random) -> list[Story]:
        """Stories with about this many questions; no story of a task comes again before all others of it have."""
        drawn: list[Story] = []
        for task, wanted in self.wanted(questions, self.errors(network)).items():
            left = wanted
            while left > 0:
                for story in chance.sample(self._of_task[task], len(self._of_task[task])):
                    drawn.append(story)
                    left -= len(story.questions)
                    if left <= 0:
                        break
        return drawn

    def wanted(self, questions: int, errors: Mapping[str, float]) -> dict[str, int]:
        """How many of these questions each task gets."""
        wrong = sum(errors.values())
        shares = {task: count / self.total for task, count in self._questions.items()}
        if wrong:
            shares = {
                task: (1 - self._share) * share + self._share * errors[task] / wrong for task, share in shares.items()
            }
        return {task: round(questions * share) for task, share in shares.items()}

    def errors(self, network: StackedNetwork) -> dict[str, float]:
        """The share of wrong answers to some training questions of each task, by the network as it is now."""
        correct = evaluate(network, self._asked).correct[0]
        tasks = np.array(self._asked.tasks)
        return {task: float(1 - correct[tasks == task].mean()) for task in self._of_task}
