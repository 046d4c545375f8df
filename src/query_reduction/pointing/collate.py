"""Several examples as one batch of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.pointing.batch import Batch, Targets
from query_reduction.pointing.examples import Example
from query_reduction.pointing.lexicon import Lexicon
from query_reduction.pointing.texts import Ints

__all__ = ["collate"]


def collate(examples: Sequence[Example], lexicon: Lexicon, *, taught: bool = False) -> Batch[Any]:
    """Examples with their own lengths, padded to the longest."""
    lengths = np.array([len(example.text.sentences) for example in examples], np.int64)
    first_rows = np.cumsum(lengths) - lengths
    rows = max(int(lengths.sum()), 1)
    words, word_counts = _padded([words for example in examples for words in example.text.words], rows)
    vectors, _ = _padded([rows for example in examples for rows in example.text.vectors], rows)
    marks, _ = _padded([marks for example in examples for marks in example.marks], rows)
    sentence = np.arange(max(int(lengths.max()), 1))
    stories = np.where(sentence < lengths[:, None], first_rows[:, None] + sentence, rows)
    query, query_counts = _padded([example.query for example in examples])
    query_vectors, _ = _padded([example.query_vectors for example in examples])
    states, _ = _padded([example.states for example in examples])
    kinds, _ = _padded([example.kinds for example in examples])
    chances, mask = np.zeros(kinds.shape, np.float32), np.zeros(kinds.shape, np.float32)
    for number, example in enumerate(examples):
        chances[number, : len(example.chances)] = example.chances
        mask[number, : len(example.chances)] = 1
    row_question = np.zeros(rows, np.int64)
    row_question[: lengths.sum()] = np.repeat(np.arange(len(examples)), lengths)
    return Batch(
        words,
        vectors,
        marks,
        word_counts,
        np.flatnonzero(np.arange(words.shape[1]) < word_counts[:, None]),
        row_question,
        query,
        query_vectors,
        query_counts,
        stories,
        lengths,
        states,
        *_phrases(examples, first_rows, states.shape[1], kinds.shape[1]),
        chances,
        kinds,
        mask,
        _targets(examples, len(lexicon.classes) + kinds.shape[1], states.shape[1], len(sentence)) if taught else None,
    )


def _phrases(
    examples: Sequence[Example], first_rows: Ints, states: int, most: int
) -> tuple[Ints, NDArray[np.float32], Ints, Ints, Ints, Ints]:
    """Spans, spans per mention, where mentions are, mentions of phrases, how many these have, and cells."""
    found = [example.text.mentions for example in examples]
    sizes = [len(mentions.sentences) for mentions in found]
    places = max((int(mentions.counts.max(initial=0)) for mentions in found), default=0) or 1
    table = np.zeros((len(examples) * most, places), np.int64)
    counts = np.zeros(len(examples) * most, np.int64)
    cells: list[Ints] = []
    spans: list[Ints] = []
    where_parts: list[Ints] = []
    for number, (example, mentions) in enumerate(zip(examples, found, strict=True)):
        base, before = number * most, sum(sizes[:number])
        phrases = len(mentions.counts)
        table[base + mentions.phrases, mentions.places] = before + 1 + np.arange(sizes[number])
        counts[base : base + phrases] = mentions.counts
        phrase = base + np.arange(phrases)
        state = (number * states + np.arange(len(example.states)))[:, None]
        starts = before + np.cumsum(mentions.counts) - mentions.counts
        mentioned = np.where(example.cells > 0, starts + example.cells, 0)
        place = state * most + np.arange(phrases)
        cells.append(np.stack([*mentioned, *np.broadcast_arrays(state, phrase, place)]).reshape(6, -1))
        asked = np.full(sizes[number], number)
        where_parts.append(np.stack([asked, mentions.sentences, base + mentions.phrases, mentions.places]))
        of_text = np.array(example.text.spans, np.int64).reshape(-1, 4).T
        spans.append(np.stack([first_rows[number] + of_text[0], of_text[1], of_text[2] - 1, before + mentions.of_span]))
    where = np.concatenate(where_parts, 1)
    all_spans = np.concatenate(spans, 1)
    if not all_spans.size:  # nothing to point at: one mention that no cell refers to
        all_spans, where = np.zeros((4, 1), np.int64), np.zeros((4, 1), np.int64)
    per_mention = np.bincount(all_spans[3], minlength=where.shape[1]).astype(np.float32)
    return all_spans, per_mention, where, table, counts, np.concatenate(cells, 1)


def _targets(examples: Sequence[Example], answers: int, states: int, longest: int) -> Targets[Any]:
    right = np.zeros((len(examples), states, answers), np.float32)
    weight = np.zeros((len(examples), states), np.float32)
    actions = np.zeros((len(examples), longest), np.int64)
    for number, example in enumerate(examples):
        for place, answered in example.right.items():
            right[number, place, answered] = 1
            weight[number, place] = example.weights[place]
        actions[number, : len(example.actions)] = example.actions
    return Targets(right, weight, actions)


def _padded(rows: Sequence[Ints], least: int = 1) -> tuple[Ints, Ints]:
    """Rows of equal length, filled up with zeros, at least ``least`` of them, and their own lengths."""
    counts = np.zeros(max(len(rows), least), np.int64)
    counts[: len(rows)] = [len(row) for row in rows]
    table = np.zeros((len(counts), max(int(counts.max()), 1)), np.int64)
    for row, values in zip(table, rows, strict=False):
        row[: len(values)] = values
    return table, counts
