"""Dialogs as stories: the bAbI dialog format, its candidates, and dialogs of one's own as JSON lines.

    1 hi<TAB>hello what can i help you with today
    2 may i have a table in paris<TAB>api_call italian paris two cheap
    3 the_place R_rating 8
    4 <SILENCE><TAB>what do you think of this option: the_place

A line with a tab is a turn: what the user says, what the system answers. A line without is a row of the knowledge
base. Everything said is a sentence of the story, the user's turn is the question and the system's turn its answer.
As JSON, a dialog is one line: {"turns": [{"user": "hi", "system": "hello"}, {"row": "the_place R_rating 8"}]}.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from query_reduction.data.lines import Problem, numbered_lines, text_lines
from query_reduction.data.stories import Question, Story
from query_reduction.errors import InputError

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

SILENCE = "<SILENCE>"
"""What the user says when the system speaks twice in a row; empty user turns are read as this, too."""
CANDIDATES_FILE = "dialog-babi-candidates.txt"
KNOWLEDGE_FILE = "dialog-babi-kb-all.txt"

Speaker: TypeAlias = Literal["user", "system", "row"]
Marks: TypeAlias = Literal["none", "speaker", "speaker+time"]

_TASK_FILE = re.compile(r"dialog-babi-task(\d+)-.*?-(trn|dev|tst|tst-OOV)\.txt$")
_SPLIT = {"trn": "train", "dev": "valid", "tst": "test", "tst-OOV": "unseen"}


@dataclass(slots=True)
class _DialogBeingRead:
    """A dialog while its lines come in."""

    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def turn(self, user: str, system: str) -> None:
        # Stories repeat a few hundred utterances: keep each text once.
        user, system = sys.intern(user.strip() or SILENCE), sys.intern(system.strip())
        self.questions.append(Question(user, system, len(self.sentences)))
        self.sentences += (user, system)

    def row(self, text: str) -> None:
        self.sentences.append(sys.intern(" ".join(text.split())))

    def finish(self, task: str) -> Story:
        return Story(tuple(self.sentences), tuple(self.questions), task)


class _BadDialogError(Exception):
    """What is wrong with a line; becomes a Problem with its place."""


def scan_dialogs(path: Path, problems: list[Problem], *, stop_at_first: bool = False) -> Iterator[Story]:
    """Yield the dialogs of a file and append what is wrong with it to ``problems``."""
    scan = _scan_json if path.suffix == ".jsonl" else _scan_text
    return scan(path, problems, stop_at_first)


def read_dialogs(path: Path) -> list[Story]:
    """All dialogs of one file; the first problem found is raised."""
    problems: list[Problem] = []
    dialogs = list(scan_dialogs(path, problems, stop_at_first=True))
    if problems:
        raise InputError(f"{problems[0]} (a dialog line is 'NUMBER user<TAB>system' or 'NUMBER knowledge-base row')")
    if not any(dialog.questions for dialog in dialogs):
        raise InputError(f"{path}: no turns (user<TAB>system) in this file")
    return dialogs


def _scan_text(path: Path, problems: list[Problem], stop_at_first: bool) -> Iterator[Story]:
    match = _TASK_FILE.search(path.name)
    task = match[1] if match else ""
    dialog = _DialogBeingRead()
    for place, number, text in numbered_lines(path, problems, stop_at_first=stop_at_first):
        if number == 1:
            if dialog.sentences:
                yield dialog.finish(task)
            dialog = _DialogBeingRead()
        user, tab, system = text.partition("\t")
        if not tab and not text.strip():
            problems.append(Problem(path, place, "empty line in a dialog"))
        elif not tab:
            dialog.row(text)
        elif "\t" in system:
            problems.append(Problem(path, place, "more than one tab: a turn is 'user<TAB>system'"))
        elif not system.strip():
            problems.append(Problem(path, place, "a user's turn without the system's answer"))
        else:
            dialog.turn(user, system)
    if dialog.sentences:
        yield dialog.finish(task)


def _scan_json(path: Path, problems: list[Problem], stop_at_first: bool) -> Iterator[Story]:
    for line_number, line in enumerate(text_lines(path, problems), start=1):
        if stop_at_first and problems:
            return
        if not line.strip():
            continue
        try:
            yield _dialog(json.loads(line))
        except json.JSONDecodeError as error:
            problems.append(Problem(path, line_number, f"not JSON: {error.msg} at column {error.colno}"))
        except RecursionError:
            problems.append(Problem(path, line_number, "JSON nested too deeply"))
        except _BadDialogError as error:
            problems.append(Problem(path, line_number, str(error)))


def _dialog(value: Any) -> Story:
    turns = value.get("turns") if isinstance(value, dict) else None
    if not isinstance(turns, list) or not turns:
        raise _BadDialogError("a dialog is an object with a list of 'turns'")
    dialog = _DialogBeingRead()
    for turn in turns:
        keys = {key: text for key, text in turn.items() if isinstance(text, str)} if isinstance(turn, dict) else {}
        if keys.get("row", "").strip():
            dialog.row(keys["row"])
        elif "user" in keys and keys.get("system", "").strip():
            dialog.turn(keys["user"], keys["system"])
        else:
            raise _BadDialogError("a turn has texts 'user' and 'system', or is a knowledge-base 'row'")
    task = value.get("task", "")
    if not isinstance(task, str | int):
        raise _BadDialogError("'task' must be a text or a number")
    return dialog.finish(str(task))


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
    """Who says each sentence: a question's turn is the user's, the one after it the system's, all else are rows."""
    spoken: list[Speaker] = ["row"] * len(dialog.sentences)
    for question in dialog.questions:
        if question.after < len(spoken):
            spoken[question.after] = "user"
        if question.after + 1 < len(spoken):
            spoken[question.after + 1] = "system"
    return spoken


def mark(dialog: Story, marks: Marks) -> Story:
    """The dialog with words added to each utterance that say who speaks and, if wanted, in which turn."""
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
    """The responses a system may give, one a line after a number."""
    problems: list[Problem] = []
    candidates = [line.partition(" ")[2].strip() for line in text_lines(path, problems) if line.strip()]
    if problems:
        raise InputError(str(problems[0]))
    if not candidates or not all(candidates):
        raise InputError(f"{path}: expected lines 'NUMBER response'")
    return list(dict.fromkeys(candidates))


def is_dialog_file(path: Path) -> bool:
    """Whether a file holds dialogs: by the published names, or by JSON lines with ``turns``."""
    if path.suffix != ".jsonl" or not path.is_file():
        return bool(_TASK_FILE.search(path.name))
    first = next((line for line in text_lines(path, []) if line.strip()), "")
    return '"turns"' in first


def find_dialog_files(folder: Path) -> dict[str, dict[str, Path]]:
    """bAbI dialog files of a folder as ``{task: {split: path}}``; splits: train, valid, test, unseen (names)."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        match = _TASK_FILE.search(path.name)
        if match:
            found.setdefault(match[1], {})[_SPLIT[match[2]]] = path
    return dict(sorted(found.items(), key=lambda item: int(item[0])))
