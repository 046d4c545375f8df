"""The path of a query over names: from which name to which it moved, and along which sentence.

A network that follows names reads one sentence in each step. Its trace has these sentences in order; the names are
found in them again by the rule that the network reads with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from query_reduction.explain.trace import Trace
from query_reduction.names.symbols import NameSpans, name_spans

__all__ = ["Path", "PathStep", "path_of"]


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a query."""

    source: str
    target: str
    sentence: str
    position: int
    """Of the sentence among those that were read."""


@dataclass(frozen=True, slots=True)
class Path:
    """A query's way over the names of a story."""

    steps: tuple[PathStep, ...]
    answer: str

    def __str__(self) -> str:
        moves = " → ".join([self.steps[0].source, *(step.target for step in self.steps)])
        told = "\n".join(f"  {step.source} → {step.target}: {step.sentence}" for step in self.steps)
        return f"{moves}\n{told}\n  {self.steps[0].source} → {self.steps[-1].target}: {self.answer}"


def path_of(trace: Trace, spans: NameSpans = name_spans) -> Path | None:
    """The path that a trace shows; None if the network did not read one sentence in each step, of two names each."""
    places = [_only(layer.weights.tolist()) for layer in trace.layers]
    read = [place for place in places if place is not None]
    if not read or len(read) < sum(layer.weights.any() for layer in trace.layers):
        return None
    *told, asked = spans([*trace.sentences, trace.question])
    named = [list(dict.fromkeys(name for *_, name in text)) for text in told]
    wanted = list(dict.fromkeys(name for *_, name in asked))[:2]
    if len(wanted) < 2:
        return None
    steps = []
    name = wanted[0]
    for number, place in enumerate(read):
        following = named[read[number + 1]] if number + 1 < len(read) else wanted[1:]
        others = [other for other in following if other != name and other in named[place]]
        target = others[0] if others else following[0] if following else wanted[1]
        steps.append(PathStep(name, target, trace.sentences[place], place))
        name = target
    return Path(tuple(steps), trace.answer)


def _only(weights: Sequence[float]) -> int | None:
    """The place of the one sentence that has all the weight."""
    read = [place for place, weight in enumerate(weights) if weight]
    return read[0] if len(read) == 1 and weights[read[0]] == 1 else None
