"""Every format of stories and dialogs: what is written is read again, and what is wrong is said with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from story_writers import Layout, write_file

from query_reduction.errors import InputError
from query_reduction.text.formats.dialog import is_dialog_file, read_dialogs
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.readers import read_file, scan_file
from query_reduction.text.sentences import split_sentences, split_story
from query_reduction.text.stories import Question, Story

FILES: list[tuple[str, Layout]] = [
    ("own.jsonl", "nested"),
    ("own.jsonl", "flat"),
    ("own.jsonl.gz", "flat"),
    ("own.json", "nested"),
    ("own.json", "flat"),
    ("own.json", "squad"),
    ("own.json.gz", "squad"),
    ("own.csv", "flat"),
    ("own.tsv", "flat"),
    ("own.csv.gz", "flat"),
    ("own.tsv.gz", "flat"),
    ("own.ndjson", "nested"),
]

text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
# One sentence by the splitter's own rules: of a flat row the story is split.
sentences = text.map(split_sentences).filter(bool).map(lambda found: found[0])
labels = text.map(str.strip).filter(bool)
answers = labels.filter(lambda label: label == " ".join(label.split()))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    told = draw(st.lists(sentences, min_size=1, max_size=5))
    # Not what would be wrapped prose, up to any question.
    assume(all(split_sentences("\n".join(told[:end])) == told[:end] for end in range(1, len(told) + 1)))
    asked = []
    for after in sorted(draw(st.lists(st.integers(1, len(told)), min_size=1, max_size=3))):
        support = draw(st.lists(st.integers(0, after - 1), max_size=2))
        asked.append(Question(draw(labels), draw(answers), after, tuple(support), draw(st.just("") | labels)))
    return Story(tuple(told), tuple(asked), draw(st.sampled_from(["", "2", "my own"])))


def examples(told: list[Story]) -> list[object]:
    """What each question sees: the same whether questions of one story stand in one record or in several."""
    return [(story.task, story.sentences[: q.after], q) for story in told for q in story.questions]


def without_support(told: list[Story]) -> list[Story]:
    """What SQuAD can say: no supporting facts, no task."""
    return [
        Story(story.sentences, tuple(Question(q.text, q.answer, q.after, (), q.id) for q in story.questions))
        for story in told
    ]


@pytest.mark.parametrize(("name", "layout"), FILES)
@given(told=st.lists(stories(), min_size=1, max_size=4))
def test_stories_come_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, layout: Layout, told: list[Story]
) -> None:
    path = tmp_path_factory.mktemp("formats") / name
    write_file(path, told, layout=layout)
    expected = without_support(told) if layout == "squad" else told
    read = read_file(path)
    assert examples(read) == examples(expected)
    if layout == "nested":
        assert read == told
    assert not is_dialog_file(path)


said = text.map(lambda words: " ".join(words.split())).filter(bool)


@st.composite
def dialogs(draw: st.DrawFn) -> Story:
    told: list[str] = []
    asked: list[Question] = []
    for user, system, row in draw(st.lists(st.tuples(said, said, st.none() | said), min_size=1, max_size=4)):
        asked.append(Question(user, system, len(told)))
        told += (user, system, row) if row else (user, system)
    return Story(tuple(told), tuple(asked), draw(st.sampled_from(["", "5"])))


@pytest.mark.parametrize(("name", "layout"), [file for file in FILES if file[1] != "squad"])
@given(told=st.lists(dialogs(), min_size=1, max_size=4))
def test_dialogs_come_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, layout: Layout, told: list[Story]
) -> None:
    path = tmp_path_factory.mktemp("formats") / name
    write_file(path, told, layout=layout, dialogs=True)
    assert read_file(path) == read_dialogs(path) == told
    assert is_dialog_file(path)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


TOLD, ASKED = "Mary got the milk. She went home.", "Where is the milk?"
STORY = (Story(("Mary got the milk.", "She went home."), (Question(ASKED, "home", 2),)),)
NESTED = {"sentences": STORY[0].sentences, "questions": [{"question": ASKED, "answer": ["home"]}]}
SQUAD = {"context": TOLD, "qas": [{"question": ASKED, "answers": [{"text": "home"}, {"text": "at home"}]}]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", f"Context,Question,Answer,title\n{TOLD},{ASKED},home,x\n"),
        ("a.csv", f'story;question;answer\r\n"{TOLD}";{ASKED};home\r\n'),
        ("a.csv", f'story,question,answer\n"{TOLD.replace(". ", f".{chr(10)}")}",{ASKED},home\n'),
        ("a.tsv", f"passage\tquery\tanswers\n{TOLD}\t{ASKED}\thome\n"),
        ("a.tsv", f"\nanswer\tstory\tquestion\n\nhome\t{TOLD}\t{ASKED}\n\n"),
        ("a.txt", f"story,question,answer\n{TOLD},{ASKED},home\n"),
        ("a", json.dumps({"story": TOLD, "question": ASKED, "answer": "home"})),
        ("a.json", json.dumps({"story": list(STORY[0].sentences), "question": ASKED, "answer": "home"})),
        ("a.json", f"\ufeff [{json.dumps(NESTED, indent=2)}]\n"),
        ("a.json", f"\n\n{json.dumps(NESTED, indent=2)}"),
        ("a.data", json.dumps({"context": TOLD, "question": ASKED, "answers": {"text": ["home", "x"]}})),
        ("a.json", json.dumps({"version": "1", "data": [{"title": "t", "paragraphs": [SQUAD]}]})),
        ("a.json", json.dumps({"data": [{"paragraphs": [SQUAD]}], "version": None})),
    ],
)
def test_files_as_people_have_them(tmp_path: Path, name: str, content: str) -> None:
    assert tuple(read_file(write(tmp_path, name, content))) == STORY
    packed = gzip.compress(content.encode())
    assert tuple(read_file(write(tmp_path, f"{name}.gz", packed))) == STORY
    assert tuple(read_file(write(tmp_path, f"packed-{name}", packed))) == STORY, "gzip is known by its first bytes"


def test_rows_of_one_story_are_one_story(tmp_path: Path) -> None:
    rows = "story,question,answer\nA b. C d.,q1,x\nA b. C d.,q2,y\nA b. C d. E f.,q3,z\nd.,q4,w\n"
    first, second = read_file(write(tmp_path, "a.csv", rows))
    assert first.sentences == ("A b.", "C d.", "E f.")
    assert [(q.text, q.after) for q in first.questions] == [("q1", 2), ("q2", 2), ("q3", 3)]
    assert second.sentences == ("d.",)


@pytest.mark.parametrize(
    ("written", "answer"),
    [("7", "7"), ("7.0", "7"), ("3.5", "3.5"), ("-2", "-2"), ("true", "true"), ("false", "false"), ('["a", 7]', "a,7")],
)
def test_answers_that_are_no_texts(tmp_path: Path, written: str, answer: str) -> None:
    nested = f'{{"sentences": ["a"], "questions": [{{"question": "q", "answer": {written}}}]}}\n'
    flat = f'{{"story": "a", "question": "q", "answer": {written}}}\n'
    for number, line in enumerate((nested, flat)):
        assert read_file(write(tmp_path, f"{number}.jsonl", line))[0].questions[0].answer == answer


def test_squad_without_an_answer(tmp_path: Path) -> None:
    questions = [{"question": "q", "id": "1", "answers": [], "is_impossible": True}, {"question": "p", "answers": []}]
    squad = {"data": [{"paragraphs": [{"context": "a. b.", "qas": questions}]}]}
    story = read_file(write(tmp_path, "squad.json", json.dumps(squad)))[0]
    assert [q.answer for q in story.questions] == ["no answer", "no answer"]
    assert [q.id for q in story.questions] == ["1", ""]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "1 a b\n2 q?\t\n"),
        ("a.csv", "story,question\na b,q?\n"),
        ("a.jsonl", '{"story": "a b", "question": "q?"}\n'),
        ("a.jsonl", '{"sentences": ["a b"], "questions": [{"question": "q?"}]}\n'),
        ("a.json", '[{"story": "a b", "question": "q?", "answer": null}]'),
        ("a.json", '{"data": [{"paragraphs": [{"context": "a b", "qas": [{"question": "q?"}]}]}]}'),
    ],
)
def test_questions_to_be_answered(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, name, content)
    problems: list[Problem] = []
    assert list(scan_file(path, problems, unanswered=True)) == [Story(("a b",), (Question("q?", "", 1),))]
    assert not problems
    with pytest.raises(InputError):
        read_file(path)


def test_a_story_for_all_rows_is_still_read_bit_by_bit(tmp_path: Path) -> None:
    path = write(tmp_path, "many.csv", "story,question,answer\n" + "a b.,q,x\n" * 2500)
    told = list(scan_file(path, []))
    assert [len(story.questions) for story in told] == [1000, 1000, 500]


def test_several_sentences_in_one_are_split() -> None:
    story = Story(("a b. C d.", "e", "f! G? h"), (Question("q", "x", 2, (0,)), Question("r", "y", 3, (1, 2), "7")), "2")
    assert split_story(story) == Story(
        ("a b.", "C d.", "e", "f!", "G?", "h"),
        (Question("q", "x", 3, (0, 1)), Question("r", "y", 6, (2, 3, 4, 5), "7")),
        "2",
    )
    assert split_story(split_story(story)) == split_story(story)
