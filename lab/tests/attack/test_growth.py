"""Reading takes steps in proportion to the length of a text, whatever its shape; steps are counted, not timed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from query_reduction_lab.attack.growth import SHAPES, exponent, lines_run, text_of

import query_reduction as qr
from query_reduction.dialog.utterances import Hearing, understood
from query_reduction.model import StoryModel
from query_reduction.text.pronouns import pronouns
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.text.words import compose, signs, split_words

FEW, MANY = 1500, 6000
MOST = 1.1
QUESTION = "Where is Mary?"


@pytest.fixture(scope="module")
def model() -> StoryModel:
    found = qr.load("task1")
    assert isinstance(found, StoryModel)
    return found


def assert_proportional(read: Callable[[str], object], shape: str, about: str) -> None:
    read(text_of(shape, FEW))  # what is made once is not counted
    few, many = text_of(shape, FEW, 10**6), text_of(shape, MANY, 10**7)
    steps = [lines_run(lambda: read(few)), lines_run(lambda: read(many))]
    # A few steps that do not depend on the text count as a hundred lines.
    assert exponent(steps[0] + 100, steps[1] + 100, MANY / FEW) <= MOST, (about, shape, steps)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_step_of_reading(shape: str, model: StoryModel) -> None:
    task = model.task
    names = task.reader.names
    assert names is not None
    hearing = Hearing(frozenset(task.vocabulary.words))
    steps: dict[str, Callable[[str], object]] = {
        "sentences": split_sentences,
        "words": lambda text: [split_words(text, "text"), split_words(text, "words"), signs(text), compose(text)],
        "vocabulary": lambda text: [task.vocabulary.sentence(text), task.vocabulary.answer_number(text)],
        "pronouns": pronouns,
        "names": lambda text: names.read(split_sentences(text) or ["."], QUESTION),
        "names of a question": lambda text: names.read(["Zoë went to the garden."], text),
        "story": lambda text: model.read([text, "Mary went to the garden."], QUESTION),
        "question": lambda text: model.read("Zoë went to the garden.", f"Who? {text}"),
        "line by line": lambda text: model.answer_from([*text.splitlines(), "."], QUESTION),
        "utterance": hearing.hear,
        "dialog": lambda text: understood(_dialog(split_sentences(text)), hearing),
        "vocabulary of stories": lambda text: Vocabulary.from_stories([_dialog(split_sentences(text))], "text"),
    }
    for about, read in steps.items():
        assert_proportional(read, shape, about)


def _dialog(texts: list[str]) -> Story:
    told = [text for said in texts or ["."] for text in (said, "Which one?")]
    return Story(tuple(told), tuple(Question(said, "Which one?", 2 * turn) for turn, said in enumerate(texts or ["."])))


def test_a_step_by_the_square_is_noticed() -> None:
    def squared(text: str) -> None:
        for _ in text:
            for _ in text:
                pass

    with pytest.raises(AssertionError):
        assert_proportional(squared, "one word", "squared")
