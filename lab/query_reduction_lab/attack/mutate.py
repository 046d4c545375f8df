"""Inputs that are almost right: valid seeds changed in a few places, as bytes or as JSON, and random bytes."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any

__all__ = ["mutated"]

_NASTY = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\x1c", b"\xe2\x80\xa8", b"\x1b[31m", b"\r", b"\n\n", b"\t\t",
    b"-1", b"1e999", b"NaN", b"null", b"true", b"{}", b"[]", b'""', b"'", b'"', b",", b":", b"1 ", b"\xef\xbb\xbf",
    b"18446744073709551616", b"-9223372036854775809", b"9" * 5000, b"[" * 2000, b'{"a":' * 2000, b"\xf0\x9f\x99\x82",
    b"api_call", b"<SILENCE>", b"R_phone", b"sentences", b"support", b"after", b"\xd9\xa1",
)  # fmt: skip
_NASTY_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 1.5, 2**31, 2**62, -(2**63), 10**30, math.nan, math.inf, -math.inf, 1e308, 1e-320,
    "", " ", "a", "\x1c", "\ud800", "\x1b[31m", "9" * 5000, "Mary", "<SILENCE>", [], {}, [[]], [None], [""], {"": ""},
    ["Mary", "Mary"], [0, 1], [[0, 1]], list(range(300)), [["a", "b"]] * 50,
)  # fmt: skip
_MOST_CHANGES = 4
_LONGEST = 200_000
_RANDOM_SHARE = 0.05
_AS_JSON = 0.6
"""Of changes to a seed that is JSON, the share that leaves it JSON: others seldom get past the parser."""
_DEEPER = 0.85


def mutated(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """One input. The first byte of a seed says what it is for; the rest is its content."""
    if chance.random() < _RANDOM_SHARE:
        return chance.randbytes(chance.randrange(200))
    seed = chance.choice(seeds)
    if _is_json(seed) and chance.random() < _AS_JSON:
        return seed[:1] + _changed_values(json.loads(seed[1:]), chance)
    return _changed_bytes(bytearray(seed), seeds, chance)


def _changed_bytes(data: bytearray, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.randrange(1, 30))
        kind = chance.randrange(6)
        if kind == 0 and data:
            data[place % len(data)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[place:end]
        elif kind == 2:
            data[place:place] = data[place:end] * chance.randint(1, 20)
        elif kind == 3:
            data[place:end] = chance.choice(_NASTY)
        elif kind == 4:
            other = chance.choice(seeds)
            start = chance.randrange(len(other) + 1)
            data[place:place] = other[start : start + chance.randrange(200)]
        else:
            data[place:place] = chance.choice(_NASTY)
    return bytes(data[:_LONGEST])


def _changed_values(value: Any, chance: random.Random) -> bytes:
    """JSON in which some values are others, missing, moved or doubled."""
    whole = [value]
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        holder, key = _place(whole, chance)
        other, other_key = _place(whole, chance)
        kind = chance.randrange(6)
        if kind == 0 and holder is not whole:
            del holder[key]
        elif kind == 1:
            holder[key] = deepcopy(other[other_key])
        elif kind == 2 and isinstance(holder, list) and holder is not whole:
            holder.insert(key, holder[key])
        elif kind == 3 and isinstance(holder, dict):
            holder[chance.choice(("", "a", "\ud800", f"{key}2"))] = holder.pop(key)
        elif kind == 4 and type(holder[key]) in (int, float):
            holder[key] = chance.choice((-holder[key], holder[key] + 1, holder[key] * 1000, holder[key] / 3))
        else:
            holder[key] = deepcopy(chance.choice(_NASTY_VALUES))
    return json.dumps(whole[0]).encode()


def _place(whole: list[Any], chance: random.Random) -> tuple[Any, Any]:
    """A value somewhere inside, by what holds it and its key there."""
    holder: Any = whole
    key: Any = 0
    while isinstance(holder[key], dict | list) and holder[key] and chance.random() < _DEEPER:
        holder = holder[key]
        key = chance.choice(list(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
    return holder, key


@lru_cache(maxsize=1000)
def _is_json(seed: bytes) -> bool:
    try:
        json.loads(seed[1:])
    except ValueError:
        return False
    return True
