"""Pronouns, sentences of two facts, and words of like meaning: read by what the stories show."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.names import Coreference, Frames, Meanings
from query_reduction.reading.question import ReadQuestion
from query_reduction.reading.stories import StoryOptions, StoryParts, StoryTask
from query_reduction.text.stories import Question, Story
from query_reduction.text.vectors import WordVectors

PEOPLE = {"Anna": "she", "Ben": "he", "Mia": "she", "Tom": "he"}
PLACES = ["attic", "cellar", "garage", "hall", "kitchen"]
THINGS = ["keys", "phone", "remote"]


def tell(chance: random.Random) -> Story:
    """A story of two people with pronouns and sentences of two facts."""
    place: dict[str, str] = {}
    holder: dict[str, str] = {}
    sentences = []
    for _ in range(8):
        (one, other), (here, there) = chance.sample(list(PEOPLE), 2), chance.sample(PLACES, 2)
        thing = chance.choice(THINGS)
        kind = chance.randrange(5)
        if kind == 0:
            place |= {one: here, other: there}
            sentences.append(f"{one} is in the {here} while {other} is in the {there}.")
        elif kind == 1:
            place[one], holder[thing] = here, one
            sentences.append(f"{one} went to the {here} and took the {thing}.")
        elif kind == 2:
            place[one] = there
            sentences += [f"{one} is in the {here}.", f"Then {PEOPLE[one]} went to the {there}."]
        elif kind == 3:
            holder[thing] = one
            sentences.append(f"{one} took the {thing}.")
        else:
            place[one] = here
            sentences.append(f"{one} went to the {here}.")
    asked = [Question(f"Where is {who}?", where, len(sentences)) for who, where in place.items()]
    asked += [Question(f"Who has the {thing}?", who, len(sentences)) for thing, who in holder.items()]
    return Story(tuple(sentences), tuple(asked))


@pytest.fixture(scope="module")
def stories() -> list[Story]:
    chance = random.Random(1)
    return [tell(chance) for _ in range(120)]


def texts(read: ReadQuestion) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in read.sentences)


@pytest.fixture(scope="module")
def task(stories: list[Story]) -> StoryTask:
    return StoryParts("prose", stories).learn(StoryOptions(symmetries=True, writing="any", prose=True), stories)


def test_pronouns_are_read_as_the_last_name_of_their_kind(task: StoryTask) -> None:
    assert isinstance(task.coreference, Coreference)
    assert task.coreference.names == {"anna", "ben", "mia", "tom"}
    assert task.coreference.genders == {name.lower(): said for name, said in PEOPLE.items()}
    told = ["Mia is in the hall.", "Ben took the keys.", "Then she went to the attic.", "He is in the cellar."]
    read = task.read(told, "Where is Mia?")
    assert texts(read)[2:] == ("Then Mia went to the attic.", "Ben is in the cellar.")
    assert read.story == tuple(told)
    assert ("she", "Mia") in read.substituted
    assert "she read as Mia" in read.notes()


def test_pronouns_of_names_never_heard(task: StoryTask) -> None:
    read = task.read(["Zoe is in the hall.", "Then she went to the attic."], "Where is Zoe?")
    (known,) = [name for name in PEOPLE if texts(read)[0].startswith(name)]
    assert texts(read)[1] == f"Then {known} went to the attic."
    assert ("she", "Zoe") in read.substituted


def test_nobody_is_assumed_where_nobody_was_named(task: StoryTask) -> None:
    assert task.coreference is not None
    told = ("Then she went to the attic.", "Ben took his keys.")
    assert task.coreference.resolved(told) == told


def test_sentences_of_two_facts_are_two(task: StoryTask) -> None:
    assert isinstance(task.frames, Frames)
    facts = task.frames.facts
    assert facts("Tom is in the attic while Mia is in the hall.") == ("Tom is in the attic.", "Mia is in the hall.")
    assert facts("Tom went to the attic and took the phone.") == ("Tom went to the attic.", "Tom took the phone.")
    for whole in ("Mia and Tom went to the hall.", "Tom is in the attic and happy.", "Tom went to the attic and", ""):
        assert facts(whole) == (whole,)


def test_questions_stay_where_they_were_asked(task: StoryTask) -> None:
    told = Story(
        ("Tom is in the attic while Mia is in the hall.", "Mia took the keys."),
        (Question("Where is Tom?", "attic", 1, (0,)), Question("Who has the keys?", "Mia", 2, (1,))),
    )
    (read,) = task._split([told])
    assert [question.after for question in read.questions] == [2, 3]
    assert [question.support for question in read.questions] == [(0, 1), (2,)]


def test_what_was_learned_is_stored(task: StoryTask) -> None:
    stored = json.loads(json.dumps(task.as_json()))
    again = StoryTask.from_json(stored, task.vocabulary)
    assert again.as_json() == task.as_json()
    told = ["Mia is in the hall while Tom is in the attic.", "Then she went to the cellar."]
    assert again.read(told, "Where is Mia?").sentences == task.read(told, "Where is Mia?").sentences
    for name, wrong in (("pronouns", ["mia"]), ("pronouns", {"mia": "it"}), ("frames", "x"), ("frames", [1])):
        with pytest.raises(InputError, match="cannot be read"):
            StoryTask.from_json({**stored, name: wrong}, task.vocabulary)


def test_stories_without_prose_are_stored_as_before(stories: list[Story]) -> None:
    plain = StoryParts("plain", stories).learn(StoryOptions(), stories).as_json()
    assert plain.keys() == {"options", "symmetries", "unseen_share", "pairs", "calibration"}
    assert "prose" not in plain["options"]


def test_prose_needs_symmetries(stories: list[Story]) -> None:
    with pytest.raises(InputError, match="prose has no effect without symmetries"):
        StoryParts("prose", stories).learn(StoryOptions(prose=True, writing="any"), stories)


@given(st.lists(st.text(alphabet="Tom Mia hesh.and while", max_size=40), max_size=5))
def test_any_text_is_read(task: StoryTask, texts: list[str]) -> None:
    assert task.coreference is not None and task.frames is not None
    assert len(task.coreference.resolved(texts)) == len(texts)
    for text in texts:
        assert task.frames.facts(text)


@pytest.fixture(scope="module")
def meanings(stories: list[Story], tmp_path_factory: pytest.TempPathFactory) -> StoryTask:
    """With vectors in which "seized" is like "took", "strolled" like "is" and then "went", "loft" like "attic"."""
    path = tmp_path_factory.mktemp("vectors") / "small.vec"
    chance = np.random.default_rng(0)
    words = [
        *["took", "went", "is", "in", "the", "to", "then", "while", "and"],
        *map(str.lower, PEOPLE),
        *PLACES,
        *THINGS,
    ]
    rows = {word: chance.normal(size=12) for word in words}
    rows["seized"] = rows["took"] + 0.1
    rows["strolled"] = rows["is"] + 0.6 * rows["went"]
    rows["loft"] = rows["attic"] + 0.1
    path.write_text("".join(f"{word} {' '.join(f'{value:.4f}' for value in row)}\n" for word, row in rows.items()))
    parts = StoryParts("prose", stories).with_vectors(WordVectors(path), 5)
    return parts.learn(StoryOptions(symmetries=True, writing="any", prose=True), stories)


def test_new_words_are_read_as_known_ones_where_these_may_stand(meanings: StoryTask) -> None:
    assert isinstance(meanings.meanings, Meanings)
    read = meanings.meanings.read
    assert read("Tom seized the keys.") == ("Tom took the keys.", (("seized", "took"),))
    assert read("Tom strolled to the hall.") == ("Tom went to the hall.", (("strolled", "went"),))
    assert read("Tom went to the loft.") == ("Tom went to the loft.", ()), "a name: it is read as another of its kind"
    assert read("Zoe seized the keys.")[0] == "Zoe took the keys."
    understood = meanings.read(["Tom seized the keys."], "Who has the keys?")
    assert texts(understood) == ("Tom took the keys.",)
    assert understood.story == ("Tom seized the keys.",)
    assert "seized read as a word like took" in understood.notes()
    assert not understood.unknown_words


def test_meanings_are_stored(meanings: StoryTask) -> None:
    stored = json.loads(json.dumps(meanings.as_json()))
    assert StoryTask.from_json(stored, meanings.vocabulary).as_json() == stored
    wrong: object
    for wrong in ([], {"x": [10_000]}, {"x": 3}):
        with pytest.raises(InputError, match="cannot be read"):
            StoryTask.from_json({**stored, "meanings": wrong}, meanings.vocabulary)


def test_nearest_words_need_frames(stories: list[Story], tmp_path: Path) -> None:
    (tmp_path / "a.vec").write_text("took 1 2\nwent 2 1\n")
    parts = StoryParts("x", stories).with_vectors(WordVectors(tmp_path / "a.vec"), 1)
    with pytest.raises(InputError, match="needs --prose"):
        parts.learn(StoryOptions(), stories)
