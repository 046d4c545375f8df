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
    """(1 + phrase * place, dim): what a mention says where it is, after it, and ahead of it; row 0 is no mention."""
    unit = mentions.shape[-1]
    rows = ops.join([ops.zeros((1, unit), mentions), mentions], 0)[batch.phrase_mentions]
    gates = ops.sigmoid(rows @ weights["keep"].T + weights["keep_bias"])
    ahead, back = gates[..., :unit], gates[..., unit:]
    after = ops.scan(ahead, ahead * rows, batch.mention_counts)
    before = ops.scan(back, back * rows, batch.mention_counts, reverse=True)

    def table(name: str, values: Any) -> Any:
        flat = values.reshape(-1, unit) @ weights[name].T + weights[f"{name}_bias"]
        return ops.join([ops.zeros((1, unit), flat), flat], 0)

    return table("here", rows), table("last", after), table("next", before)


def phrase_scores(ops: Any, weights: Any, tables: tuple[Any, Any, Any], states: Any, batch: Any) -> Any:
    """(question, state, class or phrase): classes first."""
    classes = states @ weights["class"].T + weights["class_bias"]
    seen = states @ weights["point_state"].T + weights["point_state_bias"]
    # (question, phrase, dim): what does not change from state to state
    given = weights["kind"][batch.kinds] + batch.chances[:, :, None] * weights["chance"]
    questions, count, _ = states.shape
    step = max(1, _AT_ONCE // max(1, given.shape[1] * given.shape[2] * questions))
    blocks = []
    for first in range(0, count, step):
        here, last, following = (
            table[cells[:, first : first + step]] for table, cells in zip(tables, batch.cells, strict=True)
        )
        mixed = here + last + following + given[:, None] + seen[:, first : first + step, None]
        blocks.append(ops.drop(ops.tanh(mixed)) @ weights["point"])
    points = ops.join(blocks, 1) + (batch.phrase_mask[:, None] - 1) * _NEVER
    return ops.join([classes, points])
