"""Write stories and dialogs in the formats that ``readers`` reads."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.text.formats import babi, jsonl
from query_reduction.text.formats.dialog import format_dialogs, speakers
from query_reduction.text.formats.squad import format_squad
from query_reduction.text.stories import Story

__all__ = ["Layout", "dialog_rows", "flat_rows", "format_file", "format_table", "nested_dialog", "write_file"]

Layout = Literal["nested", "flat", "squad"]
"""The layout of JSON: one record per story, one per question (or turn), or SQuAD."""


def flat_rows(stories: Iterable[Story]) -> Iterator[dict[str, str]]:
    """One row per question: the part of the story it sees, one sentence per line, and what else is known."""
    for story in stories:
        for question in story.questions:
            yield {
                "id": question.id,
                "task": story.task,
                "story": "\n".join(story.sentences[: question.after]),
                "question": question.text,
                "answer": question.answer,
                "support": " ".join(map(str, question.support)),
            }


def dialog_rows(dialogs: Iterable[Story]) -> Iterator[dict[str, str]]:
    """One row per turn or knowledge-base row; dialogs are numbered from 1."""
    for number, dialog in enumerate(dialogs, start=1):
        for turn in _turns(dialog):
            yield {"dialog": str(number), "task": dialog.task, "user": "", "system": "", "row": "", **turn}


def nested_dialog(dialog: Story) -> dict[str, Any]:
    """A dialog as the value of one JSON line."""
    return {"turns": list(_turns(dialog))} | ({"task": dialog.task} if dialog.task else {})


def _turns(dialog: Story) -> Iterator[dict[str, str]]:
    answer_at = {question.after: question.answer for question in dialog.questions}
    for position, (speaker, sentence) in enumerate(zip(speakers(dialog), dialog.sentences, strict=True)):
        if speaker == "user":
            yield {"user": sentence, "system": answer_at[position]}
        elif speaker == "row":
            yield {"row": sentence}


def format_table(rows: Sequence[dict[str, str]], delimiter: str = ",") -> str:
    """Rows as CSV (or with another delimiter), with a header; columns that are empty everywhere are omitted."""
    names = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    text = io.StringIO()
    table = csv.DictWriter(text, names, extrasaction="ignore", delimiter=delimiter, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def format_file(suffix: str, stories: Sequence[Story], *, layout: Layout = "nested", dialogs: bool = False) -> str:
    """The text of a file with this suffix (without ``.gz``)."""
    if suffix == ".txt":
        return "".join(format_dialogs(stories) if dialogs else babi.format_stories(stories))
    rows = list(dialog_rows(stories) if dialogs else flat_rows(stories))
    if suffix in (".csv", ".tsv"):
        return format_table(rows, "\t" if suffix == ".tsv" else ",")
    if suffix == ".json" and layout == "squad" and not dialogs:
        return format_squad(stories)
    values: list[Any] = rows
    if layout == "nested":
        values = [nested_dialog(story) if dialogs else jsonl.nested(story) for story in stories]
    if suffix == ".json":
        return json.dumps(values, ensure_ascii=False, indent=1) + "\n"
    if suffix in (".jsonl", ".ndjson"):
        return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    raise InputError(f"no format has the suffix {suffix!r}: use .txt, .jsonl, .json, .csv or .tsv, and .gz after it")


def write_file(path: Path, stories: Sequence[Story], *, layout: Layout = "nested", dialogs: bool = False) -> None:
    """Write stories, or dialogs, in the format given by the file's suffix; ``.gz`` after it compresses."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    content = format_file(suffix, stories, layout=layout, dialogs=dialogs).encode()
    # No time in the file: the same stories give the same bytes.
    write_atomically(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
