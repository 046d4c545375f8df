"""Records (the objects of JSON, the rows of tables) as stories and dialogs, whatever file they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from query_reduction.text.formats import squad
from query_reduction.text.formats.dialog_text import DialogBuilder
from query_reduction.text.formats.fields import (
    BadRecordError,
    answer_of,
    checked_text,
    label_of,
    plain,
    positions_of,
    shown,
)
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.rows import RowReader
from query_reduction.text.formats.tracks import has_tracks, story_with_tracks
from query_reduction.text.stories import Question, Story

__all__ = ["Record", "scan_records"]


class Record(NamedTuple):
    """A value and its location."""

    place: int
    """Its line in the file, or its number among rows that are not from a file."""
    value: Any


def scan_records(
    records: Iterable[Record],
    path: Path,
    problems: list[Problem],
    *,
    stop_at_first: bool = False,
    unanswered: bool = False,
) -> Iterator[Story]:
    """Yield the stories of records and append what is wrong with them to ``problems``."""
    rows = RowReader(unanswered=unanswered)
    told_before: bool | None = None
    for place, value in records:
        if stop_at_first and problems:
            return
        try:
            dialog = _is_dialog(value, rows)
            if told_before not in (None, dialog):
                raise BadRecordError("stories and dialogs in one file: use two files")
            told_before = dialog
            yield from _stories(value, rows, unanswered)
        except BadRecordError as error:
            problems.append(Problem(path, place, str(error)))
    yield from rows.finish()


def _is_dialog(value: Any, rows: RowReader) -> bool:
    if not isinstance(value, Mapping):
        raise BadRecordError(
            "a story is an object with 'sentences' and 'questions', a dialog one with 'turns', a row one with 'story', "
            f"'question' and 'answer'; found {shown(value)}"
        )
    if "turns" in value:
        return True
    told = "sentences" in value or "paragraphs" in value or has_tracks(value)
    return not told and rows.columns(value).dialogs


def _stories(value: Mapping[str, Any], rows: RowReader, unanswered: bool) -> Iterator[Story]:
    if "turns" in value:
        yield _dialog(value, unanswered)
    elif has_tracks(value):
        yield story_with_tracks(value)
    elif "sentences" in value:
        yield _story(value, unanswered)
    elif "paragraphs" in value:
        yield from squad.stories_of_article(value, unanswered=unanswered)
    else:
        yield from rows.take(value)


def _story(value: Mapping[str, Any], unanswered: bool) -> Story:
    sentences = plain(value["sentences"])
    if not isinstance(sentences, list) or not all(isinstance(s, str) and s.strip() for s in sentences):
        raise BadRecordError("'sentences' must be a list of non-empty texts")
    if not sentences:
        raise BadRecordError("a story needs at least one sentence")
    questions = plain(value.get("questions", []))
    if not isinstance(questions, list):
        raise BadRecordError("'questions' must be a list")
    asked = [_question(question, len(sentences), unanswered) for question in questions]
    return Story(
        tuple(checked_text(sentence, "a sentence") for sentence in sentences),
        tuple(sorted(asked, key=lambda question: question.after)),
        label_of(value.get("task"), "'task'"),
    )


def _question(value: Any, sentence_count: int, unanswered: bool) -> Question:
    if not isinstance(value, dict) or not isinstance(value.get("question"), str) or not value["question"].strip():
        raise BadRecordError("a question is an object with a text 'question' and an 'answer'")
    text = checked_text(value["question"], "the question")
    after = value.get("after", sentence_count)
    if type(after) is not int or not 1 <= after <= sentence_count:
        raise BadRecordError(f"'after' must be a number from 1 to {sentence_count}, not {shown(after)}")
    return Question(
        text,
        answer_of(value.get("answer"), text, unanswered=unanswered),
        after,
        positions_of(value.get("support"), after),
        label_of(value.get("id"), "'id'"),
    )


def _dialog(value: Mapping[str, Any], unanswered: bool) -> Story:
    turns = plain(value["turns"])
    if not isinstance(turns, list) or not turns:
        raise BadRecordError("a dialog is an object with a list of 'turns'")
    dialog = DialogBuilder()
    for turn in turns:
        keys = {key: text for key, text in turn.items() if isinstance(text, str)} if isinstance(turn, dict) else {}
        said = {key: checked_text(keys[key], f"'{key}'") for key in ("user", "system", "row") if key in keys}
        if said.get("row"):
            dialog.row(said["row"])
        elif "user" in said and (said.get("system") or unanswered):
            dialog.turn(said["user"], said.get("system", ""))
        else:
            raise BadRecordError("a turn has texts 'user' and 'system', or is a knowledge-base 'row'")
    return dialog.finish(label_of(value.get("task"), "'task'"))
