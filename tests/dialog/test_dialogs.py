from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import REAL_DATA
from small_networks import weights_of

from query_reduction.dialog.dialogs import DialogOptions, DialogParts
from query_reduction.errors import InputError
from query_reduction.model import DialogModel
from query_reduction.model_file import SavedModel
from query_reduction.rivals.registry import build_network, resolve
from query_reduction.sources.named import load_parts
from query_reduction.text.formats.dialog import (
    SILENCE,
    find_dialog_files,
    format_dialogs,
    mark,
    read_candidates,
    read_dialogs,
    scan_dialogs,
    speakers,
)
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.readers import read_file
from query_reduction.text.stories import Question, Story

REAL = REAL_DATA / "dialog"

BOOKING = """\
1 hi\thello what can i help you with today
2 a table in rome\tapi_call italian rome two cheap
3 the_place R_rating 8
4 \twhat do you think of this option: the_place

1 hello\thello what can i help you with today
"""


def write(folder: Path, text: str, name: str = "own.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dialog_is_a_story(tmp_path: Path) -> None:
    first, second = read_dialogs(write(tmp_path, BOOKING))
    assert first.sentences == (
        "hi",
        "hello what can i help you with today",
        "a table in rome",
        "api_call italian rome two cheap",
        "the_place R_rating 8",
        SILENCE,
        "what do you think of this option: the_place",
    )
    assert [(q.text, q.after) for q in first.questions] == [("hi", 0), ("a table in rome", 2), (SILENCE, 5)]
    assert speakers(first) == ["user", "system", "user", "system", "row", "user", "system"]
    assert len(second.questions) == 1


def test_marks_say_who_speaks_and_when(tmp_path: Path) -> None:
    first = read_dialogs(write(tmp_path, BOOKING))[0]
    assert mark(first, "none") is first
    assert mark(first, "speaker").sentences[4] == "the_place R_rating 8 $row"
    assert mark(first, "speaker+time").sentences[2:4] == (
        "a table in rome $user #1",
        "api_call italian rome two cheap $system #1",
    )


def test_json_dialogs_are_the_same(tmp_path: Path) -> None:
    line = (
        '{"turns": [{"user": "hi", "system": "hello what can i help you with today"},'
        ' {"user": "a table in rome", "system": "api_call italian rome two cheap"},'
        ' {"row": "the_place R_rating 8"},'
        ' {"user": "", "system": "what do you think of this option: the_place"}]}\n'
    )
    text = read_dialogs(write(tmp_path, BOOKING))
    assert read_dialogs(write(tmp_path, line, "own.jsonl")) == text[:1]


@pytest.mark.parametrize(
    ("name", "text", "line", "what"),
    [
        ("a.txt", "1 hi\thello\nno number\there\n", 2, "NUMBER"),
        ("a.txt", "1 hi\thello\n3 hi\thello\n", 2, "line number 3 after 1"),
        ("a.txt", "1 hi\thello\n2 hi\t \n", 2, "without the system's answer"),
        ("a.txt", "1 hi\thello\tthree\n", 1, "more than one tab"),
        ("a.jsonl", '{"turns": [{"user": "hi"}]}\n', 1, "'user' and 'system'"),
        ("a.jsonl", '{"turns": []}\n', 1, "list of 'turns'"),
        ("a.jsonl", "{\n", 1, "not JSON"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, name: str, text: str, line: int, what: str) -> None:
    path = write(tmp_path, text, name)
    problems: list[Problem] = []
    list(scan_dialogs(path, problems))
    assert problems[0].line == line
    assert what in problems[0].what
    with pytest.raises(InputError, match=r"^[^\n]*$"):
        read_dialogs(path)


_words = st.lists(st.sampled_from(["hi", "rome", "a_b", "two", "<x>"]), min_size=1, max_size=4).map(" ".join)


@given(st.lists(st.lists(st.one_of(st.tuples(_words, _words), _words), min_size=1, max_size=6), max_size=4))
def test_writing_and_reading_gives_the_same_dialogs(
    tmp_path_factory: pytest.TempPathFactory, dialogs: list[list[tuple[str, str] | str]]
) -> None:
    stories = []
    for turns in dialogs:
        sentences: list[str] = []
        questions = []
        for turn in turns:
            if isinstance(turn, str):
                sentences.append(turn)
            else:
                questions.append(Question(turn[0], turn[1], len(sentences)))
                sentences += turn
        stories.append(Story(tuple(sentences), tuple(questions)))
    path = write(tmp_path_factory.mktemp("dialogs"), "".join(format_dialogs(stories)))
    assert list(scan_dialogs(path, [])) == stories


@pytest.mark.skipif(not REAL.is_dir(), reason="the published dialogs are not here")
def test_the_published_files() -> None:
    files = find_dialog_files(REAL)
    assert list(files) == ["1", "2", "3", "4", "5", "6"]
    assert set(files["6"]) == {"train", "valid", "test"}
    test = read_dialogs(files["6"]["test"])
    assert (len(test), sum(len(d.questions) for d in test)) == (1117, 11237)
    assert max(len(d.sentences) for d in test) > 400
    assert all(dialog.task == "6" for dialog in test)
    assert any(q.text == SILENCE and q.after > 0 for d in read_dialogs(files["6"]["train"]) for q in d.questions)
    assert len(read_candidates(REAL / "dialog-babi-candidates.txt")) == 4212
    candidates = read_candidates(REAL / "dialog-babi-task6-dstc2-candidates.txt")
    assert len(candidates) == 2407
    assert {q.answer for d in test for q in d.questions} <= set(candidates)


def test_any_verb_that_reads_files_knows_dialogs(tmp_path: Path) -> None:
    own = write(tmp_path, '{"turns": [{"user": "hi", "system": "hello"}]}\n', "own.jsonl")
    assert read_file(own) == read_dialogs(own)
    parts = load_parts(str(write(tmp_path, own.read_text() * 20, "many.jsonl")), None)
    assert parts.kind == "dialogs"
    assert (len(parts.train), len(parts.test)) == (18, 2)
    named = write(tmp_path, "1 hi\thello\n2 a row here\n", "dialog-babi-task1-API-calls-trn.txt")
    assert read_file(named)[0].task == "1"


def test_the_published_folder_in_parts() -> None:
    if not REAL.is_dir():
        pytest.skip("the published dialogs are not here")
    parts = load_parts(str(REAL), "1")
    assert isinstance(parts, DialogParts)
    assert [len(part) for part in (parts.train, parts.dev, parts.test, parts.unseen)] == [1000] * 4
    assert len(parts.candidates) == 4212
    assert len(parts.knowledge) == 8400
    six = load_parts(str(REAL), "6")
    assert isinstance(six, DialogParts)
    assert (len(six.candidates), six.knowledge, six.unseen) == (2407, (), [])
    with pytest.raises(InputError, match="no dialog task 7"):
        load_parts(str(REAL), "7")


def test_own_dialogs_are_understood_however_they_are_written() -> None:
    """Punctuation, capitals and Unicode forms matter neither with what was trained on nor with what is said."""
    turns = [("Hello there!", "Hi, your order number?"), ("It's no. 17, Zoë speaking.", "Thank you."), ("Bye.", "Bye!")]
    sentences = tuple(text for turn in turns for text in turn)
    questions = tuple(Question(said, answer, 2 * place) for place, (said, answer) in enumerate(turns))
    task = DialogParts("own", [Story(sentences, questions)]).learn(DialogOptions(), [])
    network = build_network(resolve("2r8"), task.vocabulary, task.head)
    model = DialogModel(SavedModel(resolve("2r8"), task, weights_of(network)), task)
    for said, *others in (
        ("Hello there!", "hello there", "HELLO, THERE"),
        ("It's no. 17, Zoë speaking.", "its no 17 ZOE\u0308 speaking", "It’s no. 17 — Zoë speaking!"),
    ):
        expected = model.respond([], said)
        assert expected.unknown_words == ()
        assert [model.respond([], other) for other in others] == [expected] * len(others)
    assert model.respond([], "Hello Zaphod").unknown_words == ("Zaphod",)
