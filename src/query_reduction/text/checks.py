"""Look for what makes a result on some stories worthless, before anything is trained on them.

``check_stories`` looks at one file, ``check_parts`` compares a test part with the training part, and ``quick_checks``
is the part of both that takes milliseconds. Single answers are looked at in ``answer_checks``, texts in
``writing_checks``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from query_reduction.text.answer_checks import (
    FEW_QUESTIONS,
    check_answers,
    check_columns,
    check_ids,
    few_questions,
    finding_at,
    plain_answer,
)
from query_reduction.text.findings import Finding, counted, shortened
from query_reduction.text.splits import examples_of
from query_reduction.text.stories import Question, Story

__all__ = ["check_parts", "check_stories", "quick_checks"]

_ONLY = 0.8
"""From this accuracy on, questions are called answerable without their story."""
_ABOVE_MAJORITY = 0.1
_MOST_QUICK = 20_000
"""Questions that training compares word for word before it begins."""
_MANY_LEAKED = 0.5
_FEW = 0.01
"""The share of test questions that is noted and not warned of."""
_MANY_REPEATED = 0.2


def check_stories(stories: Sequence[Story], *, training: bool = True) -> Iterator[Finding]:
    """What is remarkable about the stories of one part; ``training`` if a model is to learn from them."""
    asked = _asked(stories)
    examples = _examples(stories)
    yield from few_questions(asked, "note")
    yield from check_answers(stories, asked, training)
    yield from _contradictions(examples)
    yield from _repeated(examples)
    yield from _question_only(asked, _learned_from_others(asked), "in this file")
    yield from check_columns(stories, asked)
    yield from check_ids(asked)
    idle = sum(not story.questions for story in stories)
    if idle:
        yield Finding(
            "idle", "note", idle, f"{counted(idle, 'story', 'stories')} without a question", "they are not used"
        )


def check_parts(train: Sequence[Story], test: Sequence[Story]) -> Iterator[Finding]:
    """What is wrong with a test part, given the training part."""
    asked = _asked(test)
    yield from _unseen(_asked(train), asked)
    yield from _leaked(_examples(train), _examples(test))
    yield from _question_only(asked, _learned_from(_asked(train), asked), "in training")


def quick_checks(train: Sequence[Story], test: Sequence[Story] = ()) -> Iterator[Finding]:
    """What takes no time to find: for the moment before training."""
    asked, tested = _asked(train), _asked(test)
    yield from few_questions(asked, "warning")
    yield from check_answers(train, asked, training=True)
    yield from check_columns(train, asked)
    yield from _unseen(asked, tested)
    if len(asked) + len(tested) <= _MOST_QUICK:
        examples = _examples(train)
        yield from _contradictions(examples)
        yield from _leaked(examples, _examples(test))


def _asked(stories: Iterable[Story]) -> list[Question]:
    return [question for story in stories for question in story.questions]


_Examples: TypeAlias = list[tuple[Question, bytes]]
"""Questions, each with a digest of its story and its words."""


def _examples(stories: Iterable[Story]) -> _Examples:
    # The state of a thing before the first sentence has no story to compare.
    return [example for story in stories for example in examples_of(story) if example[0].after]


def _contradictions(examples: _Examples) -> Iterator[Finding]:
    """The same question about the same sentences, with different answers."""
    answers: dict[bytes, dict[str, list[Question]]] = defaultdict(dict)
    for question, example in examples:
        answers[example].setdefault(plain_answer(question.answer), []).append(question)
    wrong = [list(found.values()) for found in answers.values() if len(found) > 1]
    if wrong:
        count = sum(len(same) for found in wrong for same in found)
        first, other = wrong[0][0][0], wrong[0][1][0]
        where = f" on line {other.line}" if other.line else ""
        yield finding_at(
            first,
            "contradiction",
            "warning",
            count,
            f"{count} questions have the same story and the same words, but different answers",
            "keep one answer of each",
            f"{shortened(first.text)} is {shortened(first.answer)} here and {shortened(other.answer)}{where}",
        )


def _repeated(examples: _Examples) -> Iterator[Finding]:
    seen: set[tuple[bytes, str]] = set()
    again: list[Question] = []
    total = len(examples)
    for question, example in examples:
        if (example, question.answer) in seen:
            again.append(question)
        seen.add((example, question.answer))
    if len(again) > _MANY_REPEATED * total:
        yield finding_at(
            again[0],
            "repeated",
            "warning" if len(again) * 2 > total else "note",
            len(again),
            f"{counted(len(again), 'question')} of {total} repeat{'s' * (len(again) == 1)} an earlier one word for "
            "word, story included",
            "a repeated question counts several times in every figure; leave it out",
            shortened(again[0].text),
        )


def _learned_from_others(asked: Sequence[Question]) -> list[str | None]:
    """For each question, the most common answer to the same words among all other questions; None if undecided."""
    by_text: dict[str, Counter[str]] = defaultdict(Counter)
    for question in asked:
        by_text[question.text][question.answer] += 1
    overall = Counter(question.answer for question in asked).most_common(3)
    # Three are enough: one of them may be the question's own.
    most = {text: counts.most_common(3) if counts.total() > 1 else overall for text, counts in by_text.items()}
    return [_majority_without(most[question.text], question.answer) for question in asked]


def _majority_without(counts: Sequence[tuple[str, int]], one: str) -> str | None:
    left = sorted(((count - (answer == one), answer) for answer, count in counts), reverse=True)
    decided = left[0][0] > 0 and (len(left) == 1 or left[0][0] > left[1][0])
    return left[0][1] if decided else None


def _learned_from(train: Sequence[Question], asked: Sequence[Question]) -> list[str | None]:
    by_text: dict[str, Counter[str]] = defaultdict(Counter)
    for question in train:
        by_text[question.text][question.answer] += 1
    best = {text: counts.most_common(1)[0][0] for text, counts in by_text.items()}
    overall = Counter(question.answer for question in train).most_common(1)
    return [best.get(question.text, overall[0][0] if overall else None) for question in asked]


def _question_only(asked: Sequence[Question], guesses: Sequence[str | None], source: str) -> Iterator[Finding]:
    """Whether the question alone gives its answer away."""
    if len(asked) < FEW_QUESTIONS:
        return
    right = [question for question, guess in zip(asked, guesses, strict=True) if question.answer == guess]
    accuracy = len(right) / len(asked)
    majority = Counter(question.answer for question in asked).most_common(1)[0][1] / len(asked)
    if accuracy >= _ONLY and accuracy >= majority + _ABOVE_MAJORITY:
        yield finding_at(
            right[0],
            "question-only",
            "warning",
            len(right),
            f"{len(right)} of {len(asked)} questions ({accuracy:.0%}) need no story: they stand word for word {source} "
            "with the same answer, mostly",
            "ask the same questions about stories with other answers, or use new names in every story",
            f"{shortened(right[0].text)}, {shortened(right[0].answer)}",
        )


def _unseen(train: Sequence[Question], asked: Sequence[Question]) -> Iterator[Finding]:
    known = {question.answer for question in train}
    unseen = [question for question in asked if question.answer not in known]
    if known and unseen:
        answers = len({question.answer for question in unseen})
        yield finding_at(
            unseen[0],
            "unseen-answers",
            "warning" if len(unseen) >= _FEW * len(asked) else "note",
            len(unseen),
            f"{counted(len(unseen), 'question')} of {len(asked)} with {counted(answers, 'answer')} that training does "
            "not have",
            "they will be answered wrongly unless the answer is a name of the story: add such stories to training",
            shortened(unseen[0].answer),
        )


def _leaked(train: _Examples, test: _Examples) -> Iterator[Finding]:
    """Test questions that are in training, story and answer included."""
    known = {(example, question.answer) for question, example in train}
    leaked = [question for question, example in test if (example, question.answer) in known]
    total = len(test)
    if leaked:
        share = len(leaked) / total
        yield finding_at(
            leaked[0],
            "leak",
            "error" if share > _MANY_LEAKED else "warning" if share >= _FEW else "note",
            len(leaked),
            f"{len(leaked)} of {total} test questions stand{'s' * (len(leaked) == 1)} word for word in training, with "
            "the same story and answer",
            "leave them out of one part, or the test measures memory",
            shortened(leaked[0].text),
        )
