"""Story tasks: a story, a question about it, and one of the answers seen in training."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.softmax import best, softmax
from query_reduction.names import Coreference, Frames, Meanings, NameReaders, Symmetries, SymmetriesByTask
from query_reduction.names.spans import spans_by
from query_reduction.names.symbols import NameSpans, as_symbols, symbols
from query_reduction.network import Floats, Network
from query_reduction.reading.answers import answered_right, error_by_task, percent_wrong
from query_reduction.reading.calibration import Calibration
from query_reduction.reading.protocol import Given, Parts, Progress, Scores, Task
from query_reduction.reading.question import HasRead, ReadQuestion
from query_reduction.reading.reading import Reader, as_sentences, check_question
from query_reduction.settings import Added, Between, as_json, check, from_json
from query_reduction.text.encoding import EncodedQuestions, encode_read, encode_stories
from query_reduction.text.sentences import split_story
from query_reduction.text.stories import Story
from query_reduction.text.vectors import WordVectors
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary, case_matters, split_words
from query_reduction.text.word_pairs import WordPairs

if TYPE_CHECKING:
    from jaxtyping import Float

__all__ = [
    "Answer",
    "Ranked",
    "StoryOptions",
    "StoryParts",
    "StoryTask",
    "answer_of",
    "rank",
    "ranked_as_json",
]

_SHOWN = 4
"""How many answers are given: the best one and its runners-up."""
_BATCH = 256
_COMMON = 3
"""A word of the haystack is known if so many of its sentences have it: the rest teach what an unknown word is."""
_TOLD_AGAIN = 10
"""How often stories are retold in other words to collect all possible words and answers."""


@dataclass(frozen=True, slots=True)
class StoryOptions:
    """How stories are read."""

    memory: Annotated[int, Between(0, 10_000_000)] = 50
    """Read only this many of a story's last sentences; 0 reads all."""
    vocabulary: Literal["train", "all"] = "train"
    """Words from the training part only, or from all parts as in the original."""
    writing: Literal["exact", "any"] = "exact"
    """exact = words are distinguished exactly as written; any = case and Unicode forms make no difference unless the
    training part distinguishes words by them, symbols such as emoji are words, and a line of several sentences is
    split."""
    symmetries: bool = False
    """Discover which words are interchangeable without making an answer false, so that stories can be retold in
    other words (see --copies)."""
    symmetry_seconds: Annotated[float, Between(1, 1e6)] = 300.0
    """Seconds of computing that looking for interchangeable words may take; what was not looked at is said."""
    prose: Annotated[bool, Added()] = False
    """Read "she" as the last name before it of the kind that stands in such places, and a sentence that tells two
    facts as two (needs --symmetries)."""
    unreadable: Literal["left-out", "read"] = "left-out"
    """left-out = unknown names are read as known ones, and a sentence of too many unknown words, or of known words in
    an order that training does not have, is not read, because it would disturb every answer; read = every sentence is
    read as it is written, by a network that was trained to find its facts in any text (see --haystack)."""

    names: Literal["words", "symbols"] = "words"
    """words = a name is a word like any other; symbols = names are numbered anew in every story, so that a network
    knows no name and can be asked about any."""
    name_list: str = ""
    """Names that symbols stand for, one on each line, forms of a name with tabs between them (--name-file reads them
    from a file). Otherwise names are what --symmetries finds questions to ask about, or words in brackets or with a
    capital letter."""

    def __post_init__(self) -> None:
        check(self)


Ranked = tuple[tuple[str, float], ...]
"""Answers with their probabilities, best first."""


