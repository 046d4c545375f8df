"""The columns of every picture of a trace: the gates in the paper's order, with the paper's symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from query_reduction.explain.trace import LEAST_TRUST, Trace

__all__ = ["GateColumn", "WordColumn", "gate_columns", "legend", "red", "word_columns"]

_MARKS = {
    "update": "z",
    "reset_forward": "→r",
    "reset_backward": "←r",
    "attention": "p",
    "slots": "g",
    "pooled": "m",
    "halting": "h",
}
_NAMES = {
    "update": "update gate",
    "reset_forward": "forward reset gate",
    "reset_backward": "backward reset gate",
    "attention": "attention",
    "slots": "mean gate of the memory slots",
    "pooled": "pooling",
    "halting": "halting",
}
_MEANINGS = {
    "z": "z  update gate: how much a sentence changes the query",
    "→r": "→r ←r  reset gates, forward and backward in time: how much of the change is kept",
    "p": "p  attention: how much a sentence is read",
    "g": "g  gates of the memory slots, on average: how much a sentence changes them",
    "m": "m  pooling: the share of the query's units that is taken from a sentence",
    "h": "h  halting: the sum of a sentence's halting probabilities so far; from 1 on its output stays as it is",
}
_SHARE = "how much of the answer was read from a sentence, through all layers"
_SHARES = {
    "p": "how much of what was read came from a sentence, averaged over the {stages}",
    "g": "how much of what the question found came from a sentence, estimated by the size of its updates",
    "m": "how much of the query was taken from a sentence, averaged over the {stages}",
}
"""By the mark of a network's gates, what its shares are, where it is something else than ``_SHARE``."""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

WordColumn = tuple[str, tuple[str, ...]]
"""A title, and one text per sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class GateColumn:
    """One gate of one layer, with one value per sentence."""

    layer: int
    """From 1."""
    stage: str
    """What the network's authors call a layer: a layer, a hop, a pass or a step."""
    mark: str
    """z, →r or ←r, p for attention, g for memory slots, m for pooling, h for halting; other gates by their name."""
    name: str
    """The same in words, for screen readers: ``update gate, layer 1``."""
    values: NDArray[np.float32]

    @property
    def title(self) -> str:
        """The symbol with the layer as superscript, as in the paper's figures."""
        return self.mark + str(self.layer).translate(_SUPERSCRIPTS)


def gate_columns(trace: Trace) -> list[GateColumn]:
    """All gates of a trace, from left to right."""
    return [
        GateColumn(
            number, trace.stage, _MARKS.get(name, name), f"{_NAMES.get(name, name)}, {trace.stage} {number}", values
        )
        for number, layer in enumerate(trace.layers, start=1)
        for name, values in layer.mean_gates().items()
    ]


def legend(columns: Sequence[GateColumn], words: Sequence[WordColumn]) -> list[str]:
    """What these columns mean, one line each."""
    marks = {column.mark for column in columns}
    lines = [meaning for mark, meaning in _MEANINGS.items() if mark in marks]
    stage = columns[0].stage if columns else "layer"
    if columns:
        lines.append(f"raised number: the {stage}")
    stages = f"{stage}es" if stage.endswith("s") else f"{stage}s"
    share = next((meaning for mark, meaning in _SHARES.items() if mark in marks), _SHARE)
    lines.append(f"share: {share.format(stages=stages)}")
    if words:
        lines.append("query 2: the question as layer 2 reads it, in words, and how sure the words are")
    return lines


def word_columns(trace: Trace) -> list[WordColumn]:
    """Titles and texts of the queries in words: by layer from the second, the query so far, and the one it reads with.

    Texts that cannot be trusted are left empty, the others show how far they can be trusted.
    """
    words = trace.in_words
    if words is None:
        return []
    columns: list[WordColumn] = []
    so_far_texts = _trusted(words.so_far, words.so_far_trust)
    whole_texts = _trusted(words.queries, words.queries_trust)
    for number, (so_far, whole) in enumerate(zip(so_far_texts, whole_texts, strict=True), start=2):
        columns.append((f"query {number} so far", so_far))
        columns.append((f"query {number}", whole))
    return columns


def _trusted(words: Sequence[Sequence[str]], trust: Sequence[Sequence[float]]) -> list[tuple[str, ...]]:
    """By layer, the texts with how far they can be trusted in percent."""
    return [
        tuple(
            f"{text} {sure:.0%}" if text and sure >= LEAST_TRUST else ""
            for text, sure in zip(texts, values, strict=True)
        )
        for texts, values in zip(words, trust, strict=True)
    ]


def red(gate: float) -> str:
    """The paper's red for a gate: white at 0, full red at 1, as #rrggbb."""
    fade = round(255 * (1 - min(max(gate, 0.0), 1.0)))
    return f"#ff{fade:02x}{fade:02x}"
