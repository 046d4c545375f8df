"""Inputs that are almost right: valid seeds changed in a few places, and random bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence

__all__ = ["mutated"]

_NASTY = (
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\x1c", b"\xe2\x80\xa8", b"\x1b[31m", b"\r", b"\n\n", b"\t\t",
    b"-1", b"1e999", b"NaN", b"null", b"true", b"{}", b"[]", b'""', b"'", b'"', b",", b":", b"1 ", b"\xef\xbb\xbf",
    b"18446744073709551616", b"-9223372036854775809", b"9" * 5000, b"[" * 2000, b'{"a":' * 2000, b"\xf0\x9f\x99\x82",
    b"api_call", b"<SILENCE>", b"R_phone", b"sentences", b"support", b"after", b"\xd9\xa1",
)  # fmt: skip
_MOST_CHANGES = 4
_LONGEST = 20_000
_RANDOM_SHARE = 0.05


def mutated(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """One input."""
    if chance.random() < _RANDOM_SHARE:
        return chance.randbytes(chance.randrange(200))
    data = bytearray(chance.choice(seeds))
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
