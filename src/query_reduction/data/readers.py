"""Read a file of stories, whatever its format: the ending ``.jsonl`` means JSON lines, all else bAbI text.

Dialogs are known by the published file names, or by the ``turns`` of their JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from query_reduction.data import babi, jsonl
from query_reduction.data.dialog import is_dialog_file, scan_dialogs
from query_reduction.data.lines import Problem
from query_reduction.data.stories import Story
from query_reduction.errors import InputError

__all__ = ["read_file", "scan_file"]


def scan_file(path: Path, problems: list[Problem], *, stop_at_first: bool = False) -> Iterator[Story]:
    """Yield the stories of a file, noting what is wrong with it."""
    if is_dialog_file(path):
        return scan_dialogs(path, problems, stop_at_first=stop_at_first)
    scan = jsonl.scan_lines if path.suffix == ".jsonl" else babi.scan_lines
    return scan(path, problems, stop_at_first=stop_at_first)


def read_file(path: Path) -> list[Story]:
    """All stories of one file; the first problem found is raised."""
    problems: list[Problem] = []
    stories = list(scan_file(path, problems, stop_at_first=True))
    if problems:
        raise InputError(f"{problems[0]} ('qrn data check' lists all problems)")
    if not any(story.questions for story in stories):
        raise InputError(f"{path}: no questions in this file; 'qrn data --help' says what stories look like")
    return stories
