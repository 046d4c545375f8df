"""JSON lines: one value per line. A story looks like this (on one line):

    {"sentences": ["Mary got the milk.", "Mary went home."],
     "questions": [{"question": "Where is the milk?", "answer": "home", "support": [0, 1], "after": 2}]}

``support`` (positions of the supporting sentences, from 0), ``after`` (how many sentences the question sees; all of
them by default), ``id`` and ``task`` (of the story) are optional. An answer may be a number, true or false, or a
list of words. Dialogs and flat rows may be JSON lines, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from query_reduction.text.formats.fields import BadRecordError, parse_json
from query_reduction.text.formats.lines import Problem, text_lines
from query_reduction.text.formats.record import Record, scan_records
from query_reduction.text.stories import Story

__all__ = ["format_stories", "nested", "scan_lines"]


def scan_lines(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the stories of a file and append what is wrong with it to ``problems``."""
    records = _records(path, problems)
    return scan_records(records, path, problems, stop_at_first=stop_at_first, unanswered=unanswered)


def _records(path: Path, problems: list[Problem]) -> Iterator[Record]:
    for place, line in enumerate(text_lines(path, problems), start=1):
        if not line.strip():
            continue
        try:
            yield Record(place, parse_json(line))
        except BadRecordError as error:
            problems.append(Problem(path, place, str(error)))


def nested(story: Story) -> dict[str, Any]:
    """A story as the value of one JSON line."""
    questions = [
        {"question": q.text, "answer": q.answer, "support": list(q.support), "after": q.after}
        | ({"id": q.id} if q.id else {})
        for q in story.questions
    ]
    value: dict[str, Any] = {"sentences": list(story.sentences), "questions": questions}
    return value | ({"task": story.task} if story.task else {})


def format_stories(stories: Iterable[Story]) -> Iterator[str]:
    """The JSON lines (with ends) of stories."""
    for story in stories:
        yield json.dumps(nested(story), ensure_ascii=False) + "\n"
