"""Query reduction that points, in equations for NumPy and PyTorch alike.

Words are read in the order of their sentence, with marks on those of the thing that is asked about. A sentence becomes
a vector, seen from the query; layers of query reduction run over the sentences in both directions, with a gate for each
unit. What the query has become at a sentence says what happens there, and which phrase is the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from query_reduction.heads.span import phrase_scores, tracked_mentions
from query_reduction.pointing.arrays import Array, Operations, Weights
from query_reduction.pointing.batch import Batch
from query_reduction.pointing.config import PointerConfig
from query_reduction.pointing.reader import READERS, linear

__all__ = ["Read", "read"]

_NEVER = 1e9


@dataclass(frozen=True, slots=True)
class Read:
    """What was read."""

    points: Array
    """(question, state, class or phrase): scores."""
    actions: Array | None
    """(question, sentence, action): scores of what happens to the thing."""
    gates: tuple[Array, ...]
    """For each layer, (question, sentence, unit of both directions): how far the query was replaced."""


def read(ops: Operations, config: PointerConfig, weights: Weights, table: Array | None, batch: Batch[Array]) -> Read:
    """Read questions and their stories; ``table`` has a row for each word with a vector from elsewhere."""
    words = _word_vectors(weights, table, ops, batch.words, batch.vectors)
    words = ops.drop(ops.join([words, weights["mark"][batch.marks]]))
    words = ops.drop(READERS[config.reader](ops, weights, words, batch))
    query = _query(ops, weights, table, batch)
    sentences = _sentences(ops, weights, words, query, batch)
    reduced, gates = _reduced(ops, config, weights, sentences, query, batch)
    states = ops.join([sentences, reduced])
    actions = None
    if "act" in weights:
        actions = linear(weights, "act", ops.drop(ops.tanh(linear(weights, "act_hidden", states))))
    mentions = _mentions(ops, weights, words, states, batch)
    tables = tracked_mentions(ops, weights, mentions, batch)
    before = ops.join([ops.zeros(query.shape, query), query])[:, None] + weights["before"]
    states = ops.join([before, states], 1)
    chosen = states[_numbers(batch.states), batch.states]
    return Read(phrase_scores(ops, weights, tables, chosen, batch), actions, gates)


def _numbers(states: Array) -> Array:
    """(question, 1): 0, 1, 2 …, as an index of the same kind."""
    return (states[:, :1] * 0 + 1).cumsum(0) - 1


def _word_vectors(weights: Weights, table: Array | None, ops: Operations, words: Array, vectors: Array) -> Array:
    learned = weights["word"][words]
    return learned if table is None else ops.join([learned, table[vectors] @ weights["vector"].T])


def _query(ops: Operations, weights: Weights, table: Array | None, batch: Batch[Array]) -> Array:
    """(question, dim): the mean of the words asked about."""
    words = ops.drop(_word_vectors(weights, table, ops, batch.query, batch.query_vectors))
    inside = ops.inside(batch.query_counts, words.shape[1], words)[:, :, None]
    return ops.tanh((linear(weights, "query", words) * inside).sum(1) / (inside.sum(1) + 1e-6))


def _sentences(ops: Operations, weights: Weights, words: Array, query: Array, batch: Batch[Array]) -> Array:
    """(question, sentence, dim): what each sentence says, as the query sees it."""
    inside = ops.inside(batch.word_counts, words.shape[1], words)
    asked = inside * (batch.marks == 1)
    mentioned = asked.sum(1)[:, None]
    mention = (words * asked[:, :, None]).sum(1) / (mentioned + 1e-6)
    wanted = (query @ weights["attention"].T)[batch.row_question]
    scores = (words * wanted[:, None]).sum(2) / math.sqrt(words.shape[2]) + (inside - 1) * _NEVER
    attended = (words * ops.softmax(scores)[:, :, None]).sum(1)
    highest = ops.highest(words + (inside[:, :, None] - 1) * _NEVER, 1)
    found = ops.join([mention, attended, highest, mentioned / (mentioned + 1e-6)])
    rows = ops.tanh(linear(weights, "sentence", ops.drop(found)))
    return ops.join([rows, ops.zeros((1, rows.shape[1]), rows)], 0)[batch.stories]


def _reduced(
    ops: Operations, config: PointerConfig, weights: Weights, sentences: Array, query: Array, batch: Batch[Array]
) -> tuple[Array, tuple[Array, ...]]:
    """(question, sentence, dim): the query as the sentences reduce it, layer by layer."""
    unit = query.shape[1]
    reduced = query[:, None] + 0 * sentences
    gates: list[Array] = []
    for layer in range(config.layers):
        # z_t = sigmoid(W [x_t * q_t, q_t]);  h_t = z_t tanh(U [x_t, q_t]) + (1 - z_t) h_{t-1};  q'_t = h_t both ways
        update = ops.sigmoid(linear(weights, f"update_{layer}", ops.join([sentences * reduced, reduced])))
        candidate = ops.tanh(linear(weights, f"candidate_{layer}", ops.join([sentences, reduced])))
        value = update * candidate
        forward = ops.scan(update[..., :unit], value[..., :unit], batch.sentence_counts)
        backward = ops.scan(update[..., unit:], value[..., unit:], batch.sentence_counts, reverse=True)
        reduced = ops.drop(forward + backward)
        gates.append(update)
    return reduced, tuple(gates)


def _mentions(ops: Operations, weights: Weights, words: Array, states: Array, batch: Batch[Array]) -> Array:
    """(mention, dim): the phrase by its first and last word, and what the query was in that sentence."""
    row, first, last, mention = batch.spans
    ends = ops.join([words[row, first], words[row, last]])
    spans = ops.sum_at(linear(weights, "phrase", ends), mention, len(batch.span_counts))
    question, sentence = batch.mention_places[:2]
    there = states[question, sentence] @ weights["phrase_state"].T
    return ops.tanh(spans / batch.span_counts[:, None] + there)
