"""A conversation in progress: turns, rows of the knowledge base, and the system's next words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal

from query_reduction.dialog.acts import act_of
from query_reduction.dialog.knowledge import NO_RESULT, KnowledgeBase
from query_reduction.dialog.responses import Response
from query_reduction.dialog.utterances import Heard
from query_reduction.explain.trace import Trace
from query_reduction.heads.slots import API_CALL, cut
from query_reduction.model import DialogModel
from query_reduction.text.formats.dialog import SILENCE, format_dialogs
from query_reduction.text.stories import Question, Story

__all__ = ["Said", "Session"]

_MOST_IN_A_ROW = 8
"""The system never speaks more often than this without waiting for the user."""
_MOST_CHOICES = 10
_SURE = 0.7
"""Below this probability the user is told that the response may miss the point, and nothing is done without asking."""
_FAMILIAR = 0.15
"""An utterance less like all of training than this is not given to the network, unless it names a wish."""
_SUPPORTED = 0.45
"""An act is done without asking only if the utterance is at least so much like those that led to it in training."""
_YES = frozenset(
    ("yes", "yeah", "yep", "yup", "sure", "ok", "okay", "please", "confirm", "correct", "right", "absolutely")
)
_NO = frozenset(["no", "nope", "nah", "not", "don't", "dont", "wrong", "incorrect"])
_TAKE_BACK = ("cancel", "undo", "never mind", "nevermind", "forget it", "forget that", "stop", "take that back")
_START_AGAIN = ("start again", "start over", "restart", "begin again", "new conversation", "reset")
_NOT_DONE = "nothing was done"
_MISUNDERSTOOD = "I may have misunderstood; please rephrase if this is wrong"


@dataclass(frozen=True, slots=True)
class Said:
    """One response of the system, the rows it found if it called the knowledge base, and what the user may do now."""

    response: Response | None
    """None if there is only advice."""
    rows: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    """Lines that are not part of the conversation."""
    shown: str = ""
    """The response as a person should see it."""


@dataclass(slots=True)
class Session:
    """A conversation between a person and a model.

    It keeps what was said as it was said; the model reads it in its own words (``dialog.utterances``). Nothing that
    cannot be undone happens on a doubt: an act that needs certainty is done only if the network is sure and training
    has utterances like this one before it. Otherwise the user is asked, and what was asked waits in ``pending``.
    """

    model: DialogModel
    knowledge: KnowledgeBase
    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    pending: str = ""
    """What the user said before being asked whether to go on; empty if nothing waits for an answer."""

    def say(self, text: str) -> Iterator[Said]:
        """What the system says when the user says this (nothing is silence); it may speak several times."""
        text = " ".join(text.split()) or SILENCE
        waiting, self.pending = self.pending, ""
        reply = _plain(text)
        if waiting and _says(reply, _TAKE_BACK):
            yield Said(None, advice=(_NOT_DONE, *self.state()))
            return
        if command := self._command(reply):
            yield Said(None, advice=command)
            return
        if waiting and (answer := _yes_or_no(reply)):
            if answer == "yes":
                yield from self._go_on(waiting, confirmed=True)
            else:
                yield Said(None, advice=(_NOT_DONE, *self.state()))
            return
        heard = self.model.task.hearing.hear(text)
        if doubts := self._not_understood(text, heard):
            yield Said(None, advice=doubts)
            return
        if self._greets_whatever_is_said(heard.text):
            yield self._record(SILENCE, self._respond(SILENCE))
        yield from self._go_on(text)

    def _go_on(self, text: str, *, confirmed: bool = False) -> Iterator[Said]:
        """All that the system says after an utterance, until it waits for the user."""
        trigger = text
        advised: tuple[str, ...] = ()
        for turn in range(_MOST_IN_A_ROW):
            response = self._respond(text)
            if not confirmed and not turn and self._is_out_of_place(trigger, response):
                yield Said(None, advice=(f"not sure what you mean: {trigger}", *self.state(), *self._waiting_for()))
                return
            if not confirmed and self._is_doubtful(trigger, response):
                self.pending = trigger
                shown = self.model.task.display.response(response.text)
                yield Said(None, advice=(f"before I do it, is this what you want (yes or no): {shown}",))
                return
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
            elif text != SILENCE and response.confidence < _SURE and not confirmed:
                said = replace(said, advice=(*said.advice, _MISUNDERSTOOD))
            if not turn and (doubts := self._values_unknown(trigger)):
                said = replace(said, advice=(*said.advice, *doubts))
            yield said
            advised = said.advice
            if not self.model.task.goes_on_after(response.text, rows=bool(said.rows)):
                return
            text = SILENCE

    def state(self) -> tuple[str, ...]:
        """What was understood so far, as a line; none if there is nothing."""
        wishes = self._wishes()
        display = self.model.task.display
        told = ", ".join(f"{_kind_name(kind)} {display.name(name)}" for kind, name in wishes.items())
        return (f"so far: {told}",) if told else ()

    def _command(self, reply: str) -> tuple[str, ...]:
        """What always works, whatever the model was trained on: to take back, and to start again."""
        if _says(reply, _START_AGAIN):
            self.sentences, self.questions = [], []
            return ("a new conversation",)
        if not _says(reply, _TAKE_BACK):
            return ()
        at = next((n for n in reversed(range(len(self.questions))) if self.questions[n].text != SILENCE), None)
        if at is None:
            return (_NOT_DONE,)
        taken = self.questions[at]
        del self.questions[at:], self.sentences[taken.after :]
        return (f"taken back, with all that followed: {taken.text}", *self.state())

    def _not_understood(self, text: str, heard: Heard) -> tuple[str, ...]:
        """What to tell a user whose words mean nothing here; nothing if they do."""
        if text == SILENCE:
            return ()
        task = self.model.task
        unknown = ", ".join(heard.unknown)
        if not heard.text:
            return (f"not understood: {unknown or text}; please rephrase", *self.state())
        if not task.acts.utterances or task.hearing.wishes(heard.text):
            return ()
        closest = task.acts.closest(task.general(heard.text), heard.unknown)
        kinds = [word for word in closest.utterance.split() if word in task.hearing.slots]
        if heard.unknown and kinds and closest.share >= _FAMILIAR:
            # Training says such things with a name where this utterance has an unknown word.
            asked = [kind for kind in dict.fromkeys(kinds) if kind == self._asked_for()] or kinds
            return (f"unknown: {unknown}", *(self._choose_from(kind) for kind in asked))
        if closest.share >= _FAMILIAR:
            return ()
        return (f"not understood: {text}", *self.state(), *self._waiting_for())

    def _values_unknown(self, text: str) -> tuple[str, ...]:
        """Words that stand where names of a kind stand in training, but are none: said, never guessed."""
        hearing = self.model.task.hearing
        heard = hearing.hear(text)
        wishes = hearing.wishes(heard.text)
        pieces = ["", *_plain(text).split(), ""]
        unknown = {word.lower() for word in heard.unknown}
        lines = []
        for before, word, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
            for kind, phrase in hearing.phrases.items() if word in unknown else ():
                expected = phrase.before[-1:] == (before,) or phrase.after[:1] == (after,)
                fits = (not phrase.before or before in phrase.lefts) and (not phrase.after or after in phrase.rights)
                if kind in hearing.slots and kind not in wishes and expected and fits:
                    lines.append(f"unknown {_kind_name(kind)}: {word}; {self._choose_from(kind)}")
        return tuple(lines)

    def _is_out_of_place(self, trigger: str, response: Response) -> bool:
        """Whether training never has such an utterance before such a response, and it names no wish."""
        task = self.model.task
        if trigger == SILENCE or not task.acts.utterances or task.needs_certainty(response.text):
            return False
        heard = task.hearing.hear(trigger)
        if task.hearing.wishes(heard.text):
            return False
        general, act = task.general(heard.text), act_of(response.text)
        return task.acts.closest(general, heard.unknown, act).share < _FAMILIAR or (
            trigger.endswith("?") and not task.acts.begins_like(general)
        )

    def _is_doubtful(self, trigger: str, response: Response) -> bool:
        """Whether a response does something that this utterance may not have asked for."""
        task = self.model.task
        if not task.needs_certainty(response.text) or not task.acts.utterances or trigger == SILENCE:
            return False
        heard = task.hearing.hear(trigger)
        general, act = task.general(heard.text), act_of(response.text)
        if task.hearing.wishes(heard.text) and act == API_CALL:
            return bool(heard.assumed)
        if response.confidence < _SURE or task.acts.closest(general, heard.unknown, act).share < _SUPPORTED:
            return True
        return trigger.endswith("?") and not task.acts.begins_like(general, act)

    def _waiting_for(self) -> tuple[str, ...]:
        """The system's last words, if it waits for an answer."""
        if not self.questions:
            return ()
        return (f"I said: {self.model.task.display.response(self.questions[-1].answer)}",)

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
        shown = self.model.task.display.response(response.text)
        if not _is_call(response.text) or not self.knowledge.rows:
            return Said(response, shown=shown)
        rows = tuple(self.knowledge.query(response.text))
        if rows != (NO_RESULT,):
            self.sentences += rows
            return Said(response, rows, shown=shown)
        if self._knows_no_result():
            self.sentences.append(NO_RESULT)
        wishes = ", ".join(response.text.split()[1:])
        return Said(response, advice=(f"nothing fits {wishes}", *self._changes(response.text)), shown=shown)

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

    def _asked_for(self) -> str | None:
        """The kind of name that the system asked for last, if it did."""
        return self.model.task.asks.get(self.questions[-1].answer) if self.questions else None

    def _choices(self, text: str, response: str) -> str:
        """The names of the kind that the system asks for again, or asked for without being told."""
        asks = self.model.task.asks
        if response in asks and any(turn.answer == response for turn in self.questions):
            return self._choose_from(asks[response])
        asked = self._asked_for()
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


def _plain(text: str) -> str:
    """What was said, in lower case and without punctuation around words."""
    return " ".join(word.strip('.,;:!?"()') for word in text.lower().split()).strip()


def _says(reply: str, commands: tuple[str, ...]) -> bool:
    """Whether a short utterance begins with a command: "cancel that", "please cancel"; not "can I cancel tomorrow"."""
    bare = reply.removeprefix("please ").removesuffix(" please")
    return len(bare.split()) <= 4 and any(bare == command or bare.startswith(f"{command} ") for command in commands)


def _yes_or_no(reply: str) -> Literal["yes", "no", ""]:
    words = set(reply.split())
    if not words or len(words) > 5:
        return ""
    return "no" if words & _NO else "yes" if words & _YES else ""


def _kind_name(kind: str) -> str:
    return kind.strip("<>").removeprefix("r_")


def _is_call(response: str) -> bool:
    return response.split()[:1] == [API_CALL]


def _any_of(values: list[str]) -> str:
    return " or ".join([", ".join(values[:-1]), values[-1]]) if len(values) > 1 else values[0]
