"""Are the explanations right? Sentences ranked by contribution, compared with the supporting facts in the data.

Four figures per task, in percent, averaged over the questions with known facts:

``precision_at_1``      the sentence that contributed most is a fact
``r_precision``         of the best g sentences, how many are facts, where g is the number of facts (precision and
                        recall are the same there)
``recall_at_5``         how many of the facts are among the best five
``average_precision``   precision at the rank of each fact, averaged: the whole ranking in one number

Next to them are three rankings that know nothing of the network: the average over random orders (computed, not
sampled), the most recent sentence first, and the sentence that shares most words with the question first.
A fact that lies further back than the model's memory cannot be found, and counts as missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.errors import InputError
from query_reduction.network import Network
from query_reduction.reading.stories import StoryTask
from query_reduction.text.stories import Story
from query_reduction.text.words import split_words

__all__ = ["FIGURES", "RANKINGS", "by_overlap", "expected_of_random", "score_explanations", "score_ranking"]

FIGURES = ("precision_at_1", "r_precision", "recall_at_5", "average_precision")
"""The names of the figures, in the order they are computed and shown."""
RANKINGS = ("model", "random", "recency", "overlap")
"""The rankings that are scored: the network's, and those it has to beat."""
_AT = 5
_BATCH = 128


def score_explanations(network: Network, task: StoryTask, stories: Sequence[Story]) -> dict[str, dict[str, Any]]:
    """By task: the number of questions with known facts, and the figures of every ranking."""
    supports = [question.support for story in stories for question in story.questions]
    read_stories = task.as_read(stories)
    encoded = task.encode(read_stories)
    asked = [(story.task, question) for story in read_stories for question in story.questions]
    sentences = [story.sentences for story in read_stories for _ in story.questions]
    rows: dict[str, list[NDArray[np.float64]]] = {}
    for chosen, batch in encoded.batches(_BATCH, np.flatnonzero([bool(support) for support in supports])):
        trace = network.trace(batch)
        if trace is None:
            raise InputError("this network has nothing to score: it has neither gates nor attention")
        shares = np.mean([layer.weights for layer in trace.layers], axis=0)
        for row, number in enumerate(chosen.tolist()):
            name, question = asked[number]
            read = int(batch.lengths[row])
            skipped = question.after - read
            facts = {fact - skipped for fact in question.support if fact >= skipped}
            total = len(set(supports[number]))
            told = [_words(sentence) for sentence in sentences[number][skipped : question.after]]
            found = (
                score_ranking(np.argsort(-shares[row, :read], kind="stable").tolist(), facts, total),
                expected_of_random(read, len(facts), total),
                score_ranking(range(read - 1, -1, -1), facts, total),
                score_ranking(by_overlap(told, _words(question.text)), facts, total),
            )
            rows.setdefault(name, []).append(np.array(found))
    order = sorted(rows, key=lambda task: (len(task), task))
    return {task: _summary(np.stack(rows[task])) for task in order}


def score_ranking(ranking: Iterable[int], facts: set[int], total: int) -> list[float]:
    """The four figures of one ranking, from 0 to 1; ``total`` includes the facts that could not be read."""
    hits = np.array([position in facts for position in ranking], float)
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return [
        float(hits[0]),
        float(hits[:total].sum() / total),
        float(hits[:_AT].sum() / total),
        float((precision * hits).sum() / total),
    ]


def by_overlap(told: Sequence[set[str]], asked: set[str]) -> list[int]:
    """Positions of sentences, those that share most words with the question first; ties are broken by recency."""
    return sorted(range(len(told)), key=lambda position: (-len(told[position] & asked), -position))


def _words(text: str) -> set[str]:
    return set(split_words(text.lower(), "words"))


def expected_of_random(read: int, facts: int, total: int) -> list[float]:
    """The expected four figures when all orders of ``read`` sentences are equally likely."""
    harmonic = float((1 / np.arange(1, read + 1)).sum())
    others = (facts - 1) / (read - 1) if read > 1 else 0.0
    return [
        facts / read,
        facts * min(total, read) / read / total,
        facts * min(_AT, read) / read / total,
        # A fact at rank k has k - 1 sentences before it, each of them equally likely to be another fact.
        facts / total * (harmonic + others * (read - harmonic)) / read,
    ]


def _summary(figures: NDArray[np.float64]) -> dict[str, Any]:
    means = (100 * figures.mean(axis=0)).round(2).tolist()
    named = [dict(zip(FIGURES, row, strict=True)) for row in means]
    return {"questions": len(figures), **dict(zip(RANKINGS, named, strict=True))}
