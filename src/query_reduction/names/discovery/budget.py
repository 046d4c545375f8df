"""A budget of time and memory: discovery looks at as much as it allows, and says what it has not looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from query_reduction.text.stories import Story

__all__ = ["Budget", "sampled"]

_WORDS = 150_000
"""Words that the stories of a sample may have: more than twice as many as those of any published task."""
_STORIES = 4000


class Budget:
    """What has been spent of some seconds of computing, and how far the work is.

    What else the machine does is not counted, so that a busy one finds the same.
    """

    def __init__(self, seconds: float, progress: Callable[[str, float], None] | None = None) -> None:
        self._seconds = seconds
        self._begun = time.thread_time()
        self._progress = progress or (lambda what, part: None)
        self.left_out: list[str] = []
        """What was not looked at, in words."""

    def spent(self, part: float = 1.0) -> bool:
        """Whether this part of the time is over."""
        return time.thread_time() - self._begun > part * self._seconds

    def remaining(self, part: float = 1.0) -> float:
        """The seconds until this part of the time is over."""
        return part * self._seconds - (time.thread_time() - self._begun)

    def say(self, what: str, part: float) -> None:
        """Report what is being done, and which part of all has been done."""
        self._progress(what, min(part, 1.0))

    def leave_out(self, what: str) -> None:
        """Note what is not looked at."""
        if what not in self.left_out:
            self.left_out.append(what)


def sampled(stories: Sequence[Story], questions: int) -> list[Story]:
    """As many stories as have this many questions, within the bounds of a sample."""
    taken: list[Story] = []
    asked = words = 0
    for story in stories:
        if asked >= questions or words >= _WORDS or len(taken) >= _STORIES:
            break
        if story.questions:
            taken.append(story)
            asked += len(story.questions)
            words += sum(sentence.count(" ") + 1 for sentence in story.sentences)
    return taken
