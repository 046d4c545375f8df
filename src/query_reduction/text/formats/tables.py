"""CSV and TSV: a header line with the names of the columns, then one row per question or turn (see ``rows``).

Fields that contain the delimiter, line ends or double quotes are enclosed in double quotes, and double quotes inside
are doubled. A ``.csv`` file may use semicolons between fields, as some spreadsheets write them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from query_reduction.text.formats.fields import BadRecordError
from query_reduction.text.formats.lines import Problem, text_lines
from query_reduction.text.formats.opening import LONGEST_LINE
from query_reduction.text.formats.record import Record, scan_records
from query_reduction.text.formats.rows import Columns, match_columns
from query_reduction.text.stories import Story

__all__ = ["DELIMITERS", "columns_of_header", "scan_table"]

DELIMITERS = ",;\t"
_NAMED = {",": "comma", ";": "semicolon", "\t": "tab"}


def scan_table(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the stories of a file and append what is wrong with it to ``problems``."""
    records = _records(path, problems, unanswered)
    return scan_records(records, path, problems, stop_at_first=stop_at_first, unanswered=unanswered)


def columns_of_header(line: str, delimiters: str = DELIMITERS, *, unanswered: bool = False) -> tuple[str, Columns]:
    """The delimiter of a table and its columns, from its first line; BadRecordError if they are unknown."""
    complaint: BadRecordError | None = None
    for delimiter in delimiters:
        try:
            return delimiter, match_columns(next(csv.reader([line], delimiter=delimiter)), unanswered=unanswered)
        except BadRecordError as error:
            # The error with the first delimiter that occurs says most about what is wrong.
            if complaint is None or (delimiter in line and "found" in str(complaint)):
                complaint = error
        except (csv.Error, StopIteration):
            continue
    raise complaint or BadRecordError("no header line with the names of columns")


def _records(path: Path, problems: list[Problem], unanswered: bool) -> Iterator[Record]:
    # A process-wide limit whose default is too short for many real passages.
    csv.field_size_limit(LONGEST_LINE)
    lines = (f"{line}\n" for line in text_lines(path, problems))
    before = 0
    header = ""
    for header in lines:
        before += 1
        if header.strip():
            break
    if not header.strip():
        return
    delimiters = "\t" if ".tsv" in path.suffixes[-2:] else DELIMITERS
    try:
        delimiter, _ = columns_of_header(header, delimiters, unanswered=unanswered)
    except BadRecordError as error:
        problems.append(Problem(path, before, str(error)))
        return
    names = next(csv.reader([header], delimiter=delimiter))
    table = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        place = before + table.line_num + 1
        try:
            fields = next(table)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(Problem(path, place, f"{_complaint(error)} ({error})"))
            return
        if len(fields) == len(names):
            yield Record(place, dict(zip(names, fields, strict=True)))
        elif fields:
            empty = len(fields) > len(names) and not any(fields[len(names) :])
            why = f": a {_NAMED[delimiter]} at the end of the line" if empty else ""
            problems.append(
                Problem(path, place, f"expected {_count(names)} as in the header, found {len(fields)}{why}")
            )


def _complaint(error: csv.Error) -> str:
    if "limit" in str(error) or "end of data" in str(error):
        return "a field begins with a double quote that nothing closes"
    return "a field that begins with a double quote must end with one, and double those inside"


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} field{'s' * (len(names) != 1)}"
