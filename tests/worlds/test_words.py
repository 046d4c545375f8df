"""The table of words: what it gives, and what it says when it is wrong."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from query_reduction.errors import InputError
from query_reduction.worlds import TASKS, WorldOptions, generate, load_words

TABLE = resources.files("query_reduction.worlds").joinpath("words.toml").read_text(encoding="utf-8")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "words.toml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def change(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_a_group_gives_its_own_words_first() -> None:
    people = load_words().people
    assert people.take("house") == ("John", "Mary", "Sandra", "Daniel")
    assert people.take("town", 6) == ("Fred", "Mary", "Bill", "Julie", "Alice", "Oscar")
    assert people.take("town", 2) == ("Fred", "Mary")


def test_unseen_words_are_others() -> None:
    options = WorldOptions(people=20, places=7)
    words = load_words()
    unseen = words.unseen(options)
    for group in ("house", "town"):
        assert not set(words.people.take(group, 20)) & set(unseen.people.take(group, 20))
        assert not set(words.places.take(group, 7)) & set(unseen.places.take(group, 7))
    assert not set(words.things.take("carried")) & set(unseen.things.take("carried"))
    assert len(unseen.things.take("carried")) == 3


def test_lines_fill_slots_and_shapes() -> None:
    words = load_words()
    moved = words.lines("moved_when", who=("Eve",), place=("barn", "mill"), when=words.times)
    assert moved.ways == 10
    assert moved[0, 0, 1, 2] == "Eve moved to the mill this afternoon."
    assert moved[5, 0, 0, 0] == "Yesterday Eve moved to the barn."
    assert words.asked("afraid_of", who=("Eve",))[0, 0] == "What is eve afraid of?"
    assert words.plural("mouse") == "mice"
    assert words.plural("cat") == "cats"


def test_an_own_table_changes_every_sentence(table: Path) -> None:
    change(table, '["John", "Mary", "Sandra", "Daniel"]', '["Ana", "Ben", "Cem"]')
    change(table, '["bathroom", "bedroom", "garden", "hallway", "kitchen", "office"]', '["Küche", "Stube", "Diele"]')
    change(table, '["moved to", "went to", "went back to", "travelled to", "journeyed to"]', '["ging in"]')
    change(table, 'move = "{who} {move} the {place}."', 'move = "{who} {move} die {place}."')
    change(table, 'where_is = "Where is {who}?"', 'where_is = ["Wo ist {who}?", "Und wo ist {who}?"]')
    change(table, "she = [", 'she = ["Ana", "Ben", "Cem",')
    stories = generate(1, 200, words=load_words(table))
    spoken = {word for story in stories for sentence in story.sentences for word in sentence.rstrip(".").split()}
    assert spoken == {"Ana", "Ben", "Cem", "ging", "in", "die", "Küche", "Stube", "Diele"}
    asked = {question.text.split(" ist")[0] for story in stories for question in story.questions}
    assert asked == {"Wo", "Und wo"}
    assert {question.answer for story in stories for question in story.questions} == {"Küche", "Stube", "Diele"}


@pytest.mark.parametrize("task", TASKS)
def test_every_task_takes_its_words_from_the_table(task: int, table: Path) -> None:
    """Nothing but the table puts words into a story: with every sentence changed, every sentence is changed."""
    text = table.read_text(encoding="utf-8")
    start = text.index("[sentences]")
    table.write_text(text[:start] + text[start:].replace('."', ' !!"').replace('?"', ' ??"'), encoding="utf-8")
    for story in generate(task, 40, words=load_words(table), options=WorldOptions(distractors=0.2)):
        assert all(sentence.endswith(" !!") for sentence in story.sentences)
        assert all(question.text.endswith(" ??") for question in story.questions)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("\n[verbs]\n", "\n[verbs\n", "not valid TOML"),
        ("\n[verbs]\n", "\n[words]\n", "words: unknown section"),
        ("[times]", "[times]\nlater = []", "times.later: unknown key; choose from order"),
        ('order = ["yesterday", ', "order = [3, ", "times.order: 3 is not a word"),
        ('"yesterday", "this morning", "this afternoon", "this evening"', '"now"', "times.order: must be a list of at"),
        ('get = ["took", ', 'get = ["took", "took", ', "verbs.get: 'took' is there twice"),
        ('drop = ["dropped", "discarded", "left", "put down"]', "", "verbs.drop: is missing"),
        ('"apple", "football"', '"apple, red", "football"', "things.carried: 'apple, red' has a comma"),
        ('"apple", "football"', '" apple", "football"', "things.carried: ' apple' is not a word"),
        (
            'carried = ["apple", "football", "milk"]',
            'carried = "apple"',
            "things.carried: must be a list of at least 2",
        ),
        ('"{who} {give} the {thing} to {whom}."', '"{who} {give} it."', "sentences.give: '{who} {give} it.' must have"),
        (
            'move = "{who} {move} the {place}."',
            'move = "{who} {move} {place} {x}."',
            "sentences.move: .* must have {who}",
        ),
        ('feels = "{who} is {feeling}."', 'feels = "{who} is {feeling."', "sentences.feels: "),
        ('feels = "{who} is {feeling}."', "feels = []", "sentences.feels: must have at least one way to say it"),
        ('feels = "{who} is {feeling}."', 'feels = "{who:tiny} is {feeling}."', "sentences.feels: .*':capital'"),
        ('feels = "{who} is {feeling}."', 'feels = "{who} is\\t{feeling}."', "sentences.feels: .* is not one line"),
        ('where_is = "Where is {who}?"', "", "questions.where_is: is missing"),
        ('he = [\n  "John", ', "he = [\n  ", "pronouns: 'John' of .people. has no pronoun"),
        ('north = "n"', 'north = "s"', "directions: must have four directions"),
        ('feeling = "hungry"\n', "", "motives 1: must have feeling, place and thing"),
        ('feeling = "thirsty"', 'feeling = "hungry"', "motives: each feeling may be there once"),
        ('yes = "yes"', 'yes = ""', "answers.yes: '' is not a word"),
    ],
)
def test_a_bad_table_is_named_with_its_key(table: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as error:
        load_words(change(table, old, new))
    assert str(error.value).startswith(f"{table}: ")
    assert "\n" not in str(error.value)


def test_no_table_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such words table"):
        load_words(tmp_path / "none.toml")
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read as UTF-8"):
        load_words(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_words(tmp_path)
