"""A story and a question as they were read: one value, which answers, predictions and traces have."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from query_reduction.names import KnownReading
from query_reduction.text.pronouns import PERSONAL
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Sentence

__all__ = ["HasRead", "ReadQuestion"]

_MOST_LISTED = 10
_WORD = re.compile(r"\w+")
_NOTHING = Sentence("", (), (), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuestion:
    """A story and a question as they were written, and as the network reads them."""

    story: tuple[str, ...] = field(default=(), repr=False)
    """All sentences as they were written; none if the text was too long to keep."""
    question: str = ""
    """The question as it was written."""
    sentence_count: int = 0
    """How many sentences the story has."""
    sentences: tuple[Sentence, ...] = field(default=(), repr=False)
    """The sentences that can be read, as the network reads them."""
    asked: Sentence = field(default=_NOTHING, repr=False)
    """The question as the network reads it."""
    kept: tuple[int, ...] = field(default=(), repr=False)
    """Positions (from 0) of the sentences that can be read."""
    beyond_memory: int = 0
    """How many of those, at the start, were not read: they are further back than the network's memory."""
    omitted: tuple[int, ...] = ()
    """Positions (from 0) of the sentences that could not be read."""
    substituted: tuple[tuple[str, str], ...] = ()
    """Unknown names and words, each with what it was read as: ``("Zoë", "a name like Mary")``; pronouns with the name
    they were taken for: ``("she", "Mary")``."""
    unknown_words: tuple[str, ...] = ()
    """All other words of story and question that the model never saw in training: they mean nothing to it."""
    unmentioned: tuple[str, ...] = ()
    """New names and pronouns of the question that are in no sentence that was read."""
    is_guess: bool = False
    """No sentence could be read, so all were read as they are: the answer is a guess."""
    names: KnownReading | None = field(default=None, repr=False, hash=False)
    """The known names that stand for unknown ones."""

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of the sentences within memory: those that are read."""
        return self.kept[self.beyond_memory :]

    @property
    def within_memory(self) -> tuple[Sentence, ...]:
        """Those sentences, as the network reads them."""
        return self.sentences[self.beyond_memory :]

    def as_story(self, question: Question) -> Story:
        """What can be read, with the answer and the supporting facts of ``question``."""
        place = {position: number for number, position in enumerate(self.kept)} if question.support else {}
        facts = tuple(place[fact] for fact in question.support if fact in place)
        answer = self.in_known_names(question.answer)
        texts = tuple(sentence.text for sentence in self.sentences)
        return Story(texts, (Question(self.asked.text, answer, len(texts), facts),))

    def name_back(self, answer: str) -> str:
        """An answer of the network in the names of the story."""
        return self.names.name_back(answer) if self.names is not None else answer

    def in_known_names(self, answer: str) -> str:
        """The reverse: an answer in the names of the story as the network would give it."""
        return self.names.in_known_names(answer) if self.names is not None else answer

    def answers_named_back(self, answers: Sequence[str]) -> Sequence[str]:
        """All answers of the network in the names of the story."""
        return answers if self.names is None else [*map(self.names.name_back, answers)]

    def words_named_back(self) -> Callable[[str], str]:
        """A function that puts words of the network into the names of the story."""
        names = self.names.names if self.names is not None else {}
        if not names:
            return str
        known = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b", re.IGNORECASE)
        return lambda text: known.sub(lambda match: names[match[0].lower()], text)

    @property
    def missed(self) -> tuple[int, ...]:
        """The omitted sentences that may matter: they share a word with the question, or say what somebody did whom
        another sentence names."""
        if not self.omitted or not self.story:
            return self.omitted
        asked = set(_WORD.findall(self.question.lower()))
        words = {place: set(_WORD.findall(self.story[place].lower())) for place in self.omitted}
        return tuple([place for place in self.omitted if words[place] & asked or words[place] & PERSONAL])

    def notes(self) -> list[str]:
        """What the user should know about the reading, one line per item."""
        lines = [f"{name} read as {known}" for name, known in self.substituted]
        if self.unknown_words:
            more = len(self.unknown_words) - _MOST_LISTED
            listed = ", ".join(self.unknown_words[:_MOST_LISTED])
            lines.append(f"unknown words, ignored: {listed}{f' and {more} more' if more > 0 else ''}")
        if self.omitted:
            lines.append(f"{_sentences(self.omitted)} could not be read and {_were(self.omitted)} left out")
        lines += [f"{name} is in no sentence that was read: the answer is a guess" for name in self.unmentioned]
        if self.is_guess:
            lines.append("no sentence could be read: the answer is a guess")
        if self.beyond_memory:
            readable = self.sentence_count - len(self.omitted)
            which = "readable sentences" if self.omitted else "sentences"
            lines.append(
                f"read the last {readable - self.beyond_memory} of {readable} {which}: "
                "the model was trained to read no more"
            )
        return lines

    def as_json(self) -> dict[str, Any]:
        """What is said about the reading wherever an answer is written as JSON."""
        return {
            "sentence_count": self.sentence_count,
            "beyond_memory": self.beyond_memory,
            "omitted": list(self.omitted),
            "substituted": [list(pair) for pair in self.substituted],
            "unknown_words": list(self.unknown_words),
            "unmentioned": list(self.unmentioned),
            "is_guess": self.is_guess,
            "notes": self.notes(),
        }


def _renamed(new: str, old: str) -> property:
    def value(self: HasRead) -> Any:
        warnings.warn(f"{old} is called {new} from version 0.3.0 on", DeprecationWarning, stacklevel=2)
        return getattr(self, new)

    return property(value, doc=f"The old name of ``{new}``.")


class HasRead:
    """An answer or a trace: what it says about the reading is said by the question as it was read."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def read(self) -> ReadQuestion:
            """The story and the question as they were read."""

    @property
    def sentence_count(self) -> int:
        """See ``ReadQuestion``."""
        return self.read.sentence_count

    @property
    def beyond_memory(self) -> int:
        """See ``ReadQuestion``."""
        return self.read.beyond_memory

    @property
    def omitted(self) -> tuple[int, ...]:
        """See ``ReadQuestion``."""
        return self.read.omitted

    @property
    def substituted(self) -> tuple[tuple[str, str], ...]:
        """See ``ReadQuestion``."""
        return self.read.substituted

    @property
    def unknown_words(self) -> tuple[str, ...]:
        """See ``ReadQuestion``."""
        return self.read.unknown_words

    @property
    def unmentioned(self) -> tuple[str, ...]:
        """See ``ReadQuestion``."""
        return self.read.unmentioned

    @property
    def is_guess(self) -> bool:
        """See ``ReadQuestion``."""
        return self.read.is_guess

    def notes(self) -> list[str]:
        """See ``ReadQuestion``."""
        return self.read.notes()

    told = _renamed("sentence_count", "told")
    skipped = _renamed("beyond_memory", "skipped")
    left_out = _renamed("omitted", "left_out")
    read_as = _renamed("substituted", "read_as")
    untold = _renamed("unmentioned", "untold")
    guess = _renamed("is_guess", "guess")


def _sentences(places: Sized) -> str:
    return f"{len(places)} sentence{'s' * (len(places) != 1)}"


def _were(things: Sized) -> str:
    return "was" if len(things) == 1 else "were"
