"""One's own stories as JSON lines: one story a line.

    {"sentences": ["Mary got the milk.", "Mary went home."],
     "questions": [{"question": "Where is the milk?", "answer": "home", "support": [0, 1], "after": 2}]}

``support`` (positions of the proving sentences, from 0), ``after`` (the question sees only so many sentences; all
of them by default) and ``task`` (of the story) may be left out. An answer of several words may be a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from query_reduction.data.lines import Problem, text_lines
from query_reduction.data.stories import Question, Story

__all__ = ["format_stories", "scan_lines"]


class _BadStoryError(Exception):
    """What is wrong with a line; becomes a Problem with its place."""


def scan_lines(path: Path, problems: list[Problem], *, stop_at_first: bool = False) -> Iterator[Story]:
    """Yield the stories of a file and append what is wrong with it to ``problems``."""
    for line_number, line in enumerate(text_lines(path, problems), start=1):
        if stop_at_first and problems:
            return
        if not line.strip():
            continue
        try:
            yield _story(json.loads(line))
        except json.JSONDecodeError as error:
            problems.append(Problem(path, line_number, f"not JSON: {error.msg} at column {error.colno}"))
        except RecursionError:
            problems.append(Problem(path, line_number, "JSON nested too deeply"))
        except _BadStoryError as error:
            problems.append(Problem(path, line_number, str(error)))


def format_stories(stories: Iterable[Story]) -> Iterator[str]:
    """The JSON lines (with ends) of stories."""
    for story in stories:
        questions = [
            {"question": q.text, "answer": q.answer, "support": list(q.support), "after": q.after}
            for q in story.questions
        ]
        line: dict[str, Any] = {"sentences": list(story.sentences), "questions": questions}
        if story.task:
            line["task"] = story.task
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _story(value: Any) -> Story:
    if not isinstance(value, dict):
        raise _BadStoryError("a story is an object with 'sentences' and 'questions'")
    sentences = value.get("sentences")
    if not isinstance(sentences, list) or not all(isinstance(s, str) and s.strip() for s in sentences):
        raise _BadStoryError("'sentences' must be a list of non-empty texts")
    if not sentences:
        raise _BadStoryError("a story needs at least one sentence")
    questions = value.get("questions", [])
    if not isinstance(questions, list):
        raise _BadStoryError("'questions' must be a list")
    task = value.get("task", "")
    if not isinstance(task, str | int):
        raise _BadStoryError("'task' must be a text or a number")
    read = sorted((_question(q, len(sentences)) for q in questions), key=lambda question: question.after)
    return Story(tuple(s.strip() for s in sentences), tuple(read), str(task))


def _question(value: Any, sentence_count: int) -> Question:
    if not isinstance(value, dict) or not isinstance(value.get("question"), str) or not value["question"].strip():
        raise _BadStoryError("a question is an object with a text 'question' and an 'answer'")
    answer = value.get("answer")
    if isinstance(answer, list) and answer and all(isinstance(word, str) for word in answer):
        answer = ",".join(answer)
    if not isinstance(answer, str) or not answer.strip():
        raise _BadStoryError(f"question {value['question'][:40]!r} has no 'answer' (a text, or a list of words)")
    after = value.get("after", sentence_count)
    if type(after) is not int or not 1 <= after <= sentence_count:
        raise _BadStoryError(f"'after' must be a number from 1 to {sentence_count}, not {after!r}")
    support = value.get("support", [])
    if not isinstance(support, list) or not all(type(fact) is int and 0 <= fact < after for fact in support):
        raise _BadStoryError(f"'support' must be positions from 0 to {after - 1}, not {support!r}")
    return Question(value["question"].strip(), answer.strip(), after, tuple(support))
