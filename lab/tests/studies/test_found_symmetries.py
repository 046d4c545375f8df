"""The study of found symmetries: what it counts as false, and its table."""

from __future__ import annotations

from query_reduction_lab.studies.found_symmetries import check, false_answers, table

from query_reduction.names import Symmetries
from query_reduction.worlds import generate


def test_a_true_exchange_falsifies_nothing_and_a_false_one_does() -> None:
    stories = generate(1, 60, seed=0)
    people = Symmetries(kinds=(("mary", "john", "sandra", "daniel"),))
    assert check(1, stories, [people]) == {"units": 4, "questions": 60, "false": 0}
    # What is north of something has it to the south.
    assert check(4, generate(4, 60, seed=0), [Symmetries(kinds=(("north", "east"),))])["false"] > 0


def test_answers_that_were_false_before_do_not_count() -> None:
    stories = generate(1, 20, seed=0)
    # The solver of another task answers nothing of this one.
    assert len(false_answers(19, stories)) == 20
    assert check(19, stories, [Symmetries()])["false"] == 0


def test_the_table_has_a_row_per_task_and_per_check() -> None:
    row = {"stories": 60, "choices": 3, "units": 7, "questions": 180, "false": 0}
    text = table([{"task": 4, "title": "T", "found": ["interchangeable: a, b", "c"], "checked": [row, row]}])
    assert "| 4 | T | interchangeable: a, b; c |" in text
    assert text.count("| 4 | 60 | 3 | 7 | 180 | 0 |") == 2
