"""Dialog tasks: what was said so far, what the user says now, and the system's next words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from query_reduction.dialog.acts import Acts, act_of
from query_reduction.dialog.copying import Copying
from query_reduction.dialog.display import Display
from query_reduction.dialog.knowledge import partly_known
from query_reduction.dialog.mentions import MentionLog
from query_reduction.dialog.phrases import Phrase, learn_asks, learn_phrases, phrases_from_json, phrases_to_json
from query_reduction.dialog.responses import Response, same, score_responses
from query_reduction.dialog.utterances import Hearing, understood
from query_reduction.errors import InputError
from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.slots import API_CALL, cut
from query_reduction.heads.softmax import best, softmax
from query_reduction.network import Network
from query_reduction.reading.protocol import Given, Parts, Scores, Task
from query_reduction.settings import Between, check, from_json
from query_reduction.text.encoding import EncodedQuestions, encode_stories
from query_reduction.text.formats import jsonl
from query_reduction.text.formats.dialog import SILENCE, mark, speakers
from query_reduction.text.formats.stored import Bounds
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import Vocabulary

__all__ = ["DialogOptions", "DialogParts", "DialogTask"]

_BATCH = 256
_LEARNED = ("names", "goes_on", "phrases", "asks", "acts", "display")
"""What a model file stores besides the options."""
_READ = Bounds(entries=1_000_000, letters=100_000)
"""What a model file may hold of them."""
_TRIED = 5
"""How many of the best responses are tried until one can be given."""


@dataclass(frozen=True, slots=True)
class DialogOptions:
    """How dialogs are read and responses made."""

    memory: Annotated[int, Between(0, 10_000_000)] = 100
    """Read only this many of a dialog's last utterances and rows; 0 reads all."""
    vocabulary: Literal["train", "all"] = "all"
    """Words from the training part only, or from all parts as in the original."""
    head: Literal["responses", "slots"] = "responses"
    """The output: word by word among the candidates (paper), or independent fixed slots (original)."""
    match: Literal["none", "paper", "original"] = "none"
    """Two features of a candidate word. paper = found in the context, found in the question; original = found in
    either, mentioned last of its kind."""
    copying: bool = False
    """The network reads and says kinds of names (a place, a cuisine); which name is meant is chosen by a ranking
    learned from the training dialogs, so that unseen names can be read and used."""
    knowledge: Annotated[float, Between(0, 1)] = 1.0
    """With copying: of the names that the training dialogs do not mention, the share that the knowledge base describes;
    the others stay unknown unless a row of the dialog itself says what they are."""
    marks: Literal["none", "speaker", "speaker+time"] = "none"
    """Add words to each utterance that say who speaks and in which turn."""
    confirm: str = ""
    """Responses that must not be given on a doubt, because they do something that cannot be undone: parts of them,
    separated by | ("let me do the reservation|your order is placed"). If in doubt, the user is asked first."""

    def __post_init__(self) -> None:
        check(self)
        if self.copying and self.match != "none":
            raise InputError("match has no effect with copying: the network sees kinds instead of names")
        if self.knowledge < 1 and not self.copying:
            raise InputError("knowledge has no effect without copying: only copying learns names from a knowledge base")


