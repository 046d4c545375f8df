"""bAbI and JSONL files: what is read, what is refused and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.formats import babi, jsonl
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.readers import read_file, scan_file
from query_reduction.text.stories import Question, Story


def test_babi_file(story_file: Path) -> None:
    first, second = read_file(story_file)
    assert first.sentences == ("Mary got the milk.", "Mary went to the garden.", "John went to the office.")
    assert first.questions == (
        Question("Where is the milk?", "garden", 2, (0, 1)),
        Question("Where is John?", "office", 3, (2,)),
    )
    assert second.questions == (Question("Where is the apple?", "nowhere,yet", 1),)
    assert first.task == "2"


def test_windows_line_ends_and_byte_order_mark(story_file: Path) -> None:
    expected = read_file(story_file)
    story_file.write_bytes(b"\xef\xbb\xbf" + story_file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_file(story_file) == expected


def test_any_language(tmp_path: Path) -> None:
    path = tmp_path / "hindi.txt"
    path.write_text("1 मरियम बगीचे में गयी\n2 मरियम कहाँ है?\tबगीचा\t1\n", encoding="utf-8")
    assert read_file(path)[0].questions[0].answer == "बगीचा"


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        (b"1 Where is Mary?\tgarden\t1\n", 1, "question before any sentence"),
        (b"1 Mary left.\n3 John left.\n4 Who?\tMary\n", 2, "line number 3 after 1"),
        (b"1 Mary left.\n2 Who?\tMary\t7\n", 2, "supporting fact '7'"),
        (b"1 Mary left.\n2 Who?\tMary\tone\n", 2, "supporting fact 'one'"),
        (b"1 Mary left.\n2 Who?\t\t1\n", 2, "without an answer"),
        (b"1 Mary left.\n2 \tMary\t1\n", 2, "empty question"),
        (b"Mary left.\n", 1, "expected 'NUMBER text'"),
        (b"1\n", 1, "empty sentence"),
        (b"\x00\x01\x02\x03", 0, "binary"),
        (b"\xff\xfe\xfa\xfb", 0, "not UTF-8"),
        (b"", 0, "no questions"),
        (b"1 Mary left.\n", 0, "no questions"),
    ],
)
def test_bad_babi_files(tmp_path: Path, content: bytes, line: int, complaint: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_file(path)
    message = str(caught.value)
    assert complaint in message
    assert str(path) in message
    assert f":{line}:" in message or line == 0
    assert "\n" not in message


def test_all_problems_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("1 Mary left.\nnonsense\n5 John left.\n6 Who?\t\n")
    problems: list[Problem] = []
    list(scan_file(path, problems))
    assert [problem.line for problem in problems] == [2, 3, 4]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[1, 2]", "a story is an object"),
        ("{", "not JSON"),
        ('{"sentences": []}', "at least one sentence"),
        ('{"sentences": [1]}', "list of non-empty texts"),
        ('{"sentences": ["a"], "questions": [{"question": "q"}]}', "has no 'answer'"),
        ('{"sentences": ["a"], "questions": [{"question": "q", "answer": "x", "after": 2}]}', "'after'"),
        ('{"sentences": ["a"], "questions": [{"question": "q", "answer": "x", "support": [1]}]}', "'support'"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_jsonl(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=complaint) as caught:
        read_file(path)
    assert f"{path}:1:" in str(caught.value)


words = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=5).map(lambda w: " ".join(w) + ".")


@st.composite
def stories(draw: st.DrawFn) -> Story:
    told = draw(st.lists(sentences, min_size=1, max_size=8))
    asked = []
    for after in sorted(draw(st.lists(st.integers(1, len(told)), max_size=4))):
        support = draw(st.lists(st.integers(0, after - 1), max_size=3))
        asked.append(Question(draw(sentences), ",".join(draw(st.lists(words, min_size=1))), after, tuple(support)))
    return Story(tuple(told), tuple(asked))


@given(st.lists(stories(), min_size=1, max_size=4), st.booleans())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, told: list[Story], space: bool) -> None:
    folder = tmp_path_factory.mktemp("stories")
    for path, lines in (
        (folder / "stories.txt", babi.format_stories(told, space_before_tab=space)),
        (folder / "stories.jsonl", jsonl.format_stories(told)),
    ):
        path.write_text("".join(lines), encoding="utf-8")
        problems: list[Problem] = []
        assert list(scan_file(path, problems)) == told
        assert not problems


def test_published_files_are_read_and_written_back(real_babi: Path) -> None:
    for path in sorted((real_babi / "en").glob("qa*_train.txt")):
        stories = read_file(path)
        assert sum(len(story.questions) for story in stories) == 1000
        raw = path.read_text(encoding="utf-8")
        assert "".join(babi.format_stories(stories)) == raw.replace(" \t", "\t")