@dataclass(frozen=True, slots=True)
class Answer(HasRead):
    """An answer in words, how sure the model is, and what it read."""

    text: str
    confidence: float
    """How likely the answer is right, from 0 to 1, learned from development questions and lowered by what could not be
    read."""
    runners_up: Ranked
    """The next-best answers with their probabilities."""
    read: ReadQuestion = field(default_factory=ReadQuestion)
    """The story and the question as they were read."""
    doubts: tuple[str, ...] = ()
    """Why the answer may be wrong, if it is more likely wrong than right: then "I don't know" is the honest answer,
    and ``text`` is the best guess."""

    @property
    def declined(self) -> bool:
        """Whether the honest answer is "I don't know"."""
        return bool(self.doubts)

    @property
    def ranked(self) -> Ranked:
        """The answer and the next-best ones, with their probabilities."""
        return ((self.text, self.confidence), *self.runners_up)

    def as_json(self) -> dict[str, Any]:
        """The answer as it is written wherever it is JSON: by the command line, the server and traces."""
        return {
            "answer": self.text,
            "confidence": round(self.confidence, 6),
            "declined": self.declined,
            "doubts": list(self.doubts),
            "runners_up": ranked_as_json(self.runners_up),
            **self.read.as_json(),
        }


def answer_of(ranked: Ranked, read: ReadQuestion, calibration: Calibration) -> Answer:
    """The answer to a question that was read, of the network's best answers, in the names of the story."""
    named = [(read.name_back(answer), probability) for answer, probability in ranked]
    (text, confidence), *others = calibration.ranked(named, read)
    return Answer(text, confidence, tuple(others), read, calibration.doubts(confidence, read))


def ranked_as_json(ranked: Ranked) -> list[dict[str, Any]]:
    """Answers with their probabilities as plain values."""
    return [{"answer": answer, "probability": round(probability, 6)} for answer, probability in ranked]


