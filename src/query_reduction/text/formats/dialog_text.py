"""The bAbI dialog format: numbered lines, a dialog begins at 1, a turn has a tab between user and system.

1 hi<TAB>hello what can i help you with today
2 may i have a table in paris<TAB>api_call italian paris two cheap
3 the_place R_rating 8
4 <SILENCE><TAB>what do you think of this option: the_place
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from query_reduction.text.formats.lines import Problem, numbered_lines
from query_reduction.text.stories import Question, Story

__all__ = ["SILENCE", "DialogBuilder", "published_part", "scan_dialog_text"]

SILENCE = "<SILENCE>"
"""What the user says when the system speaks twice in a row; empty user turns are read as this, too."""

_TASK_FILE = re.compile(r"dialog-babi-task(\d+)-.*?-(trn|dev|tst|tst-OOV)\.txt(?:\.gz)?$")
_SPLIT = {"trn": "train", "dev": "valid", "tst": "test", "tst-OOV": "unseen"}


def published_part(path: Path) -> tuple[str, str] | None:
    """The task and part (train, valid, test, unseen) that a published file name stands for."""
    match = _TASK_FILE.search(path.name)
    return (match[1], _SPLIT[match[2]]) if match else None


class DialogBuilder:
    """A dialog while its turns are read."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.questions: list[Question] = []

    def turn(self, user: str, system: str) -> None:
        """What the user said and the system answered."""
        # Dialogs repeat a few hundred utterances: each text is kept only once.
        user, system = sys.intern(user.strip() or SILENCE), sys.intern(system.strip())
        self.questions.append(Question(user, system, len(self.sentences)))
        self.sentences += (user, system)

    def row(self, text: str) -> None:
        """A row of the knowledge base."""
        self.sentences.append(sys.intern(" ".join(text.split())))

    def finish(self, task: str) -> Story:
        """The dialog as a story."""
        return Story(tuple(self.sentences), tuple(self.questions), task)


def scan_dialog_text(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the dialogs of a text file and append what is wrong with it to ``problems``."""
    part = published_part(path)
    task = part[0] if part else ""
    dialog = DialogBuilder()
    for place, number, text in numbered_lines(path, problems, stop_at_first=stop_at_first):
        if number == 1:
            if dialog.sentences:
                yield dialog.finish(task)
            dialog = DialogBuilder()
        user, tab, system = text.partition("\t")
        if not tab and not text.strip():
            problems.append(Problem(path, place, "empty line in a dialog"))
        elif not tab:
            dialog.row(text)
        elif "\t" in system:
            problems.append(Problem(path, place, "more than one tab: a turn is 'user<TAB>system'"))
        elif not system.strip() and not unanswered:
            problems.append(Problem(path, place, "a user's turn without the system's answer"))
        else:
            dialog.turn(user, system)
    if dialog.sentences:
        yield dialog.finish(task)
