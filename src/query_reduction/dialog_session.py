"""A conversation in progress: turns, rows of the knowledge base, and the system's next words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from query_reduction.dialog.knowledge import NO_RESULT, KnowledgeBase
from query_reduction.dialog.responses import Response
from query_reduction.explain.trace import Trace
from query_reduction.heads.slots import API_CALL, cut
from query_reduction.model import DialogModel
from query_reduction.text.formats.dialog import SILENCE, format_dialogs
from query_reduction.text.stories import Question, Story

__all__ = ["Said", "Session"]

_MOST_IN_A_ROW = 8
"""The system never speaks more often than this without waiting for the user."""
_MOST_CHOICES = 10
_UNSURE = 0.7
"""Below this probability the user is told that the response may miss the point."""


@dataclass(frozen=True, slots=True)
class Said:
    """One response of the system, the rows it found if it called the knowledge base, and what the user may do now."""

    response: Response | None
    """None if there is only advice."""
    rows: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    """Lines that are not part of the conversation."""


@dataclass(slots=True)
class Session:
    """A conversation between a person and a model.

    It keeps what was said as it was said; the model reads it in its own words (``tasks.utterances``).
    """

    model: DialogModel
    knowledge: KnowledgeBase
    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def say(self, text: str) -> Iterator[Said]:
        """What the system says when the user says this (nothing is silence); it may speak several times."""
        text = " ".join(text.split()) or SILENCE
        heard = self.model.task.hearing.hear(text)
        if not heard.text:
            yield Said(None, advice=(f"not understood: {', '.join(heard.unknown) or text}; please rephrase",))
            return
        if self._greets_whatever_is_said(heard.text):
            yield self._record(SILENCE, self._respond(SILENCE))
        advised: tuple[str, ...] = ()
        for turn in range(_MOST_IN_A_ROW):
            response = self._respond(text)
            if turn and text == SILENCE and self._offered_before(response.text):
                yield Said(None, advice=("that was the last one that fits", *self._changes(self._last_call())))
                return
            if turn and text == SILENCE and response.text == self.questions[-1].answer:
                missing = self._still_to_say()
                if missing != advised:
                    yield Said(None, advice=missing)
                return
            if wished := self._wished_before(text, response.text):
                yield Said(None, advice=(f"you said {wished}",))
                text = wished
                continue
            choices = self._choices(text, response.text)
            said = self._record(text, response)
            if choices:
                said = replace(said, advice=(*said.advice, choices))
            elif text != SILENCE and response.confidence < _UNSURE:
                said = replace(
                    said, advice=(*said.advice, "not sure what you meant: say it otherwise if this is wrong")
                )
            yield said
            advised = said.advice
            if not self.model.task.goes_on_after(response.text, rows=bool(said.rows)):
                return
            text = SILENCE

    def story(self) -> Story:
        """The conversation so far."""
        return Story(tuple(self.sentences), tuple(self.questions))

    def trace(self) -> Trace | None:
        """The trace of the last response; None before the first, or if there was nothing to read for it."""
        if not self.questions or not self.questions[-1].after:
            return None
        last = self.questions[-1]
        return self.model.explain_dialog(Story(tuple(self.sentences[: last.after]), tuple(self.questions)))

    def as_text(self) -> str:
        """The conversation in the bAbI dialog format."""
        return "".join(format_dialogs([self.story()]))

    def _respond(self, text: str) -> Response:
        asked = (*self.questions, Question(text, "", len(self.sentences)))
        return self.model.respond_to(Story(tuple(self.sentences), asked))

    def _record(self, text: str, response: Response) -> Said:
        """Add a turn to the conversation, and the knowledge base's reply."""
        self.questions.append(Question(text, response.text, len(self.sentences)))
        self.sentences += (text, response.text)
        if not _is_call(response.text) or not self.knowledge.rows:
            return Said(response)
        rows = tuple(self.knowledge.query(response.text))
        if rows != (NO_RESULT,):
            self.sentences += rows
            return Said(response, rows)
        if self._knows_no_result():
            self.sentences.append(NO_RESULT)
        wishes = ", ".join(response.text.split()[1:])
        return Said(response, advice=(f"nothing fits {wishes}", *self._changes(response.text)))

    def _greets_whatever_is_said(self, heard: str) -> bool:
        """Whether the model takes a first request for a greeting: if so, it is greeted first, as in its training."""
        hearing = self.model.task.hearing
        if self.questions or heard == SILENCE or hearing.greeting is None or hearing.only_greets(heard):
            return False
        return self._respond(heard).text == self._respond(hearing.greeting).text

    def _wishes(self, text: str = "") -> dict[str, str]:
        """What the user has wished for, by kind: in all turns so far, and in this one."""
        hearing = self.model.task.hearing
        wishes: dict[str, str] = {}
        for told in (*(turn.text for turn in self.questions), text):
            wishes |= hearing.wishes(hearing.hear(told).text)
        return wishes

    def _wished_before(self, text: str, response: str) -> str:
        """All that the user has wished for, if the system asks for a part of it and was not told all at once before."""
        wishes = self._wishes(text)
        if self.model.task.asks.get(response) not in wishes:
            return ""
        request = self.model.task.hearing.request(wishes)
        return "" if request in (text, *(turn.text for turn in self.questions[-2:])) else request

    def _choices(self, text: str, response: str) -> str:
        """The names of the kind that the system asks for again, or asked for without being told."""
        asks = self.model.task.asks
        if response in asks and any(turn.answer == response for turn in self.questions):
            return self._choose_from(asks[response])
        asked = asks.get(self.questions[-1].answer) if self.questions else None
        return self._choose_from(asked) if asked is not None and asked not in self._wishes(text) else ""

    def _still_to_say(self) -> tuple[str, ...]:
        """What the system may be waiting for."""
        wishes = self._wishes()
        missing = [kind for kind in dict.fromkeys(self.model.task.asks.values()) if kind not in wishes]
        return tuple(self._choose_from(kind) for kind in missing) or ("nothing more to say: try a different request",)

    def _choose_from(self, kind: str) -> str:
        names = sorted(name for name, its in self.model.task.hearing.lexicon.kinds.items() if its == kind)
        more = f" and {len(names) - _MOST_CHOICES} more" if len(names) > _MOST_CHOICES else ""
        return f"please choose from {', '.join(names[:_MOST_CHOICES])}{more}"

    def _last_call(self) -> str:
        return next((turn.answer for turn in reversed(self.questions) if _is_call(turn.answer)), "")

    def _offered_before(self, response: str) -> bool:
        """Whether the same names were offered in the same words since the last call."""
        if _is_call(response) or len(cut(response)) < 2:
            return False
        since = takewhile(lambda answer: not _is_call(answer), (turn.answer for turn in reversed(self.questions)))
        return response in since

    def _changes(self, call: str) -> tuple[str, ...]:
        """What to change so that something (else) is found."""
        others = self.knowledge.other_values(call)
        if not others:
            return ("no single change helps: try a different request",)
        ways = (f"{relation.lower().removeprefix('r_')}: {_any_of(values)}" for relation, values in others.items())
        return (f"what you could change: {'; '.join(ways)}",)

    def _knows_no_result(self) -> bool:
        """Whether the model knows from training what an empty result means; if not, only the user is informed."""
        return not self.model.task.vocabulary.unknown_words([NO_RESULT])


def _is_call(response: str) -> bool:
    return response.split()[:1] == [API_CALL]


def _any_of(values: list[str]) -> str:
    return " or ".join([", ".join(values[:-1]), values[-1]]) if len(values) > 1 else values[0]
