"""qrn data check"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError
from query_reduction.sources.named import data_folder
from query_reduction.sources.part_files import data_files, part_of
from query_reduction.text.checks import check_parts, check_stories
from query_reduction.text.findings import Finding, Severity, counted, worst
from query_reduction.text.formats.dialog import is_dialog_file
from query_reduction.text.formats.foreign import FOREIGN_SUFFIXES
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.opening import first_characters
from query_reduction.text.formats.readers import SUFFIXES, scan_file
from query_reduction.text.stories import Story
from query_reduction.text.writing_checks import check_writing

__all__ = ["CheckData", "data_path"]

_EXIT = {"error": 1, "warning": 3}
_COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": ""}
_FORMATS = {
    ".jsonl": ("JSON lines", re.compile(r"\{.*\}\s*$")),
    ".txt": ("numbered lines", re.compile(r"1 \w")),
    ".csv": ("a table with commas", re.compile(r"(?i)\w+(?:[,;]\w+)*[,;](?:question|answer)")),
    ".tsv": ("a table with tabs", re.compile(r"(?i)\w+(?:\t\w+)*\t(?:question|answer)")),
}
"""Suffix → what such a file holds, and what its first line looks like."""
_VARIABLE = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|\d+")
_TODO = (
    ("which is not read", ""),
    ("not UTF-8", "save the file as UTF-8 ('CSV UTF-8' in spreadsheets)"),
    ("expected 'NUMBER", "number the lines of each story from 1; or write a table with story, question and answer"),
    ("line number", "a story begins at 1 and counts up; a question counts, too"),
    ("binary data", "it is not text, or UTF-16, or damaged: save it again as UTF-8 text"),
    ("not a gzip file", "take .gz off its name, or pack it with gzip"),
    ("gzip", "make or copy the file again"),
    ("Unterminated", "the file was cut short, or a double quote is missing"),
    ("not JSON", "write one object per line in .jsonl, one array of objects in .json, and no comma after the last"),
    ("expected columns", "name the columns in the first line"),
    ("is unknown; did you mean", "rename it"),
    ("at the end of the line", "remove it, or name the column"),
    ("as in the header", "put texts with commas or line ends in double quotes"),
    ("double quote", "close it, and double those inside a text"),
    ("before any sentence", "put the sentences of the story before its questions"),
    ("has no 'answer'", "give the answer, or leave the question out; 'qrn predict' takes questions without answers"),
    ("without an answer", "give the answer, or leave the question out; 'qrn predict' takes questions without answers"),
    ("supporting fact", "name earlier lines of the same story, or none"),
    ("no questions", "docs/files.md shows the formats that are read"),
    ("", "correct this, or leave it out"),
)
"""Part of what a reader says, and what to do about it; the first that fits."""


class _File(NamedTuple):
    path: Path
    part: str
    """train, valid, test, or empty."""
    key: str
    """The name without the part: files of the same key belong together."""
    stories: list[Story]
    dialogs: bool


@dataclass(frozen=True)
class CheckData:
    """Check data before training on it.

    Counts what is in a file or folder, and lists what cannot be read and what would make a result misleading:
    contradictions, answers that differ only in spelling, questions that need no story, test questions that are also in
    training, mixed languages and more, each with a line number and advice. The exit code is 1 after errors, 3 after
    warnings, and 0 otherwise.

        qrn data check stories.jsonl
        qrn data check my-folder --json
    """

    path: Annotated[str, POSITIONAL]
    """A file (.txt, .jsonl, .json, .csv, .tsv, each also with .gz), a folder of them, or babi, babi/en-10k,
    dialog, propara, clutrr."""
    json: bool = False
    """Print as one JSON object."""

    def run(self) -> int:
        """Check."""
        path = data_path(self.path)
        paths = [one for one in data_files(path) if _is_data(one)] if path.is_dir() else [path]
        others = _foreign(path) if path.is_dir() else []
        if not paths and not others:
            raise InputError(f"{path}: no {', '.join(SUFFIXES)} files here")
        problems: list[Problem] = []
        files = [_read(path, problems) for path in paths]
        found = [*_problems(problems), *(finding for file in files for finding in _check(file, problems))]
        found += [finding for file in files for finding in _compare(file, files)]
        found += [_not_read(path) for path in others]
        rows = [_count(file) for file in files]
        if self.json:
            shown = [{"file": str(p.path), "line": p.line, "what": p.what} for p in problems]
            print_json({"files": rows, "findings": [one.as_json() for one in found], "problems": shown})
        else:
            _show(rows, found)
        return _EXIT.get(worst(found) or "note", 0)


def data_path(name: str) -> Path:
    """The file or folder that ``--data`` would mean by this name."""
    path = Path(name)
    if path.exists():
        return path
    folder = data_folder(name)
    if folder is None:
        raise InputError(f"no file or folder {name}; nor is it babi, babi/en-10k, dialog, propara or clutrr")
    return folder


def _read(path: Path, problems: list[Problem]) -> _File:
    part = part_of(path)
    key = re.sub(r"(?i)[^a-z0-9]*(train|trn|valid(ation)?|val|dev|test|tst)[^a-z0-9]*", "", path.name)
    return _File(path, part, key, list(scan_file(path, problems)), is_dialog_file(path))


def _is_data(path: Path) -> bool:
    """Whether a file of a folder is meant to hold stories or dialogs: what comes with them is not."""
    beside = path.name.lower().startswith(("license", "readme", "notice", "knowledge."))
    return not beside and (not path.name.startswith("dialog-babi-") or is_dialog_file(path))


def _foreign(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in FOREIGN_SUFFIXES and path.is_file())


def _not_read(path: Path) -> Finding:
    problems: list[Problem] = []
    list(scan_file(path, problems))
    what = problems[0].what if problems else "not a file of stories"
    return Finding("not-read", "error", 1, what, "", file=str(path))


def _problems(problems: Sequence[Problem]) -> Iterator[Finding]:
    """What could not be read: the same problem on many lines is one finding."""
    alike: dict[tuple[Path, str], list[Problem]] = {}
    for problem in problems:
        alike.setdefault((problem.path, _VARIABLE.sub("…", problem.what)), []).append(problem)
    for (path, _), same in alike.items():
        first = same[0]
        more = f" (and on {counted(len(same) - 1, 'more line')})" if len(same) > 1 else ""
        todo = _looks_like(path) or _todo(first.what)
        yield Finding("unreadable", "error", len(same), first.what + more, todo, file=str(path), line=first.line)


def _todo(what: str) -> str:
    return next(todo for part, todo in _TODO if part in what)


def _looks_like(path: Path) -> str:
    """What to rename a file to if its contents are in another format than its name says; or empty."""
    line = first_characters(path).lstrip().partition("\n")[0]
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    for right, (kind, pattern) in _FORMATS.items():
        if pattern.match(line) and suffix in SUFFIXES:
            fits = suffix == right or (suffix == ".json" and right == ".jsonl")
            return "" if fits else f"it looks like {kind}: give it a name that ends in {right}"
    return ""


def _check(file: _File, problems: Sequence[Problem]) -> Iterator[Finding]:
    asked = any(story.questions for story in file.stories)
    if not asked and not any(problem.path == file.path for problem in problems):
        what = "an empty file" if file.path.stat().st_size == 0 else "no questions in this file"
        asks = any("?" in sentence for story in file.stories for sentence in story.sentences)
        todo = "put a tab between a question and its answer" if asks else _todo("no questions")
        yield Finding("no-questions", "error", 0, what, todo, file=str(file.path))
    training = file.part in ("", "train")
    if not file.dialogs:
        for finding in check_stories(file.stories, training=training):
            yield replace(finding, file=str(file.path))
    for finding in check_writing(file.stories):
        yield replace(finding, file=str(file.path))


def _compare(file: _File, files: Sequence[_File]) -> Iterator[Finding]:
    """A test or development file with the training files that belong to it: those of its name, or all."""
    if file.part not in ("valid", "test"):
        return
    trains = [other for other in files if other.part == "train" and other.dialogs == file.dialogs]
    trains = [other for other in trains if other.key == file.key] or trains
    known = [story for other in trains for story in other.stories]
    if known and not file.dialogs:
        for finding in check_parts(known, file.stories):
            yield replace(finding, file=str(file.path))


def _count(file: _File) -> dict[str, Any]:
    answers = Counter(question.answer for story in file.stories for question in story.questions)
    return {
        "file": str(file.path),
        "stories": len(file.stories),
        "sentences": sum(len(story.sentences) for story in file.stories),
        "distinct_sentences": len({sentence for story in file.stories for sentence in story.sentences}),
        "longest_story": max((len(story.sentences) for story in file.stories), default=0),
        "questions": answers.total(),
        "answers": len(answers),
        "most_common_answers": dict(answers.most_common(5)),
    }


def _show(rows: Sequence[dict[str, Any]], found: Sequence[Finding]) -> None:
    for row in rows:
        if not row["stories"]:
            continue
        console.print(
            f"{row['file']}: {counted(row['stories'], 'story', 'stories')}, {counted(row['sentences'], 'sentence')} "
            f"({row['distinct_sentences']} distinct, longest story {row['longest_story']}), "
            f"{counted(row['questions'], 'question')}, {counted(row['answers'], 'answer')}",
            markup=False,
            soft_wrap=True,
        )
    for finding in found:
        notes.print(str(finding), style=_COLOURS[finding.severity], markup=False, soft_wrap=True)
    levels = Counter(finding.severity for finding in found)
    if levels:
        notes.print(", ".join(counted(levels[level], level) for level in _COLOURS if levels[level]))
    else:
        notes.print("nothing wrong was found")
