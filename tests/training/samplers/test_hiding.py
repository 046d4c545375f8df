"""Training on stories hidden in other text."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from small_networks import qrn, variant

from query_reduction import worlds
from query_reduction.errors import InputError
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryParts
from query_reduction.text.vocabulary import UNKNOWN_WORD, Vocabulary
from query_reduction.training.api import setup_for, train
from query_reduction.training.recipes import Recipe
from query_reduction.training.run import Run
from query_reduction.training.samplers import hiding as module
from query_reduction.training.samplers.hiding import Hiding

STORIES = worlds.generate(1, 60)
BOOK = [f"And the {number % 7}th day was day {number}, said Mary." for number in range(4000)]
RECIPE = Recipe(hidden=1, split="story")
WORDS = Vocabulary.from_stories(STORIES).with_words_of(BOOK, 3)
NETWORK = qrn(replace(variant("2r", gate_stretch=1.2), dimension=8), WORDS, range(1), 3)


def hiding(**changes: Any) -> Hiding:
    return Hiding(BOOK, STORIES, WORDS, replace(RECIPE, **changes))


def test_lengths_grow_after_the_first_epochs() -> None:
    hides = hiding(hidden_after=2, hidden_growth=1)
    own = [len(story.sentences) for story in STORIES]
    longest = []
    for epoch in range(5):
        found = hides.training(STORIES, epoch, random.Random(epoch), NETWORK)
        longest.append(max(len(story.sentences) - told for story, told in zip(found, own, strict=True)))
    assert longest == [0, 0, 0, 1, 1]


def test_decoys_have_words_of_the_stories() -> None:
    told = {text for story in STORIES for text in story.sentences}

    def added(hides: Hiding) -> list[str]:
        found = hides.training(STORIES * 5, 0, random.Random(0), NETWORK)
        return [text for story in found for text in story.sentences if text not in told]

    assert set(added(hiding())) <= set(BOOK)
    decoys = added(hiding(decoys=1.0))
    changed = [text for text in decoys if text not in BOOK]
    assert len(changed) > len(decoys) / 2
    of_book = {word for text in BOOK for word in text.split()}
    of_stories = {word for text in told for word in text.strip(".").split()} | {"Where", "is"}
    assert all(set(text.split()) <= of_book | of_stories for text in changed)
    short = [text for text in changed if len(text.split()) <= 5]
    assert 0.1 < len(short) / len(decoys) < 0.5
    assert any(set(WORDS.numbers(text)) == {UNKNOWN_WORD} for text in short)


def test_development_stories_are_hidden_in_lines_that_training_does_not_have() -> None:
    hides = hiding()
    told = (story for epoch in range(30) for story in hides.training(STORIES, epoch, random.Random(epoch), NETWORK))
    seen = {text for story in told for text in story.sentences}
    found = hides.development(STORIES)
    assert found == hiding().development(STORIES)
    for story, hidden in zip(STORIES, found, strict=True):
        added = set(hidden.sentences) - set(story.sentences)
        assert len(hidden.sentences) == len(story.sentences) + 40
        assert not added & seen


def test_hard_sentences_are_drawn_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {text for story in STORIES for text in story.sentences}
    found = {BOOK[7]: 1.0}
    monkeypatch.setattr(module, "hard_sentences", lambda *arguments: found)

    def share(hard: float) -> float:
        hides = hiding(hard=hard, hidden=10)
        added = [
            text
            for story in hides.training(STORIES, 0, random.Random(0), NETWORK)
            for text in story.sentences
            if text not in told
        ]
        return sum(text == BOOK[7] for text in added) / len(added)

    assert share(1.0) == 1.0
    assert 0.4 < share(0.5) < 0.6
    assert share(0.0) < 0.05
    # With nothing that opens a gate the passage alone is left.
    found.clear()
    assert share(1.0) < 0.05


def test_words_that_no_story_has_start_without_meaning() -> None:
    parts: Parts = StoryParts("stories", STORIES).hidden_in(BOOK)
    changes = {"hidden": 1, "copies": 0, "symmetries": False, "max_epochs": 1, "restarts": 1}
    setup, _ = setup_for("2r8", "long", parts, changes)
    run = Run(parts, setup)
    vocabulary = run.task.vocabulary
    vectors = run.trainer.network.get_parameter("embedding")[0]
    day, mary = (vocabulary.number_of_word[word] for word in ("day", "mary"))
    assert vectors[day].abs().sum() == 0
    assert vectors[mary].abs().sum() > 0
    # A word of few sentences stays unknown, so that unknown words are learned, too.
    assert vocabulary.numbers("5th day 17") == [vocabulary.number_of_word["5th"], day, UNKNOWN_WORD]


def test_a_model_of_the_recipe_long_reads_every_sentence() -> None:
    settings: dict[str, Any] = {
        "hidden": 1,
        "copies": 1,
        "max_epochs": 2,
        "hidden_after": 0,
        "plain_epochs": 1,
        "stretch_epochs": 0,
    }
    model = train(STORIES, network="2r8", recipe="long", restarts=1, haystack=BOOK, progress=False, **settings)
    answer = model.answer(["Mary went to the garden.", *["Xyzzy plugh qux."] * 60], "Where is Mary?")  # type: ignore[union-attr]
    assert not answer.omitted and not answer.beyond_memory
    again = train(STORIES, network="2r8", recipe="long", restarts=1, haystack=BOOK, progress=False, **settings)
    assert all((again.saved.weights[name] == weight).all() for name, weight in model.saved.weights.items())


@pytest.mark.parametrize(
    ("haystack", "changes", "message"),
    [
        ((), {}, "no effect without a haystack"),
        (BOOK, {"hidden": 0}, "unless stories are hidden in it"),
        (BOOK, {"hidden": 11}, "too short"),
        (BOOK, {"hidden": 1, "split": "question"}, "need split=story"),
        (BOOK, {"hidden": 1, "restarts": 2}, "use --restarts 1"),
        ((), {"hidden": 0, "hard": 0.5}, "hard has no effect"),
        ((), {"hidden": 0, "hard": 0.0, "shut": 1.0}, "shut has no effect"),
    ],
)
def test_a_haystack_that_does_not_fit_is_refused(haystack: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(STORIES, network="2r8", recipe="long", haystack=haystack, progress=False, **changes)


def test_dialogs_have_no_haystack() -> None:
    with pytest.raises(InputError, match="no effect on dialogs"):
        train(STORIES, kind="dialogs", haystack=BOOK, progress=False)
