"""What spoils a training is found, with its count, its line and what to do; what is fine is left alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.text.checks import check_parts, check_stories, quick_checks
from query_reduction.text.findings import Finding, counted, worst
from query_reduction.text.stories import Question, Story
from query_reduction.text.writing_checks import check_writing
from query_reduction.worlds import generate

PLACES = ("garden", "kitchen", "office", "hallway")
PEOPLE = ("Mary", "John", "Sandra", "Daniel")


def stories(count: int = 60, seed: int = 0) -> list[Story]:
    """Stories with one question each, on lines 1, 2, 3, …, as in a table."""
    rng = random.Random(seed)
    told = []
    for line in range(1, count + 1):
        moves = [(rng.choice(PEOPLE), rng.choice(PLACES)) for _ in range(4)]
        sentences = tuple(f"{who} went to the {place}." for who, place in moves)
        who, place = moves[-1]
        told.append(Story(sentences, (Question(f"Where is {who}?", place, 4, line=line),)))
    return told


def changed(told: Sequence[Story], numbers: Sequence[int], **changes: object) -> list[Story]:
    """The stories, with something changed in the questions of some."""
    return [
        replace(story, questions=(replace(story.questions[0], **changes),)) if number in numbers else story  # type: ignore[arg-type]
        for number, story in enumerate(told)
    ]


def only(found: Sequence[Finding] | object) -> Finding:
    (finding,) = found  # type: ignore[misc]
    assert isinstance(finding, Finding)
    assert finding.what and finding.todo
    return finding


def test_good_stories_have_no_findings() -> None:
    assert not list(check_stories(stories()))
    assert not list(check_writing(stories()))
    assert not list(check_parts(stories(), stories(seed=1)))
    assert not list(quick_checks(stories(), stories(seed=1)))


@pytest.mark.parametrize("task", [1, 2, 3, 6, 14, 16])
def test_generated_stories_have_no_warnings(task: int) -> None:
    told = generate(task, 500)
    assert worst([*check_stories(told), *check_writing(told)]) in (None, "note")


def test_contradictions() -> None:
    told = stories()
    found = only(check_stories([*told, *changed(told[:3], range(3), answer="attic", line=99)]))
    assert (found.kind, found.severity, found.count, found.line) == ("contradiction", "warning", 6, 1)
    assert f'"{told[0].questions[0].answer}" here and "attic" on line 99' in found.example


@pytest.mark.parametrize("form", ["Garden", "garden.", " garden", "GARDEN!"])
def test_answers_that_differ_only_in_how_they_are_written(form: str) -> None:
    told = stories()
    numbers = [number for number, story in enumerate(told) if story.questions[0].answer == "garden"][:4]
    found = only(check_stories(changed(told, numbers, answer=form)))
    assert (found.kind, found.severity, found.count) == ("spelling", "warning", 4)
    assert found.line == numbers[0] + 1


def test_one_answer_for_all_and_all_different() -> None:
    one = changed(stories(), range(60), answer="yes")
    assert [(found.kind, found.severity) for found in check_stories(one)] == [("one-answer", "error")]
    assert [found.severity for found in check_stories(one, training=False)] == ["warning"]
    told = stories()
    for number in range(60):
        told = changed(told, [number], answer=f"answer {number}")
    assert only(check_stories(told)).kind == "unique-answers"


def test_rare_answers() -> None:
    told = stories()
    for number in range(30):
        told = changed(told, [number], answer=f"answer {number}")
    found = only(check_stories(told))
    assert (found.kind, found.severity, found.count) == ("rare-answers", "warning", 30)
    assert only(check_stories(changed(stories(), [0], answer="attic"))).severity == "note"


def test_few_questions_are_noted_and_training_warns() -> None:
    assert only(check_stories(stories(3))).severity == "note"
    found = list(quick_checks(stories(3)))
    assert [(one.kind, one.severity, one.count) for one in found] == [("few-questions", "warning", 3)]


def test_questions_that_need_no_story() -> None:
    told = stories()
    for number, story in enumerate(told):
        told = changed(told, [number], answer=story.questions[0].text.removeprefix("Where is "))
    found = only(check_stories(told))
    assert (found.kind, found.severity, found.count) == ("question-only", "warning", 60)
    test = [replace(story, sentences=("Nobody went anywhere.",) * 4) for story in told[:30]]
    assert [one.kind for one in check_parts(told, test)] == ["question-only"]


def test_a_common_answer_is_not_called_answerable() -> None:
    told = changed(stories(100), range(90), answer="yes", text="Is it so?")
    told = changed(told, range(90, 100), answer="no", text="Is it so?")
    assert not [found for found in check_stories(told) if found.kind == "question-only"]


def test_test_questions_in_training() -> None:
    train, test = stories(), stories(seed=1)
    found = only(check_parts(train, [*test, *train[:5]]))
    assert (found.kind, found.severity, found.count) == ("leak", "warning", 5)
    assert only(check_parts(train, train)).severity == "error"
    assert only(check_parts(train, [*stories(1000, seed=1), train[0]])).severity == "note"


def test_answers_that_training_does_not_have() -> None:
    found = only(check_parts(stories(), changed(stories(seed=1), [3, 4], answer="moon")))
    assert (found.kind, found.count, found.line, found.example) == ("unseen-answers", 2, 4, '"moon"')


def test_missing_values_ids_and_swapped_columns() -> None:
    assert only(check_stories(changed(stories(), range(5), answer="N/A"))).kind == "placeholder"
    assert only(check_stories(changed(stories(), range(5), id="7"))).kind == "repeated-id"
    swapped = [
        Story(story.sentences, (Question(asked.answer, asked.text, 4, line=asked.line),))
        for story in stories()
        for asked in story.questions
    ]
    assert "swapped" in [found.kind for found in check_stories(swapped)]
    asked_first = [
        Story((asked.text,), (Question(" ".join(story.sentences), asked.answer, 1, line=asked.line),))
        for story in stories()
        for asked in story.questions
    ]
    found = only(check_stories(asked_first))
    assert (found.kind, found.severity) == ("swapped", "error")


def test_answers_that_slipped_by_a_row() -> None:
    told = stories()
    answers = [story.questions[0].answer for story in told]
    slipped = told
    for number in range(60):
        slipped = changed(slipped, [number], answer=answers[number - 1])
    found = only(check_stories(slipped))
    assert (found.kind, found.severity) == ("shifted", "warning")
    assert "60 of 60 answers are in the previous story" in found.what


def test_headers_copies_and_missing_tabs() -> None:
    named = changed(stories(100), [0], text="Question", answer="Answer")
    assert "header" in [found.kind for found in check_stories(named)]
    told = stories(100)
    copied = told[0].questions[0].text
    assert "copied" in [found.kind for found in check_stories(changed(told, [0], answer=copied))]
    told[0] = replace(told[0], sentences=(*told[0].sentences[:3], "Where is Mary? garden 3"))
    assert only(check_stories(told)).kind == "no-tab"


def test_numbers_written_in_two_ways_and_one_answer_for_nearly_all() -> None:
    told = changed(changed(stories(100), range(50), answer="3"), range(4), answer="3.0")
    assert next(check_stories(told)).kind == "spelling"
    found = [one for one in check_stories(changed(stories(200), range(196), answer="no")) if one.kind == "skewed"]
    assert only(found).severity == "warning"


def test_repeated_and_idle() -> None:
    found = only(check_stories(stories() * 3))
    assert (found.kind, found.severity, found.count) == ("repeated", "warning", 120)
    found = only(check_stories([*stories(), Story(("Nothing happened.",), ())]))
    assert (found.kind, found.what) == ("idle", "1 story without a question")


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("broken-characters", "Mary", "ZoÃ«"),
        ("broken-characters", "Mary", "Zo\ufffd"),
        ("invisible-characters", "Mary", "Ma\u200bry"),
        ("invisible-characters", "Mary", "Ma\x1b[1mry"),
        ("markup", "went", "<b>went</b>"),
        ("markup", "Mary", "Mary &amp; co"),
        ("mixed-words", "Mary", "М\u0430ry"),
        ("long-sentence", "went", "went " * 400),
    ],
)
def test_how_texts_are_written(kind: str, before: str, after: str) -> None:
    told = [
        replace(story, sentences=tuple(sentence.replace(before, after) for sentence in story.sentences))
        for story in stories()
    ]
    found = only(check_writing(told))
    assert (found.kind, found.severity) == (kind, "warning")
    assert found.line == next(story.questions[0].line for story in told if after in " ".join(story.sentences))


def test_scripts_and_languages_are_not_mixed() -> None:
    def also(sentence: str, question: str) -> list[Story]:
        return stories(50) + [Story((sentence,) * 3, (Question(question, "x", 3, line=77),))] * 5

    found = only(check_writing(also("Мария пошла в сад.", "Где Мария?")))
    assert (found.kind, found.count, found.line) == ("mixed-scripts", 5, 77)
    found = only(check_writing(also("Maria ist in den Garten gegangen und hat der Frau das Buch.", "Wo ist sie?")))
    assert (found.kind, found.count) == ("mixed-languages", 5)
    assert "50 English, 5 German" in found.what


_texts = st.text(max_size=12)


@given(st.lists(st.tuples(st.lists(_texts, min_size=1, max_size=3), _texts, _texts), max_size=25))
def test_anything_is_checked(told: list[tuple[list[str], str, str]]) -> None:
    made = [Story(tuple(s), (Question(q, a, len(s), line=n),)) for n, (s, q, a) in enumerate(told)]
    found = [*check_stories(made), *check_writing(made), *check_parts(made, made), *quick_checks(made, made)]
    assert all(one.count > 0 and "\n" not in str(one) for one in found)


def test_words_agree_with_their_number() -> None:
    assert counted(1, "story", "stories") == "1 story"
    assert counted(2, "story", "stories") == "2 stories"
    assert counted(0, "answer") == "0 answers"
