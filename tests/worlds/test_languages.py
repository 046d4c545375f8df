"""Worlds told in other languages: grammatical, and true according to the solvers."""

from __future__ import annotations

from pathlib import Path

import pytest

from query_reduction.errors import InputError
from query_reduction.worlds import LANGUAGES, TASKS, generate, load_language, load_words
from query_reduction.worlds.grammar import Grammar, parts_of
from query_reduction.worlds.solver.languages import interpreter

_HARD = (2, 5, 11, 15, 16, 17)


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "english"])
@pytest.mark.parametrize(
    "task", [task if task in _HARD else pytest.param(task, marks=pytest.mark.slow) for task in TASKS]
)
def test_every_answer_is_true_in_every_language(language: str, task: int) -> None:
    words = load_language(language)
    reader = interpreter(task, words)
    for story in generate(task, 60, seed=4, words=words):
        for asked in story.questions:
            assert reader.solve(story.sentences[: asked.after], asked.text) == asked.answer


def test_words_take_the_forms_their_places_demand() -> None:
    german = load_language("german")
    moved = german.lines("move", who=("Anna",), place=("Garten", "Küche", "Bad"))
    assert [moved[0, 0, place] for place in range(3)] == [
        "Anna ging in den Garten.", "Anna ging in die Küche.", "Anna ging in das Bad."
    ]  # fmt: skip
    russian = load_language("russian")
    moved = russian.lines("move", who=("Иван", "Мария"), place=("сад", "кухня"))
    assert moved[0, 0, 0] == "Иван пошёл в сад." and moved[0, 1, 1] == "Мария пошла на кухню."
    assert russian.asked("where_was_thing", thing=("книга",), place=("сад",))[0, 0, 0] == "Где была книга до сада?"
    turkish = load_language("turkish")
    given = turkish.lines("give", who=("Ali",), thing=("süt",), whom=("Fatma",))
    assert given[0, 0, 0, 0] == "Ali sütü Fatma'ya verdi."


def test_what_is_no_sentence_of_the_language_cannot_be_read() -> None:
    reader = interpreter(1, load_language("russian"))
    assert reader.solve(["Мария пошла на кухню."], "Где Мария?") == "кухня"
    with pytest.raises(KeyError):
        reader.solve(["Мария пошёл на кухню."], "Где Мария?")


def test_forms_are_patterns_of_a_word() -> None:
    grammar = Grammar({"кухня": {"acc": "на *-1ю", "nom": "*"}}, {"кухня": "f"})
    assert grammar.form("кухня", "acc") == "на кухню"
    assert grammar.form("кухня", "nom") == "кухня" == grammar.form("кухня", "dat")
    (part,) = parts_of("{place:acc.capital}")
    assert grammar.written(part, {"place": "кухня"}) == "На кухню"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("{place:to}", "{place:too}", r"sentences.move: .*'too'.*|not ':capital'"),
        ("{move:@who}", "{move:@whom}", "no slot 'whom' to agree with"),
        ('words = ["она"]', 'words = ["она", "он"]', "in another paradigm already"),
        ('dat = "Петру"', 'dat = ""', "paradigms.pyotr.dat: '' is not a word"),
    ],
)
def test_a_wrong_form_is_named(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    source = Path(__file__).parents[2] / "src/query_reduction/worlds/languages/russian.toml"
    text = source.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "words.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        load_words(path)


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(InputError, match="'klingon'; choose from chinese"):
        load_language("klingon")
