"""What people write, as a network can read it: shared by answers, explanations, tests, the page and the API.

A text becomes sentences; an unknown name is read as an unused known name of its kind; a sentence the network cannot
read is omitted, because it would disturb every answer; and of the rest the last sentences are read, as many as the
network was trained for. ``ReadQuestion`` says what was done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from query_reduction.errors import InputError
from query_reduction.names import Coreference, KnownReading, Meanings, NameReaders
from query_reduction.names.symbols import NameSpans, as_symbols, name_spans
from query_reduction.reading.question import ReadQuestion
from query_reduction.text.pronouns import PERSONAL, POSSESSIVE, pronouns
from query_reduction.text.sentences import split_sentences
from query_reduction.text.short_texts import remember_short
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Sentence, Vocabulary
from query_reduction.text.word_pairs import WordPairs
from query_reduction.text.words import without_possessive

__all__ = ["Reader", "as_sentences", "check_question"]

_UNKNOWN_SHARE = 0.25
"""A sentence is read if at most this share of its words is unknown, or only one word."""
_SPREAD = 3
"""If new words are common even in training, a sentence may have this many times their share in addition."""
_MOST_UNKNOWN = 0.75
"""With this share of unknown words a sentence is never read."""
_MOST_WORDS = 2000
"""Sentences of more words are never read: a batch gives every sentence as many places as the longest needs."""
_TEXTS_KEPT = 1 << 15
"""The number of texts that are cut into words once and remembered."""
_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Seen:
    """A text, and whether it is read just as it is written."""

    sentence: Sentence
    readable: bool
    """Whether enough of it is known for a sentence."""

    @property
    def familiar(self) -> bool:
        return self.readable and not self.sentence.unknown


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
    symbols: bool = False
    """Whether names are numbered anew in every story."""
    spans: NameSpans = name_spans
    """Which words are names, if so."""
    coreference: Coreference | None = None
    """The names that pronouns stand for."""
    meanings: Meanings | None = None
    """Words that the vocabulary does not have, and those that they are like."""

    def read(self, story: Sequence[str], question: str) -> ReadQuestion:
        """Sentences and a question, made readable."""
        story = tuple(story)
        if self.symbols:
            return self._in_symbols(story, question)
        if self.meanings is None:
            return self._in_names(story, question)
        worded = list(map(self.meanings.read, (*story, question)))
        *texts, asked = [text for text, _ in worded]
        alike = dict.fromkeys((word, f"a word like {known}") for _, replaced in worded for word, known in replaced)
        read = self._in_names(tuple(texts), asked)
        return replace(read, story=story, question=question, substituted=(*read.substituted, *alike))

    def _in_names(self, story: tuple[str, ...], question: str) -> ReadQuestion:
        """Known names in place of unknown ones, and names in place of pronouns."""
        seen = [*map(self._seen, self._resolved(story))]
        sentences, asked = [one.sentence for one in seen], self._seen(question).sentence
        every = tuple(range(len(story)))
        if self.reads_all or (not asked.unknown and all(one.familiar for one in seen)):
            return self._read(story, question, sentences, asked, every, assumed=self._assumed(story))
        unknown = dict.fromkeys([word for sentence in (*sentences, asked) for word in sentence.unknown])
        named = self.names.read(story, question) if unknown and self.names else None
        known = dict(zip(every, self._renamed(named) if named else sentences, strict=True))
        taken = frozenset(word for name in named.crowded for word in name.split()) if named else _NO_NAMES
        kept = [place for place, sentence in known.items() if self._readable(sentence, taken)]
        if named and self.names and len(kept) < len(story):
            # Again: sentences that are not read may have taken names that others need.
            named = self.names.read([story[place] for place in kept], question)
            known = dict(zip(kept, self._renamed(named), strict=True))
        if named:
            kept = [place for place in kept if self._seen(known[place].text).readable]
        if story and not kept:
            return self._read(story, question, sentences, asked, every, tuple(unknown), is_guess=True)
        return self._read(
            story,
            question,
            [known[place] for place in kept],
            self.sentence(named.question) if named else asked,
            tuple(kept),
            _still_unknown(unknown, named),
            named,
            assumed=self._assumed(named.sentences if named else story, named),
        )

    def _renamed(self, named: KnownReading) -> list[Sentence]:
        return [self.sentence(text) for text in self._resolved(named.sentences, named.names)]

    def _resolved(self, sentences: Sequence[str], strangers: Collection[str] = ()) -> Sequence[str]:
        """The sentences with names in place of the pronouns that stand for them."""
        return self.coreference.resolved(sentences, strangers) if self.coreference else sentences

    def _assumed(self, sentences: Sequence[str], named: KnownReading | None = None) -> tuple[tuple[str, str], ...]:
        """Pronouns and the names they were read as, each pair once."""
        if self.coreference is None:
            return ()
        names = named.names if named else {}
        pairs = [
            (word, names.get(unit, self.coreference.name(unit)))
            for _, word, unit in self.coreference.assumed(sentences, names)
        ]
        return tuple(dict.fromkeys(pairs))

    def _in_symbols(self, story: tuple[str, ...], question: str) -> ReadQuestion:
        """Every sentence with symbols for names."""
        named = as_symbols(story, question, self.spans)
        sentences, asked = list(map(self.sentence, named.sentences)), self.sentence(named.question)
        unknown = dict.fromkeys([word for sentence in (*sentences, asked) for word in sentence.unknown])
        return self._read(story, question, sentences, asked, tuple(range(len(story))), tuple(unknown), named)

    def _read(
        self,
        story: tuple[str, ...],
        question: str,
        sentences: Sequence[Sentence],
        asked: Sentence,
        kept: tuple[int, ...],
        unknown: tuple[str, ...] | None = None,
        named: KnownReading | None = None,
        *,
        assumed: tuple[tuple[str, str], ...] = (),
        is_guess: bool = False,
    ) -> ReadQuestion:
        """All that was read. Without ``unknown`` the story is read as it is written."""
        for number, sentence in enumerate((asked, *sentences)):
            if len(sentence.ids) > _MOST_WORDS:
                which = f"sentence {kept[number - 1] + 1}" if number else "the question"
                raise InputError(f"{which} has {len(sentence.ids)} words, and at most {_MOST_WORDS} can be read")
        beyond = max(0, len(sentences) - self.memory) if self.memory else 0
        unmentioned: tuple[str, ...] = ()
        if unknown is not None and not is_guess:
            unmentioned = (*_unmentioned(named, sentences[beyond:]), *self._unknown_pronouns(asked, PERSONAL))
        if self.names and not is_guess:
            known = self.names.untold([sentence.text for sentence in sentences[beyond:]], asked.text)
            unmentioned += tuple([name for name in known if not named or name.lower() not in named.names])
        omitted = tuple(sorted(set(range(len(story))).difference(kept))) if len(kept) < len(story) else ()
        return ReadQuestion(
            story=story,
            question=question,
            sentence_count=len(story),
            sentences=tuple(sentences),
            asked=asked,
            kept=kept,
            beyond_memory=beyond,
            omitted=omitted,
            substituted=(*(self._substituted(named, self.names) if named and self.names else ()), *assumed),
            unknown_words=asked.unknown if unknown is None else unknown,
            unmentioned=unmentioned,
            is_guess=is_guess,
            names=named,
        )

    def reads(self, text: str) -> bool:
        """Whether it reads a sentence, all alone: its names are not replaced by known ones."""
        return self.reads_all or self._seen(text).readable

    def sentence(self, text: str) -> Sentence:
        """A text with its words and their numbers."""
        return self._seen(text).sentence

    @cached_property
    def _seen(self) -> Callable[[str], _Seen]:
        """Stories repeat their sentences, so each is looked at once."""

        def seen(text: str) -> _Seen:
            sentence = self.vocabulary.sentence(text)
            return _Seen(sentence, self._readable(sentence))

        return remember_short(seen, _TEXTS_KEPT)

    def reads_as_told(self, stories: Iterable[Story]) -> bool:
        """Whether it reads every sentence and question of some stories just as it is written."""
        if self.symbols:
            return False
        return self.reads_all or all(
            all(self._seen(text).familiar for text in story.sentences)
            and not any(self.sentence(question.text).unknown for question in story.questions)
            for story in stories
        )

    def _readable(self, sentence: Sentence, names: Collection[str] = _NO_NAMES) -> bool:
        """Whether enough of a sentence's words are known, and in a known order, and it says whom it is about.

        The words of ``names`` count as known, and may stand anywhere.
        """
        if len(sentence.ids) > _MOST_WORDS:
            return False
        unknown = sentence.ids.count(UNKNOWN_WORD)
        named = sum([_name(word) in names for word in sentence.unknown]) if unknown and names else 0
        unknown -= named
        usual = _UNKNOWN_SHARE + _SPREAD * self.unseen_share
        if unknown >= _MOST_UNKNOWN * len(sentence.ids) or unknown > max(1.0, usual * len(sentence.ids)):
            return False
        if self.pairs is not None and not named and not self.pairs.allow(sentence.ids):
            return False
        return not unknown or all(word in names for word in self._unknown_pronouns(sentence, PERSONAL | POSSESSIVE))

    def _unknown_pronouns(self, sentence: Sentence, among: Collection[str]) -> list[str]:
        """The pronouns of a text that are unknown, in lower case."""
        if not sentence.unknown:
            return []
        parts = {part for word in sentence.unknown for part in word.lower().replace("’", "'").split("'")}  # she's
        if parts.isdisjoint(among):
            return []
        standing = dict.fromkeys([word[0].lower() for word in pronouns(sentence.text)])
        return [word for word in standing if word in among and word in parts]

    def _substituted(self, named: KnownReading, names: NameReaders) -> tuple[tuple[str, str], ...]:
        written = names.written
        return tuple([(name, self._like(written.get(unit, unit))) for unit, name in named.names.items()])

    def _like(self, known: str) -> str:
        """How a replacement is described: a capitalised or queried word is a name, other words may not be."""
        name = known[0].isupper() or self.vocabulary.answer_number(known) >= 0
        return f"a {'name' if name else 'word'} like {known}"


def as_sentences(story: str | Sequence[str]) -> list[str]:
    """The sentences of a text, or of several texts, each of one or more sentences; none at all is an error."""
    texts = [story] if isinstance(story, str) else story
    sentences = [sentence for text in texts for sentence in split_sentences(text)]
    if not sentences:
        raise InputError("story: it has no sentences")
    return sentences


def check_question(question: str) -> None:
    """Raise an error if nothing is asked."""
    if not question.strip():
        raise InputError("question: it is empty")


def _unmentioned(named: KnownReading | None, sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """The new names of the question that are in none of these sentences."""
    if named is None or not named.names:
        return ()
    told = "\n".join([sentence.text for sentence in sentences]).lower()
    asked = [unit for unit in named.names if re.search(rf"\b{re.escape(unit)}\b", named.question.lower())]
    return tuple([named.names[unit] for unit in asked if not re.search(rf"\b{re.escape(unit)}\b", told)])


def _still_unknown(unknown: Iterable[str], named: KnownReading | None) -> tuple[str, ...]:
    """The unknown words that were not read as a known name; Benjamin's was if Benjamin was."""
    placed = {_name(word) for name in (named.names.values() if named else ()) for word in (name, *name.split())}
    return tuple([word for word in unknown if _name(word) not in placed])


def _name(word: str) -> str:
    return without_possessive(word).lower()
