"""A trained model that points: it answers with phrases of the story, or tracks things through it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from query_reduction.errors import InputError
from query_reduction.heads.chain import ACTIONS
from query_reduction.model_file import MODEL_FILE, load_tensors, save_tensors
from query_reduction.network import Floats
from query_reduction.pointing.arrays import ArrayOperations
from query_reduction.pointing.collate import collate
from query_reduction.pointing.config import PointerConfig, shapes
from query_reduction.pointing.decide import State, answer_shares, states_of
from query_reduction.pointing.examples import Example, examples_of
from query_reduction.pointing.lexicon import Lexicon
from query_reduction.pointing.network import Read, read
from query_reduction.pointing.track import Track
from query_reduction.reading.protocol import Given, Scores
from query_reduction.reading.reading import as_sentences, check_asked
from query_reduction.reading.stories import Answer
from query_reduction.settings import from_json
from query_reduction.text.phrases import Phrase, alternatives, find_runs, phrase_key
from query_reduction.text.stories import Question, Story
from query_reduction.text.tracks import tracks_of

__all__ = ["FORMAT", "PhraseAnswer", "PointerModel"]

FORMAT = "query-reduction pointing model 1"
_RUNNERS_UP = 3
_TABLE = "vectors"
_AT_ONCE = 200
"""Sentences read together: a long story is read by itself."""


@dataclass(frozen=True, slots=True)
class PhraseAnswer(Answer):
    """An answer, and where it stands in the story."""

    place: Phrase | None = None
    """None if the answer is not a phrase of the story."""
    gates: tuple[tuple[float, ...], ...] = ()
    """For each layer, how far each sentence replaced the query, from 0 to 1."""


@dataclass(frozen=True)
class PointerModel:
    """Answers with phrases of the story; ``track`` follows things through it."""

    config: PointerConfig
    lexicon: Lexicon
    weights: Mapping[str, Floats]
    table: Floats | None
    """Vectors from elsewhere; row 0 is for words that have none."""
    card: Mapping[str, Any]
    """Where it comes from and what it scored."""

    def __repr__(self) -> str:
        return f"<PointerModel {self.network_name}, {len(self.lexicon.words)} words>"

    @property
    def network_name(self) -> str:
        """A short name: what it does and its layers."""
        return f"{'track' if self.lexicon.tracked else 'span'}-{self.config.layers}"

    @property
    def tracks(self) -> bool:
        """Whether it was trained to track things, or to answer questions."""
        return self.lexicon.tracked

    def answer(self, story: str | Sequence[str], question: str) -> PhraseAnswer:
        """Answer one question about a story: a text, or a list of sentences."""
        return self.answer_many([(story, question)])[0]

    def answer_many(self, asked: Sequence[tuple[str | Sequence[str], str]]) -> list[PhraseAnswer]:
        """Answer several questions, each about its own story. A model that tracks gives the state at the end."""
        answers: list[PhraseAnswer] = []
        for story, question in asked:
            check_asked(story, question)
            sentences = tuple(as_sentences(story))
            told = Story(sentences, (Question(question, "", len(sentences)),))
            ((example, found, row),) = self._read(told, [question])
            answers.append(self._answer(example, found, row))
        return answers

    def track(self, story: str | Sequence[str], things: str | Sequence[str]) -> Track:
        """The state of one thing, or of several, before the first sentence and after each."""
        if not self.tracks:
            raise InputError("this model answers questions: to track things, train it on states after every sentence")
        names = [things] if isinstance(things, str) else list(dict.fromkeys(things))
        sentences = tuple(as_sentences(story))
        if not sentences:
            raise InputError("story: it has no sentences")
        if not names or not all(alternatives(name) for name in names):
            raise InputError("things: each must be named by a word")
        states, notes = [], []
        for example, found, row in self._read(Story(sentences, ()), names):
            states.append(tuple(self._states(example, found, row)))
            notes += [f"{name} is in no sentence: its states are a guess" for name in _untold(example)]
        if example.text.left_out:
            notes.append(f"the story is long: {example.text.left_out} of its phrases were not considered")
        unknown = self.lexicon.unknown_words([*sentences, *names])
        if unknown:
            shown = ", ".join(unknown[:10]) + (f" and {len(unknown) - 10} more" if len(unknown) > 10 else "")
            notes.append(f"unknown words: {shown}")
        return Track(sentences, tuple(names), tuple(states), tuple(notes))

    def evaluate(self, stories: Sequence[Story]) -> Scores:
        """The share of wrong answers, over all questions (or states)."""
        given = self.given(stories)
        if not given:
            raise InputError("stories: there are no questions to evaluate on")
        error = 100 * sum(not answer.right for answer in given) / len(given)
        return Scores(error, len(given), {"answer": {"": error}})

    def given(self, stories: Sequence[Story]) -> list[Given]:
        """Its answers to all questions of some stories, and whether each is right."""
        return [given for story in stories if story.questions for given in self._given(story)]

    def _given(self, story: Story) -> Iterator[Given]:
        if self.tracks:
            things = list(tracks_of(story))
            texts = {
                example.question: [state.text for state in self._states(example, found, row)]
                for example, found, row in self._read(story, things)
            }
            answers = [texts[question.text][question.after] for question in story.questions]
        else:
            answers = [self._answer(*read_one).text for read_one in self._read(story, None)]
        for question, answer in zip(story.questions, answers, strict=True):
            right = answer == question.answer or (phrase_key(answer) or "") == phrase_key(question.answer)
            yield Given(story.sentences[: question.after], question, answer, right)

    def save(self, path: str | Path) -> Path:
        """Write the model: to a file that ends in .safetensors, or into a folder. Returns the file."""
        target = Path(path)
        file = target if target.suffix == ".safetensors" else target / MODEL_FILE
        arrays = dict(self.weights) if self.table is None else {**self.weights, _TABLE: self.table}
        metadata = {
            "network": json.dumps(asdict(self.config)),
            "lexicon": json.dumps(self.lexicon.as_json(), ensure_ascii=False),
            "card": json.dumps(dict(self.card), ensure_ascii=False, allow_nan=False),
        }
        save_tensors(file, FORMAT, arrays, metadata)
        return file

    @staticmethod
    def open(path: Path) -> PointerModel:
        """Read a model file; everything is checked before it is used."""
        arrays, metadata = load_tensors(path, FORMAT)
        try:
            table = arrays.pop(_TABLE, None)
            config = from_json(PointerConfig, json.loads(metadata["network"]))
            lexicon = Lexicon.from_json(json.loads(metadata["lexicon"]))
            if (0 if table is None else len(table)) != (len(lexicon.vector_words) + 1 if lexicon.vector_words else 0):
                raise InputError("as many vectors are needed as words that have one")
            wanted = shapes(
                config,
                words=lexicon.size,
                vectors=0 if table is None else table.shape[1],
                classes=len(lexicon.classes),
                actions=len(ACTIONS) if lexicon.chained else 0,
            )
            if {name: array.shape for name, array in arrays.items()} != wanted:
                raise InputError("weights of other names or shapes than the settings need")
            if not all(np.isfinite(array).all() for array in arrays.values()):
                raise InputError("a weight holds values that are not numbers")
            card = json.loads(metadata["card"])
            return PointerModel(config, lexicon, arrays, table, card)
        except (InputError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            about = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"{path}: weights and settings do not fit ({about})") from error

    def _read(self, story: Story, things: Sequence[str] | None) -> Iterator[tuple[Example, Read, int]]:
        """Each question or thing with what was read, and its row there."""
        examples = list(examples_of(story, self.lexicon, things=things))
        at_once = max(1, _AT_ONCE // max(len(story.sentences), 1))
        for first in range(0, len(examples), at_once):
            chosen = examples[first : first + at_once]
            found = read(ArrayOperations(), self.config, self.weights, self.table, collate(chosen, self.lexicon))
            for row, example in enumerate(chosen):
                yield example, found, row

    def _states(self, example: Example, found: Read, row: int) -> list[State]:
        actions = None if found.actions is None else found.actions[row]
        return states_of(found.points[row], actions, self.weights, example, self.lexicon)

    def _answer(self, example: Example, found: Read, row: int) -> PhraseAnswer:
        sentences = example.text.sentences
        if self.tracks:
            state = self._states(example, found, row)[-1]
            ranked: list[tuple[str, float, Phrase | None]] = [(state.text, state.confidence, state.place)]
        else:
            ranked = answer_shares(found.points[row, 0], example, self.lexicon)
        if not ranked:
            raise InputError("story: there is nothing in it to point at")
        (text, confidence, place), *others = ranked
        return PhraseAnswer(
            text,
            confidence,
            tuple((other, share) for other, share, _ in others[:_RUNNERS_UP]),
            place,
            tuple(_rounded(gate[row, : len(sentences)].mean(1)) for gate in found.gates),
            told=len(sentences),
            unknown_words=self.lexicon.unknown_words([*sentences, example.question]),
            untold=_untold(example) if self.tracks else (),
        )


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def _untold(example: Example) -> tuple[str, ...]:
    """The thing that is asked about, if no sentence names it, not even by its last word."""
    names = alternatives(example.question)
    told = any(True for keys in example.text.keys for name in names for _ in find_runs(keys, name[-1:]))
    return () if told else (example.question,)
