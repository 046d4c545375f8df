"""The bAbI text format: numbered lines, a story begins at 1, a question has tab-separated answer and facts.

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary?<TAB>bathroom<TAB>1

Facts are line numbers of the same story; they may be missing. Published files put a space before the tab of
some tasks' questions; it is not part of the question.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from query_reduction.text.formats.fields import shown
from query_reduction.text.formats.lines import Problem, numbered_lines
from query_reduction.text.stories import Question, Story

__all__ = ["find_task_files", "format_stories", "scan_lines", "task_of"]

_TASK_FILE = re.compile(r"qa(\d+)_.*_(train|valid|test)\.txt(?:\.gz)?$")


@dataclass(slots=True)
class _StoryBeingRead:
    """A story while its lines are read: the sentence position of each line number."""

    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    position_of_line: dict[int, int] = field(default_factory=dict)

    def finish(self, task: str) -> Story:
        return Story(tuple(self.sentences), tuple(self.questions), task)


def scan_lines(
    path: Path, problems: list[Problem], *, stop_at_first: bool = False, unanswered: bool = False
) -> Iterator[Story]:
    """Yield the stories of a file and append what is wrong with it to ``problems``."""
    task = task_of(path)
    story = _StoryBeingRead()
    for place, number, text in numbered_lines(path, problems, stop_at_first=stop_at_first):
        if number == 1:
            if story.sentences or story.questions:
                yield story.finish(task)
            story = _StoryBeingRead()
        complaint = _take_line(story, place, number, text, unanswered)
        if complaint:
            problems.append(Problem(path, place, complaint))
    if story.sentences or story.questions:
        yield story.finish(task)


def _take_line(story: _StoryBeingRead, place: int, number: int, text: str, unanswered: bool) -> str:
    """Add one line to the story; return an error message, or an empty string."""
    if "\t" not in text:
        sentence = sys.intern(text.strip())  # a few hundred sentences make up a file of thousands of lines
        story.position_of_line[number] = len(story.sentences)
        story.sentences.append(sentence)
        return "" if sentence else "empty sentence"
    question, _, rest = text.partition("\t")
    answer, _, facts = rest.partition("\t")
    if not story.sentences:
        return "question before any sentence"
    if not question.strip():
        return "empty question"
    if not answer.strip() and not unanswered:
        return "question without an answer"
    support = []
    for fact in facts.split():
        position = story.position_of_line.get(int(fact[:12])) if fact.isdecimal() else None
        if position is None:
            return f"supporting fact {shown(fact)} is not an earlier sentence of this story"
        support.append(position)
    story.questions.append(
        Question(
            sys.intern(question.strip()), sys.intern(answer.strip()), len(story.sentences), tuple(support), line=place
        )
    )
    return ""


def task_of(path: Path) -> str:
    """The task number in a bAbI file name (``qa2_two-supporting-facts_train.txt`` → ``2``), or empty."""
    match = _TASK_FILE.search(path.name)
    return match[1] if match else ""


def find_task_files(folder: Path) -> dict[str, dict[str, Path]]:
    """bAbI files of a folder as ``{task: {split: path}}``, tasks in numeric order."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.iterdir()):
        match = _TASK_FILE.search(path.name)
        if match:
            found.setdefault(match[1], {})[match[2]] = path
    return dict(sorted(found.items(), key=lambda item: int(item[0])))


def format_stories(stories: Iterable[Story], *, space_before_tab: bool = False) -> Iterator[str]:
    """The bAbI lines (with ends) of stories; ``space_before_tab`` follows the files that have one."""
    tab = " \t" if space_before_tab else "\t"
    for story in stories:
        number = 0
        number_of_position: list[int] = []
        upcoming = iter(story.questions)
        question = next(upcoming, None)
        for position in range(len(story.sentences) + 1):
            while question is not None and question.after == position:
                number += 1
                facts = " ".join(str(number_of_position[fact]) for fact in question.support)
                yield f"{number} {question.text}{tab}{question.answer}" + (f"\t{facts}\n" if facts else "\n")
                question = next(upcoming, None)
            if position < len(story.sentences):
                number += 1
                number_of_position.append(number)
                yield f"{number} {story.sentences[position]}\n"