def rank(scores: Float[Floats, "batch answer"], names: Sequence[str], shown: int = _SHOWN) -> list[Ranked]:
    """For each row of scores its best answers with their probabilities."""
    shares = softmax(scores)
    highest = best(shares, shown)
    values = np.take_along_axis(shares, highest, axis=1)
    return [
        tuple([(names[place], value) for place, value in zip(*row, strict=True)])
        for row in zip(highest.tolist(), values.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class StoryTask(Task):
    """What a model keeps of a story task: its vocabulary, and which words are interchangeable."""

    kind: ClassVar[str] = "stories"

    vocabulary: Vocabulary
    options: StoryOptions
    symmetries: SymmetriesByTask | None = None
    unseen_share: float = 0.0
    """The expected share of words in a text that training does not have."""
    pairs: WordPairs | None = None
    """The words that follow each other in its sentences, if these have few forms."""
    calibration: Calibration = field(default_factory=Calibration)
    """What the network's probabilities are worth."""
    coreference: Coreference | None = None
    """The names that pronouns stand for."""
    frames: Frames | None = None
    """Its sentences without names: they tell where one of two facts is cut."""
    meanings: Meanings | None = None
    """Words that it does not have, and those that they are like."""

    @property
    def head(self) -> HeadConfig:
        """One classifier of whole answers."""
        return HeadConfig("answers")

    @cached_property
    def reader(self) -> Reader:
        """How it reads what people write."""
        reads_all = self.options.unreadable == "read"
        names = NameReaders(self.symmetries, self.vocabulary.words) if self.symmetries and not reads_all else None
        return Reader(
            self.vocabulary,
            names,
            self.options.memory,
            self.unseen_share,
            reads_all,
            self.pairs,
            self.options.names == "symbols",
            _spans(self.symmetries, self.options),
            self.coreference,
            self.meanings,
        )

    def read(self, story: str | Sequence[str], question: str) -> ReadQuestion:
        """A story (sentences, or texts of several) and a question as they are read."""
        check_question(question)
        return self.reader.read(self.facts(as_sentences(story)), question)

    def facts(self, sentences: Sequence[str]) -> Sequence[str]:
        """The sentences, those that tell two facts as two."""
        return sentences if self.frames is None else [fact for text in sentences for fact in self.frames.facts(text)]

    def _split(self, stories: Sequence[Story]) -> Sequence[Story]:
        """The stories sentence by sentence, fact by fact."""
        if self.options.writing == "exact":
            return stories
        return _cut(self.frames, [split_story(story) for story in stories])

    def as_read(self, stories: Sequence[Story]) -> list[Story]:
        """Stories as they are read, one per question: each question has its own renaming."""
        return [
            replace(
                self.reader.read(story.sentences[: question.after], question.text).as_story(question),
                task=story.task,
            )
            for story in stories
            for question in story.questions
        ]

    def encode(self, stories: Sequence[Story]) -> EncodedQuestions:
        """The questions of training and development as numbers; if there are unknown words, as ``as_read`` has them."""
        told = self._split(stories)
        if self.options.names == "symbols":
            return encode_stories(self.as_read(told), self.vocabulary, self.options.memory)
        encoded = encode_stories(_resolved(self.coreference, told), self.vocabulary, self.options.memory)
        if self.options.unreadable == "read" or not (encoded.sentences.numbers == UNKNOWN_WORD).any():
            return encoded
        return encode_stories(self.as_read(told), self.vocabulary, self.options.memory)

    def score(self, networks: Sequence[Network], stories: Sequence[Story]) -> list[Scores]:
        """The share of wrong answers, over all and by task.

        An answer never seen in training counts as wrong, unless it is a name that could be read as a known one.
        """
        told = self._split(stories)
        plainly = _resolved(self.coreference, told)
        read = plainly if self.reader.reads_as_told(plainly) else self.as_read(told)
        questions = encode_stories(read, self.vocabulary, self.options.memory)
        scores = []
        for network in networks:
            correct = answered_right(network, questions)
            error = percent_wrong(correct)
            scores.append(Scores(error, len(questions), {"answer": error_by_task(questions, correct) or {"": error}}))
        return scores

    def answer(self, network: Network, questions: Sequence[ReadQuestion]) -> list[Answer]:
        """Answer questions that were read, each about its own story, in one batch."""
        if not questions:
            return []
        encoded = encode_read([(read.within_memory, read.asked) for read in questions])
        ranked = rank(network.scores(encoded.batch(np.arange(len(questions)))), self.vocabulary.answers)
        return [answer_of(best, read, self.calibration) for best, read in zip(ranked, questions, strict=True)]

    def given(self, network: Network, stories: Sequence[Story]) -> list[Given]:
        """See ``Task``."""
        told = self._split(stories)
        asked = [(story.sentences[: question.after], question) for story in told for question in story.questions]
        read = [self.reader.read(sentences, question.text) for sentences, question in asked]
        right = [
            self.vocabulary.answer_number(each.in_known_names(question.answer))
            for each, (_, question) in zip(read, asked, strict=True)
        ]
        questions = encode_read([(each.within_memory, each.asked) for each in read], right)
        given, sure = np.zeros(len(questions), np.int64), np.zeros(len(questions))
        for part, batch in questions.batches(_BATCH):
            shares = softmax(network.scores(batch))
            given[part], sure[part] = shares.argmax(1), shares.max(1)
        return [
            Given(
                sentences,
                question,
                each.name_back(self.vocabulary.answers[number]),
                number == correct,
                self.calibration.confidence(probability, each),
            )
            for (sentences, question), each, number, correct, probability in zip(
                asked, read, given.tolist(), questions.answers.tolist(), sure.tolist(), strict=True
            )
        ]

    def describe(self) -> list[str]:
        """Which words are interchangeable."""
        if self.symmetries is None:
            return []
        return [
            *(self.symmetries.describe() or ["no interchangeable words were found"]),
            *self.symmetries.not_examined(),
        ]

    def retell(self, stories: Sequence[Story]) -> Callable[[random.Random], Sequence[Story]]:
        """A function that gives the stories again, each with its own renaming."""
        if self.symmetries is None:
            raise InputError("copies has no effect without symmetries")
        return self.symmetries.retelling(_resolved(self.coreference, self._split(stories)))

    def extended(self, stories: Sequence[Story]) -> StoryTask:
        """See ``Task``."""
        told = _resolved(self.coreference, self._split(stories))
        if self.symmetries is not None:
            told += _retold(self.symmetries, told)
        vocabulary = self.vocabulary.extended(told)
        pairs = WordPairs.of_stories(told, vocabulary) if self.pairs else None
        if self.pairs and pairs:
            pairs = WordPairs(self.pairs.known | pairs.known)
        return replace(self, vocabulary=vocabulary, pairs=pairs)

    def as_json(self) -> dict[str, Any]:
        """See ``Task``."""
        found = self.symmetries.as_json() if self.symmetries else None
        pairs = self.pairs.as_json() if self.pairs else None
        learned = {"pronouns": self.coreference, "frames": self.frames, "meanings": self.meanings}
        return {
            "options": as_json(self.options),
            "symmetries": found,
            "unseen_share": self.unseen_share,
            "pairs": pairs,
            "calibration": self.calibration.as_json(),
            **{name: part.as_json() for name, part in learned.items() if part is not None},
        }

    @staticmethod
    def from_json(values: Mapping[str, Any], vocabulary: Vocabulary) -> StoryTask:
        """The inverse of ``as_json``."""
        found = values["symmetries"]
        symmetries = None if found is None else SymmetriesByTask.from_json(found)
        unseen_share = values.get("unseen_share", 0.0)
        if type(unseen_share) not in (int, float) or not 0 <= unseen_share <= 1:
            raise InputError("unseen_share must be a number from 0 to 1")
        pairs, pronouns, told, alike = (values.get(name) for name in ("pairs", "pronouns", "frames", "meanings"))
        only = next(iter(symmetries.of_task.values())) if symmetries else Symmetries()
        frames = None if told is None else Frames.from_json(told, only)
        return StoryTask(
            vocabulary,
            from_json(StoryOptions, values["options"]),
            symmetries,
            unseen_share,
            None if pairs is None else WordPairs.from_json(pairs, vocabulary.size),
            Calibration.from_json(values.get("calibration", {})),
            None if pronouns is None else Coreference.from_json(pronouns, only.written),
            frames,
            None if alike is None or frames is None else Meanings.from_json(alike, frames, vocabulary),
        )


@dataclass(frozen=True)
class StoryParts(Parts):
    """Stories in parts."""

    kind: ClassVar[str] = "stories"
    options_type: ClassVar[type] = StoryOptions

    haystack: Sequence[str] = ()
    """Sentences in which stories are hidden in training; they tell nothing about any question."""
    nearest: int = 0
    """How many words of ``vectors`` are read as each known word that they are like."""

    def learn(self, options: StoryOptions, train: Sequence[Story], progress: Progress | None = None) -> StoryTask:
        """The words and answers of the training part (or of all parts), and its symmetries if requested."""
        known = [*self.train] if options.vocabulary == "train" else [*self.train, *self.dev, *self.test]
        any_writing = options.writing == "any"
        if any_writing:
            known, train = ([split_story(story) for story in stories] for stories in (known, train))
        symmetries = coreference = frames = meanings = None
        told_again: list[Story] = []
        if options.prose and not (options.symmetries and any_writing):
            raise InputError("prose has no effect without symmetries and writing=any")
        if options.symmetries:
            symmetries = SymmetriesByTask.discovered(train, options.symmetry_seconds, progress)
            if options.prose and len(symmetries.of_task) == 1:
                only = next(iter(symmetries.of_task.values()))
                coreference = Coreference.learned(only, train)
                if coreference is not None and coreference.misled(only):
                    resolved = _resolved(coreference, train)
                    symmetries = SymmetriesByTask.discovered(resolved, options.symmetry_seconds, progress)
                    only = next(iter(symmetries.of_task.values()))
                frames = Frames.learned(only, _resolved(coreference, train))
                known, train = (_resolved(coreference, _cut(frames, stories)) for stories in (known, train))
            told_again = _retold(symmetries, train)
        if options.names == "symbols":
            spans = _spans(symmetries, options)
            known, train, told_again = (list(_in_symbols(stories, spans)) for stories in (known, train, told_again))
        unseen_share = _unseen_share(train)
        fold_case = any_writing and not case_matters(known)
        known = [*known, *told_again]
        vocabulary = Vocabulary.from_stories(
            known,
            "text" if any_writing else "words",
            fold_case=fold_case,
            phrases=symmetries.phrases if symmetries else (),
        ).with_words_of(self.haystack, _COMMON)
        if options.names == "symbols":
            vocabulary = vocabulary.with_words_of(symbols(), 1)
        # Settings of the paper read words exactly as they are written, and every sentence of known words.
        ordered = any_writing and options.unreadable == "left-out"
        pairs = WordPairs.of_stories(train, vocabulary, more=told_again) if ordered else None
        if self.vectors is not None and self.nearest:
            if frames is None:
                raise InputError("the nearest words of --vectors are read where known ones stand: that needs --prose")
            meanings = Meanings.learned(self.vectors, self.nearest, frames, vocabulary, train)
        return StoryTask(
            vocabulary,
            options,
            symmetries,
            unseen_share,
            pairs,
            coreference=coreference,
            frames=frames,
            meanings=meanings,
        )

    def hidden_in(self, haystack: Sequence[str]) -> StoryParts:
        """See ``Parts``."""
        return replace(self, haystack=tuple(haystack))

    def with_vectors(self, vectors: WordVectors, nearest: int = 0) -> StoryParts:
        """See ``Parts``."""
        return replace(self, vectors=vectors, nearest=nearest)

    def more_content(self) -> Iterator[str]:
        """See ``Parts``."""
        yield from self.haystack


def _cut(frames: Frames | None, stories: Sequence[Story]) -> list[Story]:
    """Stories with every sentence of two facts as two."""
    return list(stories) if frames is None else [split_story(story, frames.facts) for story in stories]


def _resolved(coreference: Coreference | None, stories: Sequence[Story]) -> list[Story]:
    """Stories with names in place of the pronouns that stand for them."""
    if coreference is None:
        return list(stories)
    return [replace(story, sentences=coreference.resolved(story.sentences)) for story in stories]


def _spans(symmetries: SymmetriesByTask | None, options: StoryOptions) -> NameSpans:
    """Which words are names: those discovered, those given, or by their letters."""
    return spans_by(symmetries.only if symmetries else None, options.name_list.splitlines())


def _in_symbols(stories: Iterable[Story], spans: NameSpans) -> Iterator[Story]:
    """Stories with symbols for names, one per question."""
    for story in stories:
        for question in story.questions:
            named = as_symbols(story.sentences[: question.after], question.text, spans)
            asked = replace(question, text=named.question, answer=named.in_known_names(question.answer))
            yield replace(story, sentences=named.sentences, questions=(asked,))


def _retold(symmetries: SymmetriesByTask, stories: Sequence[Story]) -> list[Story]:
    """Renaming can produce answers and capitals that no story has: a vocabulary must include them."""
    retold, chance = symmetries.retelling(stories), random.Random(0)
    return [story for _ in range(_TOLD_AGAIN) for story in retold(chance)]


def _unseen_share(stories: Iterable[Story]) -> float:
    """The share of unseen words to expect in new texts, by Good and Turing: that of words seen only once."""
    texts = {text for story in stories for text in (*story.sentences, *(asked.text for asked in story.questions))}
    words = Counter(word.lower() for text in texts for word in split_words(text, "text"))
    return sum(count == 1 for count in words.values()) / max(words.total(), 1)
