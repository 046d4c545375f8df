"""Dialogs as stories: utterances are the sentences, the user's turn is the question, the system's turn its answer.

As text, a dialog is in the format of ``query_reduction.text.formats.dialog_text``. As JSON, it is one object:
{"turns": [{"user": "hi", "system": "hello"}, {"row": "the_place R_rating 8"}]}, one per line or in an array. As a
table, it has one turn per row, with the columns ``dialog``, ``user`` and ``system`` (see ``data.rows``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

from query_reduction.errors import InputError
from query_reduction.text.formats.dialog_text import SILENCE, published_part, scan_dialog_text
from query_reduction.text.formats.lines import Problem, text_lines
from query_reduction.text.formats.readers import holds_dialogs, record_scanner
from query_reduction.text.stories import Story

__all__ = [
    "CANDIDATES_FILE",
    "KNOWLEDGE_FILE",
    "SILENCE",
    "Marks",
    "Speaker",
    "find_dialog_files",
    "format_dialogs",
    "is_dialog_file",
    "mark",
    "read_candidates",
    "read_dialogs",
    "scan_dialogs",
    "speakers",
]

CANDIDATES_FILE = "dialog-babi-candidates.txt"
KNOWLEDGE_FILE = "dialog-babi-kb-all.txt"

Speaker: TypeAlias = Literal["user", "system", "row"]
Marks: TypeAlias = Literal["none", "speaker", "speaker+time"]


def scan_dialogs(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the dialogs of a file, whatever its format and name, and append what is wrong with it to ``problems``."""
    scan = record_scanner(path) or scan_dialog_text
    return scan(path, problems, stop_at_first=stop_at_first, unanswered=unanswered)


def read_dialogs(path: Path) -> list[Story]:
    """All dialogs of one file; the first problem found is raised."""
    problems: list[Problem] = []
    dialogs = list(scan_dialogs(path, problems, stop_at_first=True))
    if problems:
        raise InputError(f"{problems[0]} (a dialog line is 'NUMBER user<TAB>system' or 'NUMBER knowledge-base row')")
    if not any(dialog.questions for dialog in dialogs):
        raise InputError(f"{path}: no turns (user<TAB>system) in this file")
    return dialogs


def format_dialogs(dialogs: Iterable[Story]) -> Iterator[str]:
    """The bAbI lines (with ends) of dialogs, an empty line after each."""
    for dialog in dialogs:
        number = 0
        turns = {question.after: question for question in dialog.questions}
        spoken = speakers(dialog)
        for position, sentence in enumerate(dialog.sentences):
            if spoken[position] == "system":
                continue
            number += 1
            turn = turns.get(position)
            yield f"{number} {sentence}\t{turn.answer}\n" if turn else f"{number} {sentence}\n"
        yield "\n"


def speakers(dialog: Story) -> list[Speaker]:
    """Who says each sentence: a question's turn is the user's, the one after it the system's, all others are rows."""
    spoken: list[Speaker] = ["row"] * len(dialog.sentences)
    for question in dialog.questions:
        if question.after < len(spoken):
            spoken[question.after] = "user"
        if question.after + 1 < len(spoken):
            spoken[question.after + 1] = "system"
    return spoken


def mark(dialog: Story, marks: Marks) -> Story:
    """The dialog with words added to each utterance that say who speaks and, optionally, in which turn."""
    if marks == "none":
        return dialog
    turn = 0
    sentences = []
    for sentence, speaker in zip(dialog.sentences, speakers(dialog), strict=True):
        time = f" #{turn}" if marks == "speaker+time" and speaker != "row" else ""
        sentences.append(f"{sentence} ${speaker}{time}")
        turn += speaker == "system"
    return Story(tuple(sentences), dialog.questions, dialog.task)


def read_candidates(path: Path) -> list[str]:
    """The responses a system may give, one per line after a number."""
    problems: list[Problem] = []
    candidates = [line.partition(" ")[2].strip() for line in text_lines(path, problems) if line.strip()]
    if problems:
        raise InputError(str(problems[0]))
    if not candidates or not all(candidates):
        raise InputError(f"{path}: expected lines 'NUMBER response'")
    return list(dict.fromkeys(candidates))


def is_dialog_file(path: Path) -> bool:
    """Whether a file holds dialogs: by the published names, or by what its first record has."""
    return holds_dialogs(path)


def find_dialog_files(folder: Path) -> dict[str, dict[str, Path]]:
    """bAbI dialog files of a folder as ``{task: {split: path}}``; splits: train, valid, test, unseen (names)."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        if part := published_part(path):
            found.setdefault(part[0], {})[part[1]] = path
    return dict(sorted(found.items(), key=lambda item: int(item[0])))
