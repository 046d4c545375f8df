"""Short stories cut out of long ones: in order, with their facts, and still with the same answer."""

from __future__ import annotations

import pytest

from query_reduction.worlds import TASKS, generate, shortened
from query_reduction.worlds.solver import solve


@pytest.mark.parametrize("task", TASKS)
def test_short_stories_keep_facts_order_and_answer(task: int) -> None:
    stories = generate(task, 60)
    asked = [(story, question) for story in stories for question in story.questions]
    short = list(shortened(stories, seed=3))
    assert len(short) >= len(asked) / 5
    assert sum(len(story.sentences) for story in short) <= sum(question.after for _, question in asked)
    whole = iter(asked)
    for story in short:
        (question,) = story.questions
        assert question.after == len(story.sentences)
        assert solve(task, story.sentences, question.text) == question.answer
        # Questions that cannot be shortened are left out, the others come in order.
        long, original = next(
            (long, original)
            for long, original in whole
            if original.text == question.text and _in_order(story.sentences, long.sentences[: original.after])
        )
        facts = [long.sentences[place] for place in original.support]
        assert [story.sentences[place] for place in question.support] == facts


def test_same_seed_same_stories() -> None:
    stories = generate(2, 40)
    assert list(shortened(stories, 1)) == list(shortened(stories, 1))
    assert list(shortened(stories, 1)) != list(shortened(stories, 2))


def _in_order(some: tuple[str, ...], sentences: tuple[str, ...]) -> bool:
    rest = iter(sentences)
    return all(sentence in rest for sentence in some)
