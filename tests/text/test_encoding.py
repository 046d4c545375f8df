"""Vocabulary and numbers: nothing is lost, nothing unknown crashes, nothing is stored twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from query_reduction.text.encoding import encode_stories
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary


def test_batch_spells_the_stories(story_file: Path) -> None:
    stories = read_file(story_file)
    vocabulary = Vocabulary.from_stories(stories)
    encoded = encode_stories(stories, vocabulary, memory=0)
    batch = encoded.batch(np.array([2, 1, 0]))

    def spell(row: int) -> str:
        return " ".join(vocabulary.words[number - 2] for number in batch.words[row].tolist() if number)

    seen = [
        [spell(row) for row in rows[:length].tolist()]
        for rows, length in zip(batch.stories, batch.lengths.tolist(), strict=True)
    ]
    assert seen[0] == ["John took the apple"]
    assert seen[1] == ["Mary got the milk", "Mary went to the garden", "John went to the office"]
    assert seen[2] == seen[1][:2]
    assert [spell(row) for row in batch.questions.tolist()] == [
        "Where is the apple",
        "Where is John",
        "Where is the milk",
    ]
    answers = [vocabulary.answers[number] for number in batch.answers.tolist()]
    assert answers == ["nowhere,yet", "office", "garden"]


def test_each_distinct_sentence_once() -> None:
    story = Story(("a b.",) * 50, (Question("c?", "x", 50), Question("c?", "x", 50)))
    encoded = encode_stories([story] * 10, Vocabulary.from_stories([story]), memory=0)
    assert len(encoded.sentences.first) == 2
    assert encoded.batch(np.arange(20)).words.shape[0] == 2


def test_memory_keeps_the_last_sentences() -> None:
    story = Story(tuple(f"word{n}" for n in range(9)), (Question("q", "x", 8),))
    vocabulary = Vocabulary.from_stories([story])
    batch = encode_stories([story], vocabulary, memory=3).batch(np.array([0]))
    kept = [vocabulary.words[batch.words[row, 0] - 2] for row in batch.stories[0].tolist()]
    assert kept == ["word5", "word6", "word7"]


def test_unknown_words_and_answers() -> None:
    known = Story(("Mary left.",), (Question("Who left?", "Mary", 1),))
    vocabulary = Vocabulary.from_stories([known])
    assert vocabulary.numbers("Mary xyzzy left") == [
        vocabulary.numbers("Mary")[0],
        UNKNOWN_WORD,
        vocabulary.numbers("left")[0],
    ]
    assert vocabulary.unknown_words(["Mary xyzzy", "plugh xyzzy"]) == ["xyzzy", "plugh"]
    assert vocabulary.answer_number("nobody") == -1


def test_huge_stories_cost_what_they_weigh() -> None:
    long_sentence = " ".join(["word"] * 10_000)
    story = Story((long_sentence, *["short one"] * 100_000), (Question("q?", "x", 100_001),))
    encoded = encode_stories([story], Vocabulary.from_stories([story]), memory=0)
    assert encoded.sentences.numbers.nbytes + encoded.stories.numbers.nbytes < 1_000_000
    batch = encoded.batch(np.array([0]))
    assert batch.stories.shape == (1, 100_001)
    assert batch.words.shape == (3, 10_000)


def test_a_batch_without_sentences() -> None:
    story = Story((), (Question("q?", "x", 0),))
    batch = encode_stories([story], Vocabulary.from_stories([story]), memory=0).batch(np.array([0]))
    assert batch.stories.shape == (1, 0)


def test_words_are_as_rare_as_in_the_task_that_has_them_most() -> None:
    question = (Question("mary", "x", 2),)
    stories = [Story(("is mary", "is mary"), question, "1"), *(Story(("a b", "b c"), question, "2") for _ in range(9))]
    vocabulary = Vocabulary.from_stories(stories)
    encoded = encode_stories(stories, vocabulary, memory=0)
    of_word = dict(zip(vocabulary.words, encoded.rarity(np.arange(10), vocabulary.size)[2:], strict=True))
    # Of the three sentences of task 1, questions included, "is" stands in two and "mary" in all.
    assert np.isclose(of_word["is"], np.log10(3 / 2))
    assert of_word["mary"] == 0
    assert np.isclose(of_word["b"], np.log10(3 / 2))
    assert np.isclose(of_word["a"], np.log10(3))
    alone = encode_stories(stories[1:], vocabulary, memory=0).rarity(np.arange(9), vocabulary.size)[2:]
    assert dict(zip(vocabulary.words, alone, strict=True))["is"] == 1
