"""Development examples are never training examples, whole stories stay together, and the same seed splits the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.formats.readers import read_file
from query_reduction.text.splits import Split, shared_examples, split_by_story
from query_reduction.text.stories import Question, Story


def story(*sentences: str, questions: int = 1, name: str = "q") -> Story:
    return Story(sentences, tuple(Question(f"{name}{n}?", "x", len(sentences)) for n in range(questions)))


def count(stories: list[Story]) -> int:
    return sum(len(story.questions) for story in stories)


# Few words, so that examples repeat.
texts = st.sampled_from(["a b.", "A  b.", "c", "d e"])


@st.composite
def told(draw: st.DrawFn) -> Story:
    sentences = draw(st.lists(texts, min_size=1, max_size=4))
    asked = draw(st.lists(st.tuples(texts, st.integers(1, len(sentences))), max_size=3))
    return Story(tuple(sentences), tuple(Question(text, "x", after) for text, after in asked))


@given(st.lists(told(), max_size=12), st.floats(0.01, 0.99), st.integers(0, 5))
def test_no_development_example_is_a_training_example(stories: list[Story], fraction: float, seed: int) -> None:
    try:
        train, dev = split = split_by_story(stories, fraction, seed)
    except InputError as error:
        assert "\n" not in str(error)
        asking = [story for story in stories if story.questions]
        others = ([other for other in asking if other is not story] for story in asking)
        assert len(asking) < 2 or all(shared_examples(rest, [s]) for rest, s in zip(others, asking, strict=True))
        return
    assert shared_examples(train, dev) == split.counts()["shared_examples"] == 0
    assert count(dev) >= 1
    assert count(train) >= 1
    assert split == split_by_story(stories, fraction, seed)
    assert [s for s in stories if s in train and s.questions] == [s for s in train if s.questions], "in order"
    kept = count(train) + count(dev)
    assert kept <= count(stories)
    if kept == count(stories):
        assert sorted(map(repr, train + dev)) == sorted(map(repr, stories))


def test_stories_with_a_common_example_go_together() -> None:
    chain = [
        Story(("a", "b"), (Question("q", "x", 1), Question("q", "x", 2))),
        Story(("A", "c"), (Question("Q ", "x", 1), Question("q", "x", 2))),
        Story(("a", "c", "d"), (Question("q", "y", 2), Question("q", "x", 3))),
    ]
    others = [story(f"e{n}", questions=2) for n in range(17)]
    for seed in range(30):
        dev = split_by_story([*chain, *others], 0.2, seed).dev
        assert count(dev) == 8
        assert len([story for story in dev if story in chain]) in (0, 3)


def test_as_near_as_groups_allow() -> None:
    stories = [story(f"s{n}", questions=7 if n % 2 else 3) for n in range(40)]
    for seed in range(10):
        assert count(split_by_story(stories, 0.1, seed).dev) == 20


def test_one_group_only_loses_the_shared_questions() -> None:
    stories = [Story(("a", f"b{n}"), (Question("q", "x", 1), Question("q", "x", 2))) for n in range(20)]
    train, dev = split_by_story(stories, 0.1, 0)
    assert shared_examples(train, dev) == 0
    assert (len(train), len(dev), count(dev)) == (18, 2, 2)


@pytest.mark.parametrize(
    ("stories", "complaint"),
    [
        ([], "no stories with questions"),
        ([Story(("a",), ())], "no stories with questions"),
        ([story("a", questions=9)], "1 story with questions: too few"),
        ([story("a", questions=2)] * 5, "keep asking the same questions"),
    ],
)
def test_what_cannot_be_split(stories: list[Story], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        split_by_story(stories, 0.1, 0)


@pytest.mark.parametrize("fraction", [0, 1, -1, 2, float("nan")])
def test_the_fraction_is_a_part(fraction: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        split_by_story([story("a"), story("b")], fraction, 0)


def test_two_stories_are_enough() -> None:
    train, dev = split_by_story([story("a", questions=50), story("b", questions=50)], 0.1, 0)
    assert (count(train), count(dev)) == (50, 50)
    train, dev = split_by_story([story("a"), story("b")], 0.9999, 0)
    assert (len(train), len(dev)) == (1, 1)


def test_the_published_tasks(real_babi: Path) -> None:
    for path in sorted((real_babi / "en").glob("qa*_train.txt")):
        stories = read_file(path)
        split = split_by_story(stories, 0.1, 0)
        assert isinstance(split, Split)
        counts = split.counts()
        assert counts["shared_examples"] == 0, path.name
        assert 75 <= counts["dev_questions"] <= 125, path.name
        assert counts["dev_questions"] + counts["train_questions"] == 1000
        others = split_by_story(stories, 0.1, 1)
        assert others.dev != split.dev
