"""Conversations: the server keeps none, the client sends what was said so far and gets what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from query_reduction.dialog.knowledge import KnowledgeBase
from query_reduction.dialog_session import Session
from query_reduction.errors import InputError
from query_reduction.model import DialogModel
from query_reduction.serve.messages import ChatRequest
from query_reduction.text.stories import Question

__all__ = ["Partner"]


@dataclass(frozen=True, slots=True)
class Partner:
    """A dialog model to talk to, with the places it knows."""

    model: DialogModel
    knowledge: KnowledgeBase

    @staticmethod
    def of(model: DialogModel) -> Partner:
        """The partner for a model, with the places it saw in training."""
        return Partner(model, KnowledgeBase(model.task.known_rows()))

    def places(self) -> list[dict[str, Any]]:
        """What the knowledge base knows, place by place."""
        facts: dict[str, dict[str, str]] = {}
        for name, relation, value in self.knowledge.rows:
            facts.setdefault(name, {})[relation] = value
        shown = self.model.task.display.name
        return [{"name": name, "shown": shown(name), "facts": known} for name, known in facts.items()]

    def say(self, request: ChatRequest, *, most_sentences: int) -> dict[str, Any]:
        """What the system says next, and the conversation with it."""
        session = Session(self.model, self.knowledge, list(request.sentences), _questions(request), request.pending)
        said = []
        advice: list[str] = []
        for one in session.say(request.text):
            advice = list(one.advice)
            if one.response is not None:
                said.append(
                    {
                        "text": one.response.text,
                        "shown": one.shown,
                        "confidence": one.response.confidence,
                        "rows": list(one.rows),
                        "unknown_words": list(one.response.unknown_words),
                    }
                )
            if len(session.sentences) > most_sentences:
                raise InputError(f"a conversation may have {most_sentences} sentences; start a new one")
        turns = [{"text": turn.text, "answer": turn.answer, "after": turn.after} for turn in session.questions]
        return {
            "said": said,
            "advice": advice,
            "sentences": session.sentences,
            "turns": turns,
            "shares": _shares(session),
            "state": list(session.state()),
            "pending": session.pending,
        }


def _questions(request: ChatRequest) -> list[Question]:
    before = 0
    for turn in request.turns:
        if not before <= turn.after <= len(request.sentences):
            raise InputError("turns must be in order and lie inside the conversation")
        before = turn.after
    return [Question(turn.text, turn.answer, turn.after) for turn in request.turns]


def _shares(session: Session) -> list[float]:
    """How much each sentence so far contributed to the last response; 0 for later sentences."""
    trace = session.trace()
    shares = [0.0] * len(session.sentences)
    if trace is not None and trace.skipped + len(trace.sentences) == session.questions[-1].after:
        for place, share in enumerate(trace.shares().tolist(), start=trace.skipped):
            shares[place] = round(share, 4)
    return shares
