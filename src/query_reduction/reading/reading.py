"""What people write, as a network can read it: shared by answers, explanations, tests, the page and the API.

A text becomes sentences; an unknown name is read as an unused known name of its kind; a sentence the network cannot
read is skipped, because it would disturb every answer; and of the rest the last sentences are read, as many as the
network was trained for. ``Reading`` says what was done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypedDict

from query_reduction.errors import InputError
from query_reduction.names import Coreference, KnownReading, Meanings, NameReaders
from query_reduction.text.pronouns import PERSONAL, POSSESSIVE, pronouns
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary
from query_reduction.text.word_pairs import WordPairs

__all__ = ["Reader", "Reading", "Understood", "as_sentences", "check_asked"]

_UNKNOWN_SHARE = 0.25
"""A sentence is read if at most this share of its words is unknown, or only one word."""
_SPREAD = 3
"""If new words are common even in training, a sentence may have this many times their share in addition."""
_MOST_UNKNOWN = 0.75
"""With this share of unknown words a sentence is never read."""
_MOST_LISTED = 10
_TEXTS_KEPT = 1 << 15
"""The number of texts of which it is remembered whether all their words are known."""


class ReadingFields(TypedDict):
    """The fields of ``Reading``."""

    told: int
    skipped: int
    left_out: tuple[int, ...]
    read_as: tuple[tuple[str, str], ...]
    unknown_words: tuple[str, ...]
    untold: tuple[str, ...]
    guess: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a story was prepared for the network."""

    told: int = 0
    """Sentences of the story."""
    skipped: int = 0
    """Readable sentences at its start that were not read, being further back than the network's memory."""
    left_out: tuple[int, ...] = ()
    """Positions (from 0) of the sentences that could not be read."""
    read_as: tuple[tuple[str, str], ...] = ()
    """Unknown names, each with what it was read as: ``("Zoë", "a name like Mary")``; pronouns with the name they were
    taken for: ``("she", "Mary")``."""
    unknown_words: tuple[str, ...] = ()
    """All other words of story and question that the model never saw in training: they mean nothing to it."""
    untold: tuple[str, ...] = ()
    """New names and pronouns in the question that no sentence has that was read."""
    guess: bool = False
    """No sentence could be read, so all were read as they are: the answer is a guess."""

    def fields(self) -> ReadingFields:
        """These fields as keyword arguments for an answer or a trace."""
        return {
            "told": self.told,
            "skipped": self.skipped,
            "left_out": self.left_out,
            "read_as": self.read_as,
            "unknown_words": self.unknown_words,
            "untold": self.untold,
            "guess": self.guess,
        }

    def notes(self) -> list[str]:
        """What the user should know about it, one line per item."""
        lines = [f"{name} read as {known}" for name, known in self.read_as]
        if self.unknown_words:
            more = len(self.unknown_words) - _MOST_LISTED
            listed = ", ".join(self.unknown_words[:_MOST_LISTED])
            lines.append(f"unknown words, ignored: {listed}{f' and {more} more' if more > 0 else ''}")
        if self.left_out:
            lines.append(f"{_sentences(len(self.left_out))} could not be read and {_were(self.left_out)} left out")
        lines += [f"{name} is in no sentence that was read: the answer is a guess" for name in self.untold]
        if self.guess:
            lines.append("no sentence could be read: the answer is a guess")
        if self.skipped:
            readable = self.told - len(self.left_out)
            which = "readable sentences" if self.left_out else "sentences"
            lines.append(
                f"read the last {readable - self.skipped} of {readable} {which}: the model was trained to read no more"
            )
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood(Reading):
    """A story and a question as they were written, and as the network reads them."""

    story: tuple[str, ...]
    """All sentences, as they were written."""
    asked: str
    """The question, as it was written."""
    kept: tuple[int, ...]
    """Positions of the sentences that can be read."""
    sentences: tuple[str, ...]
    """Those, as the network reads them."""
    question: str
    """The question, as it reads it."""
    names: KnownReading | None = None

    def as_story(self, question: Question | None = None) -> Story:
        """All that can be read, with the answer and the facts of ``question`` where they are known."""
        answer = question.answer if question else ""
        support = question.support if question else ()
        facts: tuple[int, ...] = ()
        if support:
            place = {position: number for number, position in enumerate(self.kept)}
            facts = tuple(place[fact] for fact in support if fact in place)
        if self.names is not None:
            answer = self.names.in_known_names(answer)
        return Story(self.sentences, (Question(self.question, answer, len(self.sentences), facts),))

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of the sentences within memory: those that are read."""
        return self.kept[self.skipped :]

    def name_back(self, answer: str) -> str:
        """An answer of the network in the names of the story."""
        return self.names.name_back(answer) if self.names is not None else answer

    def in_own_names(self, text: str) -> str:
        """Words of the network in the names of the story."""
        names = self.names.names if self.names is not None else {}
        if not names:
            return text
        known = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b", re.IGNORECASE)
        return known.sub(lambda found: names[found[0].lower()], text)


@dataclass(frozen=True)
class Reader:
    """How a model reads what people write."""

    vocabulary: Vocabulary
    names: NameReaders | None
    memory: int
    unseen_share: float
    """The expected share of words in a text that training does not have (0 for small worlds)."""
    reads_all: bool = False
    """Whether every sentence is read as it is written."""
    pairs: WordPairs | None = None
    """The words that may follow each other in a sentence, where training tells."""
    coreference: Coreference | None = None
    """The names that pronouns stand for."""
    meanings: Meanings | None = None
    """Words that the vocabulary does not have, and those that they are like."""

    def understand(self, told: Sequence[str], question: str) -> Understood:
        """Sentences and a question, made readable."""
        if self.meanings is None:
            return self._understand(tuple(told), question)
        read = list(map(self.meanings.read, (*told, question)))
        *worded, asked = [text for text, _ in read]
        like = dict.fromkeys((word, f"a word like {known}") for _, replaced in read for word, known in replaced)
        found = self._understand(tuple(worded), asked)
        return replace(found, story=tuple(told), asked=question, read_as=(*found.read_as, *like))

    def _understand(self, story: tuple[str, ...], question: str) -> Understood:
        plainly = self._resolved(story)
        if self.reads_all:
            return replace(self._as_written(story, plainly, question), unknown_words=self._unknown(question))
        if all(map(self._familiar, plainly)) and self._all_known(question):
            return self._as_written(story, plainly, question)
        unknown = self.vocabulary.unknown_words([*plainly, question])
        named = self.names.read(story, question) if unknown and self.names else None
        taken = named.crowded if named else ()
        texts = dict(enumerate(self._resolved(named.sentences, named.names) if named else plainly))
        kept = [place for place, text in texts.items() if self._readable(text, known=taken)]
        if named and self.names and len(kept) < len(story):
            # Again: sentences that are not read may have taken names that others need.
            named = self.names.read([story[place] for place in kept], question)
            texts = dict(zip(kept, self._resolved(named.sentences, named.names), strict=True))
        if named:
            kept = [place for place in kept if self._readable(texts[place])]
        guess = bool(story) and not kept
        if guess:
            kept, texts, named = list(range(len(story))), dict(enumerate(plainly)), None
        if named:
            unknown = _still_unknown(unknown, named)
        skipped = max(0, len(kept) - self.memory) if self.memory else 0
        asked = named.question if named else question
        untold = _untold(named, [texts[place] for place in kept[skipped:]])
        return Understood(
            told=len(story),
            skipped=skipped,
            left_out=tuple(sorted(set(range(len(story))).difference(kept))),
            read_as=(*self._read_as(named), *self._assumed(named.sentences if named else story, named)),
            unknown_words=tuple(unknown),
            untold=untold if guess else (*untold, *self._unknown_pronouns(asked, PERSONAL)),
            guess=guess,
            story=story,
            asked=question,
            kept=tuple(kept),
            sentences=tuple(texts[place] for place in kept),
            question=asked,
            names=named,
        )

    def reads(self, text: str) -> bool:
        """Whether it reads a sentence, all alone: its names are not replaced by known ones."""
        return self.reads_all or self._readable(text)

    @cached_property
    def _familiar(self) -> Callable[[str], bool]:
        """Whether a sentence is read as it is written; stories repeat their sentences, so each is looked at once."""

        def familiar(sentence: str) -> bool:
            return self._readable(sentence) and self._all_known(sentence)

        return lru_cache(_TEXTS_KEPT)(familiar)

    @cached_property
    def _all_known(self) -> Callable[[str], bool]:
        """Whether all words of a text are known."""
        return lru_cache(_TEXTS_KEPT)(lambda text: not self.vocabulary.unknown_words([text]))

    def reads_as_told(self, stories: Iterable[Story]) -> bool:
        """Whether it reads every sentence and question of some stories just as it is written."""
        return self.reads_all or all(
            all(map(self._familiar, story.sentences)) and all(self._all_known(asked.text) for asked in story.questions)
            for story in stories
        )

    def _unknown(self, question: str) -> tuple[str, ...]:
        return tuple(self.vocabulary.unknown_words([question]))

    def _resolved(self, sentences: Sequence[str], strangers: Collection[str] = ()) -> tuple[str, ...]:
        return self.coreference.resolved(sentences, strangers) if self.coreference else tuple(sentences)

    def _assumed(self, sentences: Sequence[str], named: KnownReading | None = None) -> tuple[tuple[str, str], ...]:
        """Pronouns and the names they were read as, each pair once."""
        if self.coreference is None:
            return ()
        own = named.names if named else {}
        pairs = [
            (word, own.get(unit, self.coreference.name(unit)))
            for _, word, unit in self.coreference.assumed(sentences, own)
        ]
        return tuple(dict.fromkeys(pairs))

    def _as_written(self, story: tuple[str, ...], read: tuple[str, ...], question: str) -> Understood:
        return Understood(
            told=len(story),
            skipped=max(0, len(story) - self.memory) if self.memory else 0,
            read_as=self._assumed(story),
            story=story,
            asked=question,
            kept=tuple(range(len(story))),
            sentences=read,
            question=question,
        )

    def _readable(self, text: str, *, known: Collection[str] = ()) -> bool:
        """Whether enough of a sentence's words are known, and in a known order, and it says whom it is about.

        ``known`` are names that count as such, and may stand anywhere.
        """
        numbers = self.vocabulary.numbers(text)
        unknown = numbers.count(UNKNOWN_WORD)
        named = 0
        words = {word for name in known for word in name.split()}
        if unknown and words:
            named = sum(word.lower() in words for word in self.vocabulary.unknown_words([text]))
            unknown -= named
        usual = _UNKNOWN_SHARE + _SPREAD * self.unseen_share
        if unknown >= _MOST_UNKNOWN * len(numbers) or unknown > max(1.0, usual * len(numbers)):
            return False
        if self.pairs is not None and not named and not self.pairs.allow(numbers):
            return False
        return not unknown or words.issuperset(self._unknown_pronouns(text, PERSONAL | POSSESSIVE))

    def _unknown_pronouns(self, text: str, among: Collection[str]) -> list[str]:
        """The pronouns of a text that are unknown, in lower case."""
        found = [word[0].lower() for word in pronouns(text) if word[0].lower() in among]
        unknown = self.vocabulary.unknown_words([text]) if found else ()
        parts = {part for word in unknown for part in word.lower().replace("’", "'").split("'")}  # she's
        return [word for word in dict.fromkeys(found) if word in parts]

    def _read_as(self, named: KnownReading | None) -> tuple[tuple[str, str], ...]:
        if named is None or self.names is None:
            return ()
        written = self.names.written
        return tuple((name, self._like(written.get(unit, unit))) for unit, name in named.names.items())

    def _like(self, known: str) -> str:
        """How a replacement is described: a capitalised or queried word is a name, other words may not be."""
        name = known[0].isupper() or self.vocabulary.answer_number(known) >= 0
        return f"a {'name' if name else 'word'} like {known}"


def as_sentences(story: str | Sequence[str]) -> list[str]:
    """The sentences of a text, or of several texts, each of one or more sentences."""
    texts = [story] if isinstance(story, str) else story
    return [sentence for text in texts for sentence in split_sentences(text)]


def check_asked(story: str | Sequence[str], question: str) -> None:
    """Raise an error if there is nothing to read or nothing is asked."""
    if not any(map(split_sentences, [story] if isinstance(story, str) else story)):
        raise InputError("story: it has no sentences")
    if not question.strip():
        raise InputError("question: it is empty")


def _sentences(count: int) -> str:
    return f"{count} sentence{'s' * (count != 1)}"


def _were(things: Collection[object]) -> str:
    return "was" if len(things) == 1 else "were"


def _untold(named: KnownReading | None, sentences: Sequence[str]) -> tuple[str, ...]:
    if named is None:
        return ()
    told = "\n".join(sentences).lower()
    asked = (unit for unit in named.names if re.search(rf"\b{re.escape(unit)}\b", named.question.lower()))
    return tuple(named.names[unit] for unit in asked if not re.search(rf"\b{re.escape(unit)}\b", told))


def _still_unknown(unknown: Sequence[str], named: KnownReading) -> list[str]:
    placed = {word.lower() for name in named.names.values() for word in (name, *name.split())}
    return [word for word in unknown if word.lower() not in placed]
