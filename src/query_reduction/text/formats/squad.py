"""SQuAD and datasets in its format: articles of paragraphs, each a text with questions.

    {"data": [{"title": "…", "paragraphs": [{"context": "Mary got the milk. She went home.",
      "qas": [{"id": "1", "question": "Where is the milk?", "answers": [{"text": "home", "answer_start": 28}]}]}]}]}

A paragraph is split into sentences and is one story. Of several answers the first is used; a question that is marked
as impossible, or has an empty list of answers, has the answer ``no answer``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from query_reduction.text.formats.fields import NO_ANSWER, BadRecordError, answer_of, checked_text, label_of
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Question, Story

__all__ = ["format_squad", "stories_of_article"]


def stories_of_article(article: Mapping[str, Any], *, unanswered: bool = False) -> Iterator[Story]:
    """The paragraphs of an article as stories; a BadRecordError names paragraph and question."""
    for number, paragraph in enumerate(_list(article, "paragraphs", "an article"), start=1):
        where = f"paragraph {number}"
        if not isinstance(paragraph, dict) or "context" not in paragraph:
            raise BadRecordError(f"{where}: expected an object with 'context' and 'qas'")
        sentences = split_sentences(checked_text(paragraph["context"], f"{where}: 'context'"))
        if not sentences:
            raise BadRecordError(f"{where}: empty 'context'")
        asked = [
            _question(value, len(sentences), f"{where}, question {place}", unanswered)
            for place, value in enumerate(_list(paragraph, "qas", where), start=1)
        ]
        yield Story(tuple(sentences), tuple(asked))


def _list(value: Mapping[str, Any], key: str, where: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list):
        raise BadRecordError(f"{where}: '{key}' must be a list")
    return found


def _question(value: Any, sentences: int, where: str, unanswered: bool) -> Question:
    if not isinstance(value, dict):
        raise BadRecordError(f"{where}: expected an object with 'question' and 'answers'")
    text = checked_text(value.get("question"), f"{where}: 'question'")
    if not text:
        raise BadRecordError(f"{where}: empty 'question'")
    given = value.get("answers")
    if value.get("is_impossible") is True or (given == [] and not unanswered):
        answer = NO_ANSWER
    else:
        answer = answer_of(given if given is not None else value.get("answer"), text, unanswered=unanswered)
    return Question(text, answer, sentences, id=label_of(value.get("id"), f"{where}: 'id'"))


def format_squad(stories: Iterable[Story]) -> str:
    """Stories as one SQuAD file: one paragraph per part of a story that questions see, without supporting facts."""
    paragraphs = [
        {
            "context": "\n".join(story.sentences[:after]),
            "qas": [
                {"id": q.id, "question": q.text, "answers": [{"text": q.answer, "answer_start": -1}]} for q in asked
            ],
        }
        for story in stories
        for after, asked in groupby(story.questions, key=lambda question: question.after)
    ]
    value = {"version": "1.1", "data": [{"title": "", "paragraphs": paragraphs}]}
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
