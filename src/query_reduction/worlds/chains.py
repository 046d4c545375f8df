"""Worlds of relations that have to be chained: space, kinship, order, containment and debts.

A story tells how neighbours in a chain of names are related, in any order and from either side, and asks how the first
is related to the last: the number of hops is the length of the chain. Noise adds sentences about other names, which
branch off the chain or have nothing to do with it. Names are made up, so there is any number of them.

Each world is a relation that can be *joined*; ``solver.chains`` finds the same answers from the text alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.settings import Between, check_ranges
from query_reduction.text.formats import jsonl
from query_reduction.text.stories import Question, Story
from query_reduction.worlds.chance import pick, sample, seeded

__all__ = ["CHAINS", "ChainOptions", "Phrases", "chain_stories", "parse_hops", "write_chains"]

_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"
_LONGEST = 250


@dataclass(frozen=True, slots=True)
class ChainOptions:
    """How chains are told."""

    hops: str = "1-5"
    """Lengths of the chains: a number (3), a range (1-5) or a list (20,50); stories take turns. Kinship begins at 2."""
    noise: Annotated[int, Between(0, 1000)] = 0
    """Sentences about other names in every story."""
    phrasing: Literal["plain", "varied"] = "varied"
    """plain = every relation is told in one way; varied = in several, from either side."""
    letters: bool = False
    """Names are single capital letters instead of made-up ones; there are 26."""

    def __post_init__(self) -> None:
        check_ranges(self)
        parse_hops(self.hops)


Phrases = Mapping[str, tuple[str, ...]]
"""How each relation of {a} to {c} is told."""


@dataclass(frozen=True, slots=True)
class ChainWorld:
    """A world of one relation between names."""

    about: str
    question: str
    phrases: Phrases
    chain: Callable[[random.Random, int], tuple[list[str], str]]
    """Relations along a chain of so many hops, of each name to the next, and that of the first to the last."""
    least_hops: int = 1


STEPS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "left": (-1, 0), "right": (1, 0), "above": (0, 1), "below": (0, -1), "upper-left": (-1, 1),
        "upper-right": (1, 1), "lower-left": (-1, -1), "lower-right": (1, -1), "overlap": (0, 0),
    }
)  # fmt: skip
"""The directions of space, as steps."""

RULES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("parent", "parent"): "grandparent",
        ("parent", "sibling"): "parent",
        ("sibling", "parent"): "aunt or uncle",
        ("child", "child"): "grandchild",
        ("child", "sibling"): "niece or nephew",
        ("child", "parent"): "sibling",
        ("child", "spouse"): "child",
        ("sibling", "sibling"): "sibling",
        ("sibling", "child"): "child",
        ("sibling", "grandchild"): "grandchild",
        ("grandparent", "sibling"): "grandparent",
        ("parent", "spouse"): "parent-in-law",
        ("spouse", "child"): "child-in-law",
    }
)
"""What the first is to the third, who is to whom in between: a parent of a parent is a grandparent."""

WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "parent": ("mother", "father"), "child": ("daughter", "son"), "sibling": ("sister", "brother"),
        "spouse": ("wife", "husband"), "grandparent": ("grandmother", "grandfather"),
        "grandchild": ("granddaughter", "grandson"), "aunt or uncle": ("aunt", "uncle"),
        "niece or nephew": ("niece", "nephew"), "parent-in-law": ("mother-in-law", "father-in-law"),
        "child-in-law": ("daughter-in-law", "son-in-law"),
    }
)  # fmt: skip
"""The words for women and men."""


def _space(rng: random.Random, hops: int) -> tuple[list[str], str]:
    directions = [name for name in STEPS if name != "overlap"]
    told = [directions[pick(rng, len(directions))] for _ in range(hops)]
    total = [sum(STEPS[name][axis] for name in told) for axis in (0, 1)]
    sign = tuple((value > 0) - (value < 0) for value in total)
    return told, next(name for name, step in STEPS.items() if step == sign)


def _order(rng: random.Random, hops: int) -> tuple[list[str], str]:
    relation = ("older", "younger")[pick(rng, 2)]
    return [relation] * hops, relation


def _containment(rng: random.Random, hops: int) -> tuple[list[str], str]:
    inwards = pick(rng, hops + 1)
    answer = "inside" if inwards == hops else "around" if not inwards else "apart"
    return ["inside"] * inwards + ["around"] * (hops - inwards), answer


def _debts(rng: random.Random, hops: int) -> tuple[list[str], str]:
    amounts = [(2, 3, 4, -2, -3, -4)[pick(rng, 6)] for _ in range(hops)]
    total = sum(amounts)
    told = [f"{'owes' if amount > 0 else 'lent'} {abs(amount)}" for amount in amounts]
    return told, "owes" if total > 0 else "lent" if total < 0 else "quits"


def _kinship(rng: random.Random, hops: int) -> tuple[list[str], str]:
    """A relation, of which parts are replaced by two that amount to it, until there are enough."""
    made_of: dict[str, list[tuple[str, str]]] = {}
    for pair, kind in RULES.items():
        made_of.setdefault(kind, []).append(pair)
    kinds = sorted(made_of)
    chain = [kinds[pick(rng, len(kinds))]]
    asked = chain[0]
    while len(chain) < hops:
        places = [place for place, kind in enumerate(chain) if kind in made_of]
        if not places:
            return _kinship(rng, hops)
        place = places[pick(rng, len(places))]
        ways = made_of[chain[place]]
        chain[place : place + 1] = ways[pick(rng, len(ways))]
    # Who is whose wife or husband decides who is a woman; of the others chance.
    women = [pick(rng, 2) == 0 for _ in range(hops + 1)]
    for place, kind in enumerate(chain):
        if kind == "spouse":
            women[place + 1] = not women[place]
    told = [WORDS[kind][0 if women[place] else 1] for place, kind in enumerate(chain)]
    return told, WORDS[asked][0 if women[0] else 1]


CHAINS: Mapping[str, ChainWorld] = MappingProxyType(
    {
        "space": ChainWorld(
            "where things are in two dimensions",
            "Where is {a}, seen from {c}?",
            {
                **{
                    name: (f"{{a}} is {name} of {{c}}.", f"{{c}} is there, and {{a}} is {name} of it.")
                    for name in STEPS
                    if name not in ("above", "below", "overlap")
                },
                "above": ("{a} is above {c}.", "{c} has {a} right above it."),
                "below": ("{a} is below {c}.", "{a} is under {c}."),
            },
            _space,
        ),
        "kinship": ChainWorld(
            "who is who in a family",
            "Who is {a} to {c}?",
            {
                word: (f"{{a}} is the {word} of {{c}}.", f"{{c}} went for a walk with a {word}, {{a}}.")
                for words in WORDS.values()
                for word in words
            },
            _kinship,
            2,
        ),
        "order": ChainWorld(
            "who is older",
            "Is {a} older or younger than {c}?",
            {
                "older": ("{a} is older than {c}.", "{c} was born after {a}.", "{c} is younger than {a}."),
                "younger": ("{a} is younger than {c}.", "{c} was born before {a}.", "{c} is older than {a}."),
            },
            _order,
        ),
        "containment": ChainWorld(
            "what is inside what",
            "Is {a} inside, around or apart from {c}?",
            {
                "inside": ("{a} is inside {c}.", "{c} has {a} in it."),
                "around": ("{c} is inside {a}.", "{a} has {c} in it."),
            },
            _containment,
        ),
        "debts": ChainWorld(
            "who owes money to whom, when debts are passed on",
            "In the end, does {a} owe {c}?",
            {
                f"{verb} {number}": (
                    (f"{{a}} owes {{c}} {number} coins.", f"{{c}} lent {{a}} {number} coins.")
                    if verb == "owes"
                    else (f"{{c}} owes {{a}} {number} coins.", f"{{a}} lent {{c}} {number} coins.")
                )
                for verb in ("owes", "lent")
                for number in (2, 3, 4)
            },
            _debts,
        ),
    }
)
"""All worlds by name."""


def parse_hops(text: str) -> list[int]:
    """Lengths of chains from ``3``, ``1-5`` or ``20,50``."""
    lengths: list[int] = []
    for piece in text.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"hops: write a number (3), a range (1-5) or a list (20,50), not {text!r}")
        lengths += range(int(first), int(last or first) + 1)
    if not lengths or not all(1 <= length <= _LONGEST for length in lengths):
        raise InputError(f"hops go from 1 to {_LONGEST}, not {text!r}")
    return lengths


def chain_stories(
    world: str, questions: int, *, seed: int = 0, split: str = "train", options: ChainOptions | None = None
) -> list[Story]:
    """Stories of a world with one question each; the number of hops is their task."""
    if world not in CHAINS:
        raise InputError(f"no world {world!r}; choose from {', '.join(CHAINS)}")
    options = options or ChainOptions()
    own = CHAINS[world]
    lengths = [length for length in parse_hops(options.hops) if length >= own.least_hops]
    if not lengths:
        raise InputError(f"chains of {world} have at least {own.least_hops} hops")
    rng = seeded("chains", seed, world, split)
    return [_tell(rng, own, lengths[number % len(lengths)], options) for number in range(questions)]


def _tell(rng: random.Random, world: ChainWorld, hops: int, options: ChainOptions) -> Story:
    relations, answer = world.chain(rng, hops)
    names = _names(rng, hops + 1 + 2 * options.noise, options.letters)
    chain, others = names[: hops + 1], names[hops + 1 :]
    told = [
        _said(rng, world, relation, *pair, options) for relation, pair in zip(relations, pairwise(chain), strict=True)
    ]
    more: list[str] = []
    while len(more) < options.noise:
        new = others.pop()
        # Half of the noise branches off the chain, the other half speaks of names that nothing else has.
        known = chain[pick(rng, len(chain))] if pick(rng, 2) else others.pop()
        relation = world.chain(rng, world.least_hops)[0][0]
        more.append(_said(rng, world, relation, new, known, options))
    order = sample(rng, range(hops + options.noise), hops + options.noise)
    sentences = [*told, *more]
    support = tuple(sorted(order.index(place) for place in range(hops)))
    question = Question(world.question.format(a=chain[0], c=chain[-1]), answer, len(order), support)
    return Story(tuple(sentences[place] for place in order), (question,), str(hops))


def _said(rng: random.Random, world: ChainWorld, relation: str, a: str, c: str, options: ChainOptions) -> str:
    ways = world.phrases[relation]
    return ways[pick(rng, len(ways)) if options.phrasing == "varied" else 0].format(a=a, c=c)


def _names(rng: random.Random, count: int, letters: bool) -> list[str]:
    if letters:
        if count > 26:
            raise InputError("there are 26 letters: use fewer hops, less noise or made-up names")
        return sample(rng, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", count)
    names: dict[str, None] = {}
    while len(names) < count:
        name = "".join(
            _CONSONANTS[pick(rng, len(_CONSONANTS))] + _VOWELS[pick(rng, len(_VOWELS))] for _ in range(2 + pick(rng, 2))
        )
        names[name.capitalize()] = None
    return list(names)


def write_chains(
    folder: Path,
    chosen: Sequence[str],
    questions: int,
    seed: int = 0,
    *,
    held_out_questions: int = 1000,
    options: ChainOptions | None = None,
) -> list[Path]:
    """Write a folder for each world, with stories for training, validation and test as JSON lines."""
    paths = []
    for world in chosen:
        for split in ("train", "valid", "test"):
            count = questions if split == "train" else held_out_questions
            stories = chain_stories(world, count, seed=seed, split=split, options=options)
            path = folder / world / f"{split}.jsonl"
            write_atomically(path, "".join(jsonl.format_stories(stories)))
            paths.append(path)
    return paths
