"""The head that points: scores of phrases of the story, beside those of a few classes.

A phrase is tracked over the sentences that mention it. At a state, it is scored by its mention in the sentence just
read, what is known of it so far, and its next mention, each seen from the state of the query there.
"""

from __future__ import annotations

from typing import Any

__all__ = ["phrase_scores", "tracked_mentions"]

_AT_ONCE = 1 << 22
"""Numbers of one block: memory does not grow with the length of a story."""
_NEVER = 1e9


def tracked_mentions(ops: Any, weights: Any, mentions: Any, batch: Any) -> tuple[Any, Any, Any]:
    """(1 + mention, dim): what a mention says where it is, after it, and ahead of it; row 0 is no mention."""
    unit = mentions.shape[-1]
    gates = ops.sigmoid(mentions @ weights["keep"].T + weights["keep_bias"])
    values = gates * ops.join([mentions, mentions])
    nothing = ops.zeros((1, 2 * unit), mentions)
    gates, values = (ops.join([nothing, each], 0)[batch.phrase_mentions] for each in (gates, values))
    after = ops.scan(gates[..., :unit], values[..., :unit], batch.mention_counts)
    before = ops.scan(gates[..., unit:], values[..., unit:], batch.mention_counts, reverse=True)
    phrase, place = batch.mention_places[2:]

    def table(name: str, values: Any) -> Any:
        return ops.join([nothing[:, :unit], values @ weights[name].T + weights[f"{name}_bias"]], 0)

    return table("here", mentions), table("last", after[phrase, place]), table("next", before[phrase, place])


def phrase_scores(ops: Any, weights: Any, tables: tuple[Any, Any, Any], states: Any, batch: Any) -> Any:
    """(question, state, class or phrase): classes first."""
    questions, count, _ = states.shape
    classes = states @ weights["class"].T + weights["class_bias"]
    seen = (states @ weights["point_state"].T + weights["point_state_bias"]).reshape(questions * count, -1)
    # What does not change from state to state.
    given = weights["kind"][batch.kinds] + batch.chances[:, :, None] * weights["chance"]
    phrases = given.shape[1]
    given = given.reshape(questions * phrases, -1)
    step = max(1, _AT_ONCE // given.shape[1])
    blocks = []
    for first in range(0, max(batch.cells.shape[1], 1), step):
        here, last, following, state, phrase, _ = batch.cells[:, first : first + step]
        mixed = tables[0][here] + tables[1][last] + tables[2][following] + given[phrase] + seen[state]
        blocks.append(ops.drop(ops.tanh(mixed)) @ weights["point"])
    flat = ops.sum_at(ops.join(blocks, 0)[:, None], batch.cells[5], questions * count * phrases)
    points = flat.reshape(questions, count, phrases) + (batch.phrase_mask[:, None] - 1) * _NEVER
    return ops.join([classes, points])
