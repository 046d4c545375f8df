"""Chains of relations, solved from the text alone: sentences by their forms, then everything that follows from them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from query_reduction.worlds.chains import CHAINS, RULES, STEPS, WORDS

__all__ = ["solve_chain"]

_OPPOSITE = {"older": "younger", "younger": "older", "inside": "around", "around": "inside"}
_KIND = {word: kind for kind, words in WORDS.items() for word in words}


def solve_chain(world: str, sentences: Sequence[str], question: str) -> str:
    """The answer to a question of a world."""
    told: dict[tuple[str, str], str] = {}
    for sentence in sentences:
        relation, a, c = _read(world, sentence)
        told[a, c] = relation
    match = re.fullmatch(_pattern(CHAINS[world].question), question)
    if match is None:
        raise ValueError(f"not a question of {world}: {question}")
    a, c = match["a"], match["c"]
    if world == "space":
        steps = {pair: STEPS[relation] for pair, relation in told.items()}
        x, y = (_sum({pair: step[axis] for pair, step in steps.items()}, a, c) for axis in (0, 1))
        return next(name for name, step in STEPS.items() if step == (_sign(x), _sign(y)))
    if world == "debts":
        amounts = {pair: _amount(relation) for pair, relation in told.items()}
        return ("quits", "owes", "lent")[_sign(_sum(amounts, a, c))]
    if world == "kinship":
        return _kin(told, a, c)
    return _transitive(told, a, c)


def _pattern(phrase: str) -> str:
    """A regular expression for a form: a name that comes again is the same one."""
    pattern = re.escape(phrase)
    for name in "ac":
        pattern = pattern.replace(rf"\{{{name}\}}", rf"(?P<{name}>[A-Z]\w*)", 1)
    return pattern


def _read(world: str, sentence: str) -> tuple[str, str, str]:
    for relation, ways in CHAINS[world].phrases.items():
        for way in ways:
            if match := re.fullmatch(_pattern(way), sentence):
                return relation, match["a"], match["c"]
    raise ValueError(f"not a sentence of {world}: {sentence}")


def _amount(relation: str) -> int:
    verb, _, number = relation.partition(" ")
    return int(number) if verb == "owes" else -int(number)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _sum(told: dict[tuple[str, str], int], start: str, end: str) -> int:
    """The sum of the numbers along the way from one name to another, negative against their direction."""
    both = {**told, **{(c, a): -value for (a, c), value in told.items()}}
    sums = {start: 0}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        for (a, c), value in both.items():
            if a == name and c not in sums:
                sums[c] = sums[name] + value
                waiting.append(c)
    return sums[end]


def _transitive(told: dict[tuple[str, str], str], a: str, c: str) -> str:
    """Inside and older are transitive; of containment what is neither is apart."""
    both = {**told, **{(y, x): _OPPOSITE[relation] for (x, y), relation in told.items()}}
    for relation in sorted(set(both.values())):
        reached, waiting = {a}, [a]
        while waiting:
            name = waiting.pop()
            new = {y for (x, y), said in both.items() if x == name and said == relation} - reached
            reached |= new
            waiting += new
        if c in reached:
            return relation
    return "apart"


def _kin(told: dict[tuple[str, str], str], a: str, c: str) -> str:
    """Rules applied to all that is known until nothing new follows."""
    known = {pair: _KIND[word] for pair, word in told.items()}
    while (a, c) not in known:
        new = {
            (x, z): RULES[first, second]
            for (x, y), first in known.items()
            for (other, z), second in known.items()
            if y == other and x != z and (x, z) not in known and (first, second) in RULES
        }
        if not new:
            raise ValueError(f"nothing says who {a} is to {c}")
        known |= new
    woman = next(WORDS[_KIND[word]][0] == word for (x, _), word in told.items() if x == a)
    return WORDS[known[a, c]][0 if woman else 1]
