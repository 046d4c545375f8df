"""Vectors of words from elsewhere: a file of GloVe or word2vec as text, a word and its numbers on each line."""

from __future__ import annotations

import gzip
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from query_reduction.errors import InputError

__all__ = ["read_vectors"]

_MOST = 50_000
"""So many words of the file are kept besides those of training: such files begin with the commonest words."""
_LONGEST = 4096


def read_vectors(path: Path, words: Collection[str], most: int = _MOST) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Words that have a vector, and the table: row 0 is zero, for words that have none."""
    wanted, found = set(words), dict[str, NDArray[np.float32]]()
    try:
        with _opened(path) as file:
            for number, line in enumerate(file):
                word, _, rest = line.rstrip("\n").partition(" ")
                if number == 0 and rest.strip().isdecimal():
                    continue  # word2vec begins with how many words and numbers there are
                if (number < most or word in wanted) and word not in found:
                    found[word] = np.array(rest.split(), np.float32)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text") from error
    except ValueError as error:
        raise InputError(f"{path}: line {number + 1} is not a word and its numbers") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    sizes = {len(vector) for vector in found.values()}
    if len(sizes) != 1 or not 0 < min(sizes) <= _LONGEST:
        raise InputError(f"{path}: every line needs a word and the same number of numbers")
    table = np.stack([np.zeros(sizes.pop(), np.float32), *found.values()])
    if not np.isfinite(table).all():
        raise InputError(f"{path}: holds values that are not numbers")
    return tuple(found), table


def _opened(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
