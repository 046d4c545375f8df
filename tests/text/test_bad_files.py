"""Files that are not what they look like: one line that says what, where and what was expected; never a traceback."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.formats.dialog import is_dialog_file
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.readers import read_file, scan_file


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


DEEP = "[" * 100_000
LONG_NUMBER = "1" * 5000
BOMB = gzip.compress(b"x" * 140_000_000, 1)


@pytest.mark.parametrize(
    ("name", "content", "line", "complaint"),
    [
        ("a.csv", "text,question,answer\na,q,x\n", 1, "expected columns story .* found 'text', 'question', 'answer'"),
        ("a.csv", "a b c\n", 1, "expected columns story .* found 'a b c'"),
        ("a.csv", "story,question,anwser\na,q,x\n", 1, "'anwser' is unknown; did you mean 'answer'"),
        ("a.csv", "story,context,question,answer\na,b,q,x\n", 1, "'story' and 'context' both mean the story"),
        ("a.csv", "story,question,answer\na,q,x\na,q\n", 3, "expected 3 fields as in the header, found 2"),
        ("a.csv", 'story,question,answer\n"a\nb",q,x\na,,x\n', 4, "empty question"),
        ("a.csv", "story,question,answer\n,q,x\n", 2, "empty story"),
        ("a.csv", "story,question,answer\na,q,\n", 2, "has no 'answer'"),
        ("a.csv", "story,question,answer,support\na,q,x,1\n", 2, "'support' must be positions from 0 to 0"),
        ("a.csv", 'story,question,answer\na,q,x\n"a,q,x\na,q,x\n', 3, "double quote that nothing closes"),
        ("a.csv", 'story,question,answer\n"a" b,q,x\n', 2, "must end with one"),
        ("a.csv", "dialog,user,system\n1,hi,hello\n2,hi,\n", 3, "without the system's answer"),
        ("a.csv", "dialog,user,system\n1,hi,hello\n2,hi,a\n1,b,c\n", 4, "dialog '1' continues after other dialogs"),
        ("a.csv", "user,system\nhi,hello\n", 1, "or dialog, user and system; found 'user', 'system'"),
        ("a.csv", "", 0, "no questions"),
        ("a.csv", b"story,question,answer\na,q,x\n\xff,q,x\n", 3, "not UTF-8"),
        ("a.csv", b"story,question,answer\na,q\0,x\n", 2, "binary"),
        ("a.tsv", "story,question,answer\na,q,x\n", 1, "expected columns"),
        ("a.json", "story,question,answer\na,q,x\n", 1, "not JSON"),
        ("a.json", '[{"story": "a", "question": "q", "answer": 7},\n\n{"story": "a", "question": 7}]', 3, "columns"),
        ("a.json", '[{"story": "a", "question": "q", "answer": 7}\n{}]', 2, "Expecting ','"),
        ("a.json", '[{"story": "a", "question": "q", "answer": 7},\n{]', 2, "not JSON"),
        ("a.json", '[{"story": "a", "question": "q", "answer": 7}', 1, "Expecting"),
        ("a.json", '{"data": [\n{"paragraphs": [{"context": "a", "qas": [{"question": "q"}]}]}]}', 2, "no 'answer'"),
        ("a.json", '{"data": [\n{"paragraphs": [{"context": "a", "qas": [5]}]}]}', 2, "paragraph 1, question 1"),
        ("a.json", '{"data": [\n{"paragraphs": [{"qas": []}]}]}', 2, "paragraph 1: expected"),
        ("a.json", '{"version": 1}', 1, "expected columns"),
        ("a.json", "7", 1, "Expecting an array or an object"),
        ("a.json", '{"a" 1}', 1, "Expecting ':'"),
        ("a.json", "{a: 1}", 1, "double quotes"),
        ("a.json", "[[1]]", 1, "a story is an object"),
        ("a.json", "[\n" + DEEP, 2, "nested too deeply"),
        ("a.json", "[\n" + LONG_NUMBER + "]", 2, "thousands of digits"),
        ("a.json", b"[\0]", 0, "binary"),
        ("a.json", b"[\xff]", 0, "UTF-8"),
        ("a.jsonl", LONG_NUMBER, 1, "thousands of digits"),
        ("a.jsonl", '{"story": "\\ud800", "question": "q", "answer": "x"}', 1, "half a character"),
        ("a.jsonl", '{"story": "a", "question": "q", "answer": "\\ud800"}', 1, "half a character"),
        ("a.jsonl", '{"sentences": ["\\udfff"]}', 1, "half a character"),
        ("a.jsonl", '{"story": "a", "question": "q\\u0000", "answer": "x"}', 1, "NUL"),
        ("a.jsonl", '{"story": "a", "question": "q", "answer": NaN}', 1, "has no 'answer'"),
        ("a.jsonl", '{"story": "a", "question": "q", "answer": 1e999}', 1, "a text, a number or a list"),
        ("a.jsonl", '{"story": "a", "question": "q", "answer": {}}', 1, "a text, a number or a list"),
        ("a.jsonl", '{"story": "a", "question": "q", "answer": {"text": [[]]}}', 1, "answer"),
        ("a.jsonl", '{"story": "a", "question": "q", "answer": ["", "x"]}', 1, "empty word"),
        (
            "a.jsonl",
            '{"story": "a", "question": "q", "answer": "x"}\n{"turns": [{"row": "x"}]}',
            2,
            "use two files",
        ),
        ("a.jsonl", '{"turns": [{"user": "\\ud800", "system": "x"}]}', 1, "half a character"),
        ("a.jsonl", '{"sentences": ["a"], "task": [1]}', 1, "'task' must be"),
        ("a.csv.gz", b"not gzip", 0, "not a gzip file"),
        ("a.csv.gz", gzip.compress(b"story,question,answer\n" + bytes(range(1, 128)) * 99)[:-30], 0, "gzip"),
        ("a.jsonl.gz", BOMB, 1, "characters"),
        ("a.json.gz", BOMB, 0, "expands to far more"),
        ("a.txt", "1 a\n2 q\tx\t" + LONG_NUMBER, 2, "supporting fact"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, name: str, content: str | bytes, line: int, complaint: str
) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=complaint) as caught:
        read_file(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert "\n" not in message
    assert len(message) < 400
    message.encode()


@pytest.mark.parametrize("open_it", [lambda path: path.mkdir(), lambda path: None])
def test_what_is_no_file(tmp_path: Path, open_it: Callable[[Path], None]) -> None:
    for name in ("a.csv", "a.json", "a.jsonl.gz", "a.txt"):
        open_it(tmp_path / name)
        with pytest.raises(InputError, match=r"a\.\w+(\.gz)?: "):
            read_file(tmp_path / name)


@given(
    st.sampled_from(["a.csv", "a.tsv", "a.json", "a.jsonl", "a.txt", "a.csv.gz"]),
    st.binary(max_size=60) | st.text('{}[]",:storyquestionanwd\n\t 01\\uD8', max_size=80).map(str.encode),
    st.sampled_from([b"", b"story,question,answer\n", b'[{"story": "a", ', b'{"turns": [', b"1 a\n", b"\x1f\x8b\x08"]),
)
def test_no_bytes_crash_a_reader(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes, beginning: bytes
) -> None:
    path = write(tmp_path_factory.mktemp("bytes"), name, beginning + content)
    problems: list[Problem] = []
    list(scan_file(path, problems))
    assert all("\n" not in str(problem) for problem in problems)
    is_dialog_file(path)
