"""A conversation as it goes: turns, rows of the knowledge base, and the system's next words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from query_reduction.data.dialog import SILENCE, format_dialogs
from query_reduction.data.knowledge import NO_RESULT, KnowledgeBase
from query_reduction.data.slots import API_CALL
from query_reduction.data.stories import Question, Story
from query_reduction.explain.trace import Trace
from query_reduction.model import DialogModel
from query_reduction.tasks.responses import Response

__all__ = ["Said", "Session"]

_MOST_IN_A_ROW = 5
"""The system never speaks more often than this without waiting for the user."""


@dataclass(frozen=True, slots=True)
class Said:
    """One response of the system, and what it found if it asked the knowledge base."""

    response: Response
    rows: tuple[str, ...] = ()


@dataclass(slots=True)
class Session:
    """A conversation between a person and a model."""

    model: DialogModel
    knowledge: KnowledgeBase
    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def say(self, text: str) -> Iterator[Said]:
        """What the system says when the user says this (nothing is silence); it may speak several times."""
        for _ in range(_MOST_IN_A_ROW):
            said = self._answer(" ".join(text.split()) or SILENCE)
            yield said
            if not self.model.task.goes_on_after(said.response.text, rows=bool(said.rows)):
                return
            text = SILENCE

    def story(self) -> Story:
        """The conversation so far."""
        return Story(tuple(self.sentences), tuple(self.questions))

    def trace(self) -> Trace | None:
        """How the last response came about; None before the first, or if there was nothing to read for it."""
        if not self.questions or not self.questions[-1].after:
            return None
        last = self.questions[-1]
        return self.model.explain_dialog(Story(tuple(self.sentences[: last.after]), tuple(self.questions)))

    def as_text(self) -> str:
        """The conversation in the bAbI dialog format."""
        return "".join(format_dialogs([self.story()]))

    def _answer(self, text: str) -> Said:
        asked = (*self.questions, Question(text, "", len(self.sentences)))
        response = self.model.respond_to(Story(tuple(self.sentences), asked))
        self.questions.append(Question(text, response.text, len(self.sentences)))
        self.sentences += (text, response.text)
        rows: tuple[str, ...] = ()
        if response.text.split()[0] == API_CALL and self.knowledge.rows:
            rows = tuple(self.knowledge.query(response.text))
        if rows != (NO_RESULT,) or self._knows_no_result():
            self.sentences += rows
            return Said(response, rows)
        return Said(response)

    def _knows_no_result(self) -> bool:
        """Whether the model has learned what it means that nothing was found; else it is not told, but the user is."""
        return not self.model.task.vocabulary.unknown_words([NO_RESULT])
