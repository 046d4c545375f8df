"""Read stories and dialogs from wherever they are: a file of any known format, a DataFrame, a dataset, plain rows.

============================  ==============================================================================
``.txt``, any other           numbered lines: bAbI stories; dialogs if the file has a published dialog name
``.jsonl``, ``.ndjson``       one story, dialog or flat row per line
``.json``                     an array of them, or SQuAD
``.csv``, ``.tsv``            flat rows: one question or turn each
``.gz`` after any of these    the same, compressed
============================  ==============================================================================

For any other suffix the content decides: JSON and tables are recognised by how they begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from query_reduction.checked import check_field, checked, shown_value
from query_reduction.errors import InputError
from query_reduction.text.formats import babi, jsonl
from query_reduction.text.formats.dialog_text import published_part, scan_dialog_text
from query_reduction.text.formats.fields import BadRecordError, parse_json
from query_reduction.text.formats.json_file import scan_json
from query_reduction.text.formats.lines import Problem, Scanner
from query_reduction.text.formats.opening import first_characters
from query_reduction.text.formats.record import Record, scan_records
from query_reduction.text.formats.tables import columns_of_header, scan_table
from query_reduction.text.stories import Story

__all__ = ["SUFFIXES", "holds_dialogs", "read", "read_file", "read_rows", "record_scanner", "scan_file", "scan_rows"]

_SCANNERS: dict[str, Scanner] = {
    ".jsonl": jsonl.scan_lines,
    ".ndjson": jsonl.scan_lines,
    ".json": scan_json,
    ".csv": scan_table,
    ".tsv": scan_table,
}
SUFFIXES = (".txt", *_SCANNERS)
"""Suffixes of files that are read; each may be followed by ``.gz``."""

_TELLING_NAME = re.compile(
    r'"(?:(turns|user|system)|sentences|questions?|query|story|context|passage|paragraphs|qas)"\s*:', re.IGNORECASE
)


def scan_file(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the stories of a file one by one, recording what is wrong with it.

    With ``unanswered``, questions may lack answers (an empty text), for a model to answer.
    Only one story at a time is in memory, except for whole JSON files.
    """
    scan = record_scanner(path) or (scan_dialog_text if published_part(path) else babi.scan_lines)
    return scan(path, problems, stop_at_first=stop_at_first, unanswered=unanswered)


def read_file(path: Path) -> list[Story]:
    """All stories of one file; the first problem found is raised."""
    problems: list[Problem] = []
    stories = list(scan_file(path, problems, stop_at_first=True))
    if problems:
        raise InputError(f"{problems[0]} ('qrn data check' lists all problems)")
    if not any(story.questions for story in stories):
        raise InputError(f"{path}: no questions in this file; 'qrn data check' says what it holds")
    return stories


def scan_rows(
    rows: Iterable[Mapping[Any, Any]], problems: list[Problem], *, name: str = "row", unanswered: bool = False
) -> Iterator[Story]:
    """Yield the stories of rows one by one; problems name the row, counted from 1, after ``name``."""
    records = (Record(place, row) for place, row in enumerate(rows, start=1))
    return scan_records(records, Path(name), problems, unanswered=unanswered)


def read_rows(rows: Iterable[Mapping[Any, Any]], *, name: str = "row", unanswered: bool = False) -> list[Story]:
    """All stories of rows: mappings with columns as ``formats.rows`` says, or nested as JSON lines."""
    problems: list[Problem] = []
    stories: list[Story] = []
    for story in scan_rows(rows, problems, name=name, unanswered=unanswered):
        stories.append(story)
        if problems:
            break
    if problems:
        raise InputError(str(problems[0]))
    if not any(story.questions for story in stories):
        raise InputError(f"{name}: no rows with questions")
    return stories


@checked
def read(source: object, *, unanswered: bool = False) -> list[Story]:
    """Stories from a file's path, a pandas DataFrame, a Hugging Face dataset, a list of rows, or a list of stories."""
    if isinstance(source, str | Path):
        check_field("source", source, str | Path)
        return _read_path(Path(source), unanswered)
    names = getattr(source, "column_names", None)
    if isinstance(names, Mapping):
        raise InputError(f"a dataset of several parts: choose one, e.g. dataset[{next(iter(names), 'train')!r}]")
    kind = type(source).__name__
    if hasattr(source, "itertuples") and hasattr(source, "columns"):
        columns = list(source.columns)
        rows = (dict(zip(columns, row, strict=True)) for row in source.itertuples(index=False, name=None))
        return read_rows(rows, name=kind, unanswered=unanswered)
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping):
        raise InputError(
            f"expected a path, a DataFrame, a dataset, or a list of rows or stories; found {shown_value(source)}"
        )
    if names is not None:
        return read_rows(source, name=kind, unanswered=unanswered)
    items = list(source)
    if items and all(isinstance(item, Story) for item in items):
        return items
    return read_rows(items, unanswered=unanswered)


def _read_path(path: Path, unanswered: bool) -> list[Story]:
    if not unanswered:
        return read_file(path)
    problems: list[Problem] = []
    stories = list(scan_file(path, problems, stop_at_first=True, unanswered=True))
    if problems:
        raise InputError(str(problems[0]))
    return stories


def record_scanner(path: Path) -> Scanner | None:
    """The reader of the file if it is JSON or a table, by its suffix or how it begins; None for numbered lines."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix in (".csv", ".tsv"):
        return scan_table
    beginning = first_characters(path).lstrip()
    first_line, _, rest = beginning.partition("\n")
    if suffix in (".jsonl", ".ndjson"):  # some people name a whole array so
        whole = first_line.startswith("[") or (first_line.strip() == "{" and rest.strip())
        return scan_json if whole else jsonl.scan_lines
    if beginning.startswith("{") and rest.strip() and _is_json(first_line):
        return jsonl.scan_lines  # some people name these .json, too
    if suffix == ".json" or beginning.startswith(("{", "[")):
        return scan_json
    return scan_table if _is_header(first_line) else None


def holds_dialogs(path: Path) -> bool:
    """Whether a file holds dialogs: by its published name, or by what its first record has."""
    scan = record_scanner(path)
    if scan is None:
        return published_part(path) is not None
    beginning = first_characters(path)
    if scan is scan_table:
        return _is_header(beginning.lstrip().partition("\n")[0], dialogs=True)
    name = _TELLING_NAME.search(beginning)
    return name is not None and name[1] is not None


def _is_json(line: str) -> bool:
    try:
        parse_json(line)
    except BadRecordError:
        return False
    return True


def _is_header(line: str, *, dialogs: bool = False) -> bool:
    try:
        _, columns = columns_of_header(line, unanswered=True)
    except BadRecordError:
        return False
    return columns.dialogs or not dialogs
