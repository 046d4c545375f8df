"""SQuAD and datasets in its format: articles of paragraphs, each a text with questions.

    {"data": [{"title": "…", "paragraphs": [{"context": "Mary got the milk. She went home.",
      "qas": [{"id": "1", "question": "Where is the milk?", "answers": [{"text": "home", "answer_start": 28}]}]}]}]}

A paragraph is split into sentences and is one story. Of several answers the first is used; a question that is marked
as impossible, or has an empty list of answers, has the answer ``no answer``. Where an answer stands (``answer_start``)
is kept if the text is there indeed; the head that points learns from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        context = paragraph["context"]
        sentences = split_sentences(checked_text(context, f"{where}: 'context'"))
        if not sentences:
            raise BadRecordError(f"{where}: empty 'context'")
        asked = [
            _question(value, context, sentences, f"{where}, question {place}", unanswered)
            for place, value in enumerate(_list(paragraph, "qas", where), start=1)
        ]
        yield Story(tuple(sentences), tuple(asked))


def _list(value: Mapping[str, Any], key: str, where: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list):
        raise BadRecordError(f"{where}: '{key}' must be a list")
    return found


def _question(value: Any, context: str, sentences: Sequence[str], where: str, unanswered: bool) -> Question:
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
    named = label_of(value.get("id"), f"{where}: 'id'")
    return Question(text, answer, len(sentences), id=named, span=_span(given, answer, context, sentences))


def _span(given: Any, answer: str, context: str, sentences: Sequence[str]) -> tuple[int, int, int] | None:
    """The sentence of the first answer, and the characters where it begins and ends there."""
    first = given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else {}
    start = first.get("answer_start")
    if type(start) is not int or start < 0 or context[start : start + len(answer)] != answer:
        return None
    begin = 0
    for number, sentence in enumerate(sentences):
        begin = context.index(sentence, begin)  # only white space is lost between sentences
        if begin <= start and start + len(answer) <= begin + len(sentence):
            return number, start - begin, start - begin + len(answer)
        begin += len(sentence)
    return None


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
