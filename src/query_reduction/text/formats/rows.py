"""Flat rows: one question or one dialog turn per row, as in tables, DataFrames and datasets.

A row of a story has the columns ``story`` (or ``context``, ``passage``: a paragraph, or one sentence per line),
``question`` (or ``query``) and ``answer`` (or ``answers``), and optionally ``id``, ``support`` (positions of
sentences, from 0) and ``task``. A row of a dialog has ``dialog`` (or ``dialog_id``: the same for all rows of one
dialog, which must be consecutive), ``user`` and ``system``, or ``row``, a row of the knowledge base, and optionally
``task``. Names are case-insensitive, and other columns are ignored.

Consecutive rows with the same story, or with one that continues the previous one, are questions about one story.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from query_reduction.text.formats.dialog_text import DialogBuilder
from query_reduction.text.formats.fields import (
    BadRecordError,
    answer_of,
    checked_text,
    is_missing,
    label_of,
    plain,
    positions_of,
    shown,
)
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Question, Story

__all__ = ["Columns", "RowReader", "match_columns"]

_NAMES = {
    "story": ("story", "context", "passage"),
    "question": ("question", "query"),
    "answer": ("answer", "answers"),
    "id": ("id", "question_id"),
    "support": ("support", "facts"),
    "task": ("task",),
    "dialog": ("dialog", "dialog_id", "dialogue", "dialogue_id"),
    "user": ("user",),
    "system": ("system",),
    "row": ("row",),
}
_ROLE = {name: role for role, names in _NAMES.items() for name in names}
_INSTEAD = {"target": "answer", "label": "answer"}
"""Names that datasets have for a column, used where it has none of its own."""
_EXPECTED = "expected columns story (or context, passage), question and answer, or dialog, user and system"
_LIKE = 0.82
_MOST_QUESTIONS = 1000
"""A story is yielded after this many questions, so that a file with one story for all rows can be streamed."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of a table plays which role."""

    of_role: Mapping[str, str]
    dialogs: bool

    def get(self, row: Mapping[str, Any], role: str) -> Any:
        """The field of a row, or None if the table has no such column."""
        name = self.of_role.get(role)
        return None if name is None else row.get(name)


def match_columns(names: Iterable[Hashable], *, unanswered: bool = False) -> Columns:
    """Find the roles of columns; a BadRecordError says what was expected and what was found."""
    of_role: dict[str, Any] = {}
    strange: list[str] = []
    names = list(names)
    for name in names:
        plain_name = str(name).strip().lower().replace(" ", "_").replace("-", "_")
        role = _ROLE.get(plain_name)
        if role is None:
            strange.append(plain_name)
        elif role in of_role:
            raise BadRecordError(
                f"columns {shown(of_role[role])} and {shown(name)} both mean the {role}; leave one out"
            )
        else:
            of_role[role] = name
    for name in names:
        role = _INSTEAD.get(str(name).strip().lower())
        if role is not None:
            of_role.setdefault(role, name)
    dialogs = "system" in of_role or ("user" in of_role and "question" not in of_role)
    needed = {"dialog", "user", "system"} if dialogs else {"story", "question", "answer"}
    if unanswered:
        needed -= {"answer", "system"}
    for name in strange:
        for meant in difflib.get_close_matches(name, _ROLE, 1, _LIKE):
            if _ROLE[meant] not in of_role:
                raise BadRecordError(f"column {shown(name)} is unknown; did you mean {meant!r}?")
    if not needed <= of_role.keys():
        found = ", ".join(shown(name) for name in names[:8]) + (", …" if len(names) > 8 else "")
        raise BadRecordError(f"{_EXPECTED}; found {found or 'none'}")
    return Columns(of_role, dialogs)


@dataclass(slots=True)
class RowReader:
    """Groups rows into stories."""

    task: str = ""
    """The task of rows that do not name one."""
    place: int = 0
    """The line of the row to take."""
    unanswered: bool = False
    _names: tuple[Hashable, ...] = ()
    _columns: Columns | None = None
    _text: Any = ""
    _sentences: tuple[str, ...] = ()
    _questions: list[Question] = field(default_factory=list)
    _task: str = ""
    _dialog: DialogBuilder | None = None
    _dialog_id: Any = None
    _dialogs_read: set[Any] = field(default_factory=set)

    def columns(self, row: Mapping[Any, Any]) -> Columns:
        """The columns of a row."""
        names = tuple(row)
        if self._columns is None or names != self._names:
            self._columns = match_columns(names, unanswered=self.unanswered)
            self._names = names
        return self._columns

    def take(self, row: Mapping[Any, Any]) -> Iterator[Story]:
        """Take a row; yields the story before it if the row begins another one."""
        columns = self.columns(row)
        return self._take_turn(row, columns) if columns.dialogs else self._take_question(row, columns)

    def finish(self) -> Iterator[Story]:
        """The story of the last rows."""
        if self._questions:
            yield Story(self._sentences, tuple(self._questions), self._task)
            self._questions = []
        if self._dialog is not None and self._dialog.sentences:
            yield self._dialog.finish(self._task)
        self._dialog = None

    def _take_question(self, row: Mapping[str, Any], columns: Columns) -> Iterator[Story]:
        text = columns.get(row, "story")
        same = isinstance(text, str) and text == self._text and bool(self._questions)
        sentences = self._sentences if same else self._split(text)
        asked = label_of(columns.get(row, "question"), "the question")
        if not asked:
            raise BadRecordError("empty question")
        question = Question(
            asked,
            answer_of(columns.get(row, "answer"), asked, unanswered=self.unanswered),
            len(sentences),
            positions_of(columns.get(row, "support"), len(sentences)),
            label_of(columns.get(row, "id"), "'id'"),
            self.place,
        )
        task = label_of(columns.get(row, "task"), "'task'") or self.task
        goes_on = sentences[: len(self._sentences)] == self._sentences and task == self._task
        if not goes_on or len(self._questions) >= _MOST_QUESTIONS:
            yield from self.finish()
        self._text, self._sentences, self._task = text, sentences, task
        self._questions.append(question)

    def _split(self, text: Any) -> tuple[str, ...]:
        if isinstance(plain(text), list):  # some datasets have a list of sentences here
            sentences = [checked_text(sentence, "a sentence of the story") for sentence in plain(text)]
        else:
            sentences = split_sentences(label_of(text, "the story"))
        if not sentences or not all(sentences):
            raise BadRecordError("empty story" if not sentences else "empty sentence in a story")
        return tuple(sentences)

    def _take_turn(self, row: Mapping[str, Any], columns: Columns) -> Iterator[Story]:
        name = plain(columns.get(row, "dialog"))
        if is_missing(name) or not isinstance(name, str | int | float):
            raise BadRecordError(f"'dialog' must name the dialog the turn belongs to, not {shown(name)}")
        user, system, told = (label_of(columns.get(row, role), f"'{role}'") for role in ("user", "system", "row"))
        if told and system:
            raise BadRecordError("a row has either 'user' and 'system' or, of the knowledge base, 'row'")
        if not told and not system and not (self.unanswered and user):
            raise BadRecordError("a user's turn without the system's answer")
        if self._dialog is None or name != self._dialog_id:
            if name in self._dialogs_read:
                raise BadRecordError(
                    f"dialog {shown(name)} continues after other dialogs: keep the rows of a dialog together"
                )
            yield from self.finish()
            self._dialogs_read.add(name)
            self._dialog, self._dialog_id = DialogBuilder(), name
            self._task = label_of(columns.get(row, "task"), "'task'") or self.task
        if told:
            self._dialog.row(told)
        else:
            self._dialog.turn(user, system)