@dataclass(frozen=True)
class DialogTask(Task):
    """What a model keeps of a dialog task: vocabulary and candidates, names, when the system continues by itself."""

    kind: ClassVar[str] = "dialogs"

    vocabulary: Vocabulary
    options: DialogOptions
    copying: Copying | None = None
    goes_on: frozenset[tuple[str, bool]] = frozenset()
    """(Response, whether rows follow it): responses after which users were mostly silent."""
    phrases: Mapping[str, Phrase] = field(default_factory=dict)
    """How users say names, by their kinds."""
    asks: Mapping[str, str] = field(default_factory=dict)
    """Responses that ask for a name, and its kind."""
    acts: Acts = field(default_factory=lambda: Acts({}))
    """What users say before each act of the system."""
    display: Display = field(default_factory=Display)
    """How names and responses are shown to people."""

    @cached_property
    def hearing(self) -> Hearing:
        """How it listens to people."""
        lexicon = self.copying.lexicon if self.copying else None
        return Hearing.of(self.vocabulary.words, self.vocabulary.answers, lexicon, self.phrases, self.acts.words)

    def understand(self, dialog: Story) -> Story:
        """A person's dialog, rewritten to resemble those it was trained on."""
        return understood(dialog, self.hearing)

    @property
    def head(self) -> HeadConfig:
        """The output module the options name."""
        return HeadConfig(self.options.head, self.options.match)

    def story(self, dialog: Story) -> Story:
        """The dialog as the network reads it."""
        return self._read(dialog)[0]

    def encode(self, stories: Sequence[Story]) -> EncodedQuestions:
        """See ``Task``."""
        return encode_stories(map(self.story, stories), self.vocabulary, self.options.memory)

    def score(self, networks: Sequence[Network], stories: Sequence[Story]) -> list[Scores]:
        """Wrong responses in three measures, by task; the main one is exact match."""
        return [_scores(stories, responses) for responses in self.respond(networks, stories)]

    def given(self, network: Network, stories: Sequence[Story]) -> list[Given]:
        """See ``Task``."""
        asked = [(story.sentences[: question.after], question) for story in stories for question in story.questions]
        (responses,) = self.respond([network], stories)
        return [
            Given(sentences, question, response, same(response, question.answer))
            for (sentences, question), response in zip(asked, responses, strict=True)
        ]

    def respond(self, networks: Sequence[Network], dialogs: Sequence[Story]) -> list[list[str]]:
        """The responses of several networks to all questions of the dialogs, each after the true history.

        Work that the networks share is done once.
        """
        return self._texts(self._best(networks, dialogs)[0], dialogs)

    def respond_to_all(self, network: Network, dialogs: Sequence[Story]) -> list[Response]:
        """The same of one network, with how sure it is and the words of each turn that it does not know."""
        found, sure = self._best([network], dialogs)
        (texts,) = self._texts(found, dialogs)
        said = (question.text for dialog in dialogs for question in dialog.questions)
        return [
            Response(text, confidence, self.hearing.hear(turn).unknown)
            for text, confidence, turn in zip(texts, sure[0].tolist(), said, strict=True)
        ]

    def _best(
        self, networks: Sequence[Network], dialogs: Sequence[Story]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(network, question, …) the best candidates, and (network, question) the probability of the first."""
        questions = self.encode(dialogs)
        found = np.zeros((len(networks), len(questions), min(_TRIED, len(self.vocabulary.answers))), np.int64)
        sure = np.zeros(found.shape[:2])
        for part, batch in questions.batches(_BATCH):
            for at, network in enumerate(networks):
                scores = network.scores(batch)
                found[at, part] = best(scores, _TRIED)
                sure[at, part] = softmax(scores).max(1)
        return found, sure

    def _texts(self, found: NDArray[np.int64], dialogs: Sequence[Story]) -> list[list[str]]:
        """By network, the responses in words."""
        if self.copying is None:
            return [[self.vocabulary.answers[row[0]] for row in of_network] for of_network in found]
        responses: list[list[str]] = [[] for _ in found]
        logs = (log for dialog in dialogs for _, log in self.copying.follow(dialog))
        for number, log in enumerate(logs):
            in_words: dict[bytes, str] = {}
            for at, given in enumerate(responses):
                row = found[at, number]
                key = row.tobytes()
                if key not in in_words:
                    in_words[key] = self._in_words(row, log)
                given.append(in_words[key])
        return responses

    def respond_to_last(self, network: Network, dialog: Story) -> Response:
        """The response to the last question of a person's dialog."""
        story, log = self._read(self.understand(dialog))
        last = story.questions[-1]
        only_last = Story(story.sentences[: last.after], (last,))
        batch = encode_stories([only_last], self.vocabulary, self.options.memory).batch(np.array([0]))
        scores = network.scores(batch)[0]
        return Response(
            text=self._in_words(best(scores, _TRIED), log),
            confidence=float(softmax(scores).max()),
            unknown_words=self.hearing.hear(dialog.questions[-1].text).unknown,
        )

    def _read(self, dialog: Story) -> tuple[Story, MentionLog | None]:
        """The dialog as the network reads it, and the names mentioned up to its last question."""
        story, log = self.copying.read(dialog) if self.copying else (dialog, None)
        return mark(story, self.options.marks), log

    def unmarked(self, dialog: Story) -> Story:
        """The dialog with kinds for names, if it copies them, and nothing else changed."""
        return self.copying.read(dialog)[0] if self.copying else dialog

    def _in_words(self, numbers: NDArray[np.int64], log: MentionLog | None) -> str:
        """The best of these responses that can be given: one whose names are all known."""
        texts: list[str] = [self.vocabulary.answers[number] for number in numbers.tolist()]
        if self.copying is None or log is None:
            return texts[0]
        return next((filled for text in texts if (filled := self.copying.fill(text, log)) is not None), texts[0])

    def with_knowledge(self, rows: Iterable[tuple[str, str, str]]) -> DialogTask:
        """The same for conversations about another knowledge base: its words are read as names of their kinds."""
        return replace(self, copying=self.copying.with_knowledge(rows)) if self.copying else self

    def shown_by(self, display: Display | None, confirm: str | None) -> DialogTask:
        """The same with other display names and templates, or other responses that need a confirmation."""
        options = self.options if confirm is None else replace(self.options, confirm=confirm)
        return replace(self, options=options, display=display or self.display)

    def known_rows(self) -> tuple[tuple[str, str, str], ...]:
        """The rows of the knowledge base it learned names from; none without copying."""
        facts = self.copying.lexicon.facts if self.copying else {}
        return tuple((name, *fact) for name, known in facts.items() for fact in known)

    def needs_certainty(self, response: str) -> bool:
        """Whether a response does something: it calls the knowledge base, or must be confirmed if in doubt."""
        act = act_of(response)
        return act == API_CALL or any(part.strip() in act for part in self.options.confirm.split("|") if part.strip())

    def general(self, heard: str) -> str:
        """An utterance that was heard, with kinds for names."""
        return self.copying.lexicon.generalise(heard) if self.copying else heard

    def goes_on_after(self, response: str, *, rows: bool) -> bool:
        """Whether the system speaks again after this response without waiting for the user."""
        return (cut(response)[0], rows) in self.goes_on

    def as_json(self) -> dict[str, Any]:
        """See ``Task``."""
        names = self.copying.as_json() if self.copying else None
        return asdict(self.options) | {
            "names": names,
            "goes_on": sorted(map(list, self.goes_on)),
            "phrases": phrases_to_json(self.phrases),
            "asks": dict(self.asks),
            "acts": self.acts.as_json(),
            "display": self.display.as_json(),
        }

    @staticmethod
    def from_json(values: Mapping[str, Any], vocabulary: Vocabulary) -> DialogTask:
        """The inverse of ``as_json``."""
        options = {name: value for name, value in values.items() if name not in _LEARNED}
        copying = None if values["names"] is None else Copying.from_json(values["names"], _READ)
        goes_on = set()
        for entry in _READ.list(values["goes_on"], "goes_on"):
            said, rows = _READ.list(entry, "goes_on")
            goes_on.add((_READ.text(said, "goes_on"), rows is True))
        phrases = phrases_from_json(values.get("phrases", {}), _READ)
        asks = _READ.table(values.get("asks", {}), "asks")
        return DialogTask(
            vocabulary,
            from_json(DialogOptions, options),
            copying,
            frozenset(goes_on),
            phrases,
            asks,
            Acts.from_json(values.get("acts", {}), _READ),
            Display.from_json(values.get("display", {})),
        )


@dataclass(frozen=True)
class DialogParts(Parts):
    """Dialogs in parts."""

    kind: ClassVar[str] = "dialogs"
    options_type: ClassVar[type] = DialogOptions

    unseen: list[Story] = field(default_factory=list)
    """A second test, with names that training never mentions."""
    candidates: tuple[str, ...] = ()
    """The candidate responses, besides those in training."""
    knowledge: tuple[tuple[str, str, str], ...] = ()
    """The rows (subject, relation, value) of the knowledge base."""
    display: Display = field(default_factory=Display)
    """How names and responses are shown to people."""
    confirm: str = ""
    """Responses that must not be given on a doubt, if the options name none."""

    def learn(self, options: DialogOptions, train: Sequence[Story]) -> DialogTask:
        """Learn the names, if copying, and the vocabulary of words and responses."""
        copying = Copying.learn(self.train, self._known_rows(options.knowledge)) if options.copying else None
        unready = DialogTask(Vocabulary((), (), 1), options, copying, _goes_on(self.train))
        train = [unready.story(dialog) for dialog in self.train]
        others = [*self.dev, *self.test, *self.unseen] if options.vocabulary == "all" else []
        words = Vocabulary.from_stories([*train, *map(unready.story, others)], "spaces")
        answers = {question.answer for story in train for question in story.questions}
        if copying is None:
            # Only candidates that also occur in training, possibly with other names: the rest cannot be learned.
            said = {cut(answer)[0] for answer in answers}
            answers |= {candidate for candidate in self.candidates if cut(candidate)[0] in said}
        return replace(
            unready,
            options=replace(options, confirm=options.confirm or self.confirm),
            vocabulary=replace(words, answers=tuple(sorted(answers))),
            phrases=learn_phrases(question.text for story in train for question in story.questions),
            asks=learn_asks(train),
            acts=Acts.learn(map(unready.unmarked, self.train)),
            display=self.display,
        )

    def _known_rows(self, share: float) -> Sequence[tuple[str, str, str]]:
        if share == 1:
            return self.knowledge
        said = (text for dialog in self.train for text in (*dialog.sentences, *(q.text for q in dialog.questions)))
        return partly_known(self.knowledge, share, {word for text in said for word in text.lower().split()})

    def tests(self) -> Iterator[tuple[str, list[Story]]]:
        """The test, and the one with names unseen in training."""
        yield from super().tests()
        if self.unseen:
            yield "-OOV", self.unseen

    def more_content(self) -> Iterator[str]:
        """See ``Parts``."""
        from_rows = map(" ".join, self.knowledge)
        yield from (*jsonl.format_stories(self.unseen), *self.candidates, *from_rows)


def _scores(dialogs: Sequence[Story], responses: Sequence[str]) -> Scores:
    whole = score_responses(dialogs, responses)
    errors: dict[str, dict[str, float]] = {"per slot": {}, "exact match": {}, "per dialog": {}}
    given = iter(responses)
    by_task: dict[str, tuple[list[Story], list[str]]] = {}
    for dialog in dialogs:
        own_dialogs, own_responses = by_task.setdefault(dialog.task, ([], []))
        own_dialogs.append(dialog)
        own_responses += [next(given) for _ in dialog.questions]
    for task, (own_dialogs, own_responses) in by_task.items():
        score = score_responses(own_dialogs, own_responses)
        for measure, accuracy in (
            ("per slot", score.per_slot),
            ("exact match", score.exact_match),
            ("per dialog", score.per_dialog),
        ):
            errors[measure][task] = round(100 - accuracy, 4)
    return Scores(round(100 - whole.exact_match, 4), whole.responses, errors)


def _goes_on(dialogs: Iterable[Story]) -> frozenset[tuple[str, bool]]:
    silent: Counter[tuple[str, bool]] = Counter()
    told: Counter[tuple[str, bool]] = Counter()
    for dialog in dialogs:
        spoken = speakers(dialog)
        for question, following in zip(dialog.questions, dialog.questions[1:], strict=False):
            after = cut(question.answer)[0], "row" in spoken[question.after + 2 : following.after]
            told[after] += 1
            silent[after] += following.text == SILENCE
    return frozenset(after for after, count in told.items() if silent[after] > count / 2)
