"""What people write reaches the network: new names, any writing, several sentences, unreadable ones, long stories."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import story_model

from query_reduction import train
from query_reduction.errors import InputError
from query_reduction.explain.html import page
from query_reduction.model import StoryModel, model_of
from query_reduction.model_file import load_model, save_model
from query_reduction.reading.stories import StoryOptions, StoryParts
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import generate

NEW_NAMES = {
    "Mary": "Zoë",
    "John": "Bob Smith",
    "Sandra": "Cleo",
    "Daniel": "R2D2",
    "kitchen": "attic",
    "garden": "pier 7",
    "hallway": "Golden Harbour",
    "office": "café",
    "bathroom": "überraum",
    "bedroom": "d5",
}
PROSE = "In the beginning was the Word, and nobody knew what to make of it."


@pytest.fixture(scope="module")
def model() -> StoryModel:
    """Knows which words may stand for each other, and is nearly always right."""
    changes: dict[str, Any] = {"restarts": 1, "max_epochs": 10, "copies": 10, "learning_rate": 0.02}
    trained = train(generate(1, 200), recipe="best", network="2r20", progress=False, **changes)
    assert isinstance(trained, StoryModel)
    return trained


@pytest.fixture(scope="module")
def told() -> list[Story]:
    return generate(1, 100, seed=7, split="test")


def renamed(text: str) -> str:
    return re.sub(r"\w+", lambda word: NEW_NAMES.get(word[0], word[0]), text)


def rewritten(stories: list[Story], write: object) -> list[Story]:
    assert callable(write)
    return [
        replace(
            story,
            sentences=tuple(map(write, story.sentences)),
            questions=tuple(
                replace(asked, text=write(asked.text), answer=write(asked.answer)) for asked in story.questions
            ),
        )
        for story in stories
    ]


def test_names_never_heard_are_as_good_as_known_ones(model: StoryModel, told: list[Story]) -> None:
    known = model.evaluate(told).error
    assert known <= 5
    assert abs(model.evaluate(rewritten(told, renamed)).error - known) <= 2


def test_an_answer_is_named_back_and_says_what_was_read(model: StoryModel) -> None:
    answer = model.answer(["Zoë went to the attic.", "Mary moved to the Golden Harbour."], "Where is Zoë?")
    assert answer.text == "attic"
    assert tuple(sorted(name for name, _ in answer.substituted if name[0].isupper())) == ("Golden Harbour", "Zoë")
    assert all(re.fullmatch(r"a name like \w+", known) for _, known in answer.substituted)
    assert any(re.fullmatch(r"Zoë read as a name like (John|Sandra|Daniel)", line) for line in answer.notes())
    assert answer.unknown_words == ()


def test_a_trace_shows_what_was_written(model: StoryModel) -> None:
    story = ["Zoë went to the attic.", "Blorp frimmed zat.", "Zoë moved to the pier 7."]
    trace = model.explain(story, "Where is Zoë?")
    assert trace.sentences == (story[0], story[2]) and trace.positions == (0, 2) and trace.omitted == (1,)
    assert trace.story == tuple(story)
    assert trace.answer == "pier 7" == trace.ranked[0][0]
    assert trace.ending_here is not None and trace.ending_here[0][0][0] == "attic"
    assert trace.notes() == model.answer(story, "Where is Zoë?").notes()
    assert "Blorp frimmed zat." in page(trace) and "left out" in page(trace)
    assert trace.as_json()["omitted"] == [1]


def test_a_word_of_no_kind_is_said_to_be_unknown(model: StoryModel) -> None:
    answer = model.answer(["Mary went quickly to the garden."], "Where is Mary?")
    assert answer.unknown_words == ("quickly",) and answer.substituted == () and answer.omitted == ()


def test_more_new_names_than_there_are_known_ones(model: StoryModel) -> None:
    people = ["Ann", "Bea", "Cid", "Dan", "Eve", "Fay"]
    answer = model.answer([f"{who} went to the garden." for who in people], "Where is Fay?")
    assert len(answer.substituted) == 4 and answer.unknown_words


@pytest.mark.parametrize(
    "write",
    [str.lower, str.upper, partial(unicodedata.normalize, "NFD"), lambda text: text.rstrip(".?")],
    ids=["lower", "upper", "NFD", "no full stops"],
)
def test_writing_makes_no_difference(model: StoryModel, told: list[Story], write: object) -> None:
    new = rewritten(told, renamed)
    assert abs(model.evaluate(rewritten(told, write)).error - model.evaluate(told).error) <= 0.5
    assert abs(model.evaluate(rewritten(new, write)).error - model.evaluate(new).error) <= 2


def test_several_sentences_may_stand_on_a_line(model: StoryModel, told: list[Story]) -> None:
    for story in told[:10]:
        last = story.questions[-1]
        sentences = story.sentences[: last.after]
        expected = model.answer(sentences, last.text)
        pairs = [" ".join(sentences[start : start + 2]) for start in range(0, len(sentences), 2)]
        assert model.answer(" ".join(sentences), last.text) == expected
        assert model.answer("\n".join(sentences), last.text) == expected
        assert model.answer(pairs, last.text) == expected
        whole = replace(story, sentences=(" ".join(sentences),), questions=(replace(last, after=1, support=()),))
        assert model.given([whole])[0].answer == expected.text


@given(seed=st.integers(0, 2**20), count=st.integers(1, 100))
@settings(max_examples=15)
def test_what_cannot_be_read_does_not_matter(model: StoryModel, seed: int, count: int) -> None:
    rng = random.Random(seed)
    story = generate(1, 20, seed=seed % 7, split="test")[0]
    last = story.questions[-1]
    expected = model.answer(story.sentences[: last.after], last.text)
    noisy = list(story.sentences[: last.after])
    for _ in range(count):
        words = ["".join(rng.choices("bdfgklmnprst", k=4)) for _ in range(rng.randint(2, 9))]
        noisy.insert(rng.randint(0, len(noisy)), rng.choice([PROSE, f"{' '.join(words)}."]))
    answer = model.answer(noisy, last.text)
    assert answer.text == expected.text
    # What shares no word with the question and refers to nobody cannot matter.
    if not answer.read.missed:
        assert answer.confidence == pytest.approx(expected.confidence, abs=1e-4)
    assert answer.confidence <= expected.confidence + 1e-4
    assert len(answer.omitted) == count and answer.sentence_count == last.after + count
    assert all(one < other for one, other in pairwise(answer.omitted))


@pytest.mark.parametrize(
    ("sentence", "readable"),
    [
        ("Mary went quickly to the garden.", True),
        ("Mary blorped the zat frimming in the garden.", False),
        ("Mary blorped.", False),
        ("Mary went to the garden 🙂", True),
        ("Mary went to sleep.", False),
        ("Mary is in the garden.", False),
        ("Mary, like Sandra, went to the garden.", False),
        ("Blorp to the zat.", False),
    ],
)
def test_how_much_must_be_known(model: StoryModel, sentence: str, readable: bool) -> None:
    answer = model.answer(["Mary went to the office.", sentence], "Where is Mary?")
    assert answer.omitted == (() if readable else (1,))


@given(
    opener=st.sampled_from(["", "Then ", "After that ", "Afterwards, ", "Later ", "Soon ", "And then "]),
    pronoun=st.sampled_from(["she", "he", "they", "it"]),
    place=st.sampled_from(["garden", "café", "IT room"]),
    any_order=st.booleans(),
)
@settings(max_examples=25)
def test_a_sentence_about_an_unknown_pronoun_is_left_out(
    model: StoryModel, opener: str, pronoun: str, place: str, any_order: bool
) -> None:
    """Also by a model that allows its words in any order."""
    reader = replace(model.task.reader, pairs=None) if any_order else model.task.reader
    sentence = f"{opener}{pronoun} went to the {place}."
    for who in ("Mary", "Zoë", "the nurse"):
        told = [f"{who} went to the office.", sentence[0].upper() + sentence[1:]]
        read = reader.read(told, f"Where is {who}?")
        assert read.omitted == (1,) and read.unmentioned == () and not read.is_guess
        assert [name for name, _ in read.substituted] == ([] if who == "Mary" else [who.split()[-1]])
    assert reader.read(["Mary went to the office."], f"Where is {pronoun}?").unmentioned == (pronoun,)


@pytest.mark.parametrize("opener", ["Then", "Later", "Afterwards,", "Suddenly"])
@pytest.mark.parametrize("who", ["Mary", "Zoë", "the nurse", "her cat"])
def test_what_opens_a_sentence_changes_no_name(model: StoryModel, opener: str, who: str) -> None:
    story = [f"{who} went to the office.", f"{opener} {who} went to pier 7."]
    answer = model.answer([line[0].upper() + line[1:] for line in story], f"Where is {who}?")
    assert answer.text == "pier 7" and answer.omitted == () and answer.unknown_words == (opener.rstrip(","),)


def test_names_in_sentences_that_are_left_out_are_free(model: StoryModel) -> None:
    noise = "Blorp zat Mary frim John gleb Sandra vrop Daniel."
    answer = model.answer([noise, "Zoë went to the garden.", noise], "Where is Zoë?")
    assert answer.omitted == (0, 2) and [name for name, _ in answer.substituted] == ["Zoë"]
    assert answer.text == "garden"


def test_whom_nothing_is_told_about_is_said(model: StoryModel) -> None:
    answer = model.answer(["Mary went to the garden.", "Zoë blorped in the garden of Eden."], "Where is Zoë?")
    assert answer.unmentioned == ("Zoë",) and answer.omitted == (1,)
    assert "Zoë is in no sentence that was read: the answer is a guess" in answer.notes()
    assert model.answer(["Zoë went to the garden."], "Where is Zoë?").unmentioned == ()


def test_a_story_of_unknown_words_only_is_a_guess(model: StoryModel) -> None:
    answer = model.answer("Blorp frimmed zat.", "Where is Mary?")
    assert answer.is_guess and "no sentence could be read: the answer is a guess" in answer.notes()
    assert model.explain("Blorp frimmed zat.", "Where is Mary?").is_guess
    named = model.answer("Blorp frimmed zat.", "Where is Zoë?")
    assert named.substituted == () and named.unknown_words == ("Blorp", "frimmed", "zat", "Zoë")


def test_what_lies_beyond_the_memory_is_said(model: StoryModel) -> None:
    sentences = ["Mary went to the garden."] * 999 + ["Mary went to the office."]
    answer = model.answer(sentences, "Where is Mary?")
    assert answer.beyond_memory == 950 and answer.text == "office"
    assert answer.notes() == ["read the last 50 of 1000 sentences: the model was trained to read no more"]
    shorter = story_model("2r8", generate(1, 20), memory=0).answer(sentences, "Where is Mary?")
    assert shorter.beyond_memory == 0 and shorter.notes() == []


def test_prose_is_not_left_out_where_training_is_prose() -> None:
    """Where every text brings new words, unknown ones are no reason to skip a sentence."""
    words = [f"{first}{second}" for first in "abcdefghijkl" for second in "mnopqrstuvwxyz"]
    sentences = tuple(" ".join(words[start : start + 6]) for start in range(0, len(words), 6))
    story = Story(sentences, generate(1, 1)[0].questions)
    prose = story_model("2r8", [replace(story, questions=(replace(story.questions[0], after=5),))])
    assert prose.task.unseen_share > 0.5
    assert prose.answer(["am an unheard unsaid unseen", "ao ap"], "Where is am?").omitted == ()


def test_it_is_all_in_the_model_file(model: StoryModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("models") / "names.safetensors"
    save_model(path, model.saved)
    again = model_of(load_model(path))
    assert isinstance(again, StoryModel)
    asked = (["Zoë went to the attic.", "Blorp frimmed zat."], "WHERE IS ZOE\u0308?")
    assert again.answer(*asked) == model.answer(*asked)


def test_no_story_and_no_question(model: StoryModel) -> None:
    for story in ([], "", ["  "]):
        with pytest.raises(InputError, match=r"^story: it has no sentences"):
            model.answer(story, "Where is Mary?")
    with pytest.raises(InputError, match=r"^question: it is empty"):
        model.answer("Mary left.", " ")


def test_wrong_answers_are_given_as_they_were(model: StoryModel, told: list[Story]) -> None:
    given_answers = model.given(rewritten(told, renamed))
    wrong = sum(not one.right for one in given_answers)
    assert 100 * wrong / len(given_answers) == pytest.approx(model.evaluate(rewritten(told, renamed)).error)
    for one in given_answers:
        assert one.right == (one.answer.lower() == one.question.answer.lower())


def test_letters_within_names_do_not_make_case_matter() -> None:
    """Renamed stories once wrote "dock b" in the place of "yard", and then case seemed to distinguish answers."""
    rng = random.Random(0)
    stories = []
    for _ in range(150):
        places = [rng.choice(["dock A", "dock B", "yard", "ramp"]) for _ in range(3)]
        told = tuple(f"{rng.choice(['Eva', 'Ben', 'Ana'])} went to {place}." for place in places)
        stories.append(Story(told, (Question(f"Where is {told[2].split()[0]}?", places[2], 3),)))
    vocabulary = StoryParts("docks", stories).learn(StoryOptions(writing="any", symmetries=True), stories).vocabulary
    assert vocabulary.fold_case and set(vocabulary.answers) == {"dock A", "dock B", "yard", "ramp"}
