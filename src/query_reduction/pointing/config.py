"""The settings of a network that points at the text, and the shapes of its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from query_reduction.settings import Between, check

__all__ = ["KINDS", "MARKS", "PointerConfig", "PointerRecipe", "Shapes", "shapes"]

MARKS = 3
"""A word is nothing special, part of what is asked about, or of another thing that is tracked."""
KINDS = 3
"""A phrase likewise."""
_MARK = 8

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class PointerConfig:
    """A Query-Reduction Network that reads words in order and points at phrases."""

    dimension: Annotated[int, Between(1, 4096)] = 50
    """Units of a direction inside a sentence, and of the reduced query."""
    layers: Annotated[int, Between(0, 16)] = 2
    """Layers of query reduction over the sentences; 0 reads each sentence by itself."""
    phrase_dimension: Annotated[int, Between(1, 4096)] = 32
    """Units of a phrase."""
    reader: Literal["scan", "gru", "bag"] = "scan"
    """How words become vectors in their sentence: a gated scan on windows of three words in both directions, a gated
    recurrent unit in both directions, or a bag of words (every word by itself)."""
    point: bool = True
    """Answers are phrases of the story; without, those seen in training, as a list, for comparison."""
    chain: bool = True
    """Where things are tracked: what happens at neighbouring sentences is decided together, and nothing impossible
    happens (what does not exist does not move)."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class PointerRecipe:
    """How it is trained."""

    max_epochs: Annotated[int, Between(1, 100_000)] = 14
    """Epochs; the weights at the end are kept, nothing is chosen."""
    batch: Annotated[int, Between(1, 65_536)] = 16
    """Questions (or things) per step."""
    learning_rate: Annotated[float, Between(1e-8, 10)] = 0.002
    """Of Adam; it falls to zero over the second half."""
    dropout: Annotated[float, Between(0, 0.95)] = 0.3
    """The share of units left out at random."""
    average: Annotated[float, Between(0, 0.99999)] = 0.995
    """How much of the average of weights remains at each step."""
    rare: Annotated[float, Between(0, 100)] = 0.5
    """A word met n times is read as an unknown one with probability rare / (rare + n)."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Determines the initial weights and the order of batches."""

    def __post_init__(self) -> None:
        check(self)


def shapes(config: PointerConfig, *, words: int, vectors: int, classes: int, actions: int) -> Shapes:
    """Names and shapes of the weights; ``vectors`` is the length of a word's vector from elsewhere, 0 without."""
    unit, phrase = config.dimension, config.phrase_dimension
    word = unit * (2 if vectors else 1)
    state = 2 * unit
    found: Shapes = {"word": (words, unit), "mark": (MARKS, _MARK)}
    if vectors:
        found["vector"] = (unit, vectors)
    found |= _reader(config.reader, word + _MARK, unit)
    found |= _linear("query", word, unit)
    found["attention"] = (2 * unit, unit)
    found |= _linear("sentence", 3 * 2 * unit + 1, unit)
    for layer in range(config.layers):
        found |= _linear(f"update_{layer}", 2 * unit, 2 * unit)
        found |= _linear(f"candidate_{layer}", 2 * unit, 2 * unit)
    found["before"] = (state,)
    if actions:
        found |= _linear("act_hidden", state, unit) | _linear("act", unit, actions)
        found |= {"act_next": (actions, actions), "act_first": (actions,)}
    found |= _linear("phrase", 4 * unit, phrase)
    found["phrase_state"] = (phrase, state)
    found |= _linear("keep", phrase, 2 * phrase)
    found |= dict.fromkeys(("here", "last", "next"), (phrase, phrase))
    found |= {f"{name}_bias": (phrase,) for name in ("here", "last", "next")}
    found |= {"chance": (phrase,), "kind": (KINDS, phrase)}
    found |= _linear("point_state", state, phrase) | {"point": (phrase,)} | _linear("class", state, classes)
    return found


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    return {name: (outputs, inputs), f"{name}_bias": (outputs,)}


def _reader(kind: str, inputs: int, unit: int) -> Shapes:
    if kind == "scan":
        return _linear("read", 3 * inputs, 4 * unit)
    if kind == "bag":
        return _linear("read", inputs, 2 * unit)
    found: Shapes = {}
    for direction in ("forward", "backward"):
        found |= _linear(f"read_{direction}", inputs, 3 * unit) | _linear(f"again_{direction}", unit, 3 * unit)
    return found
