"""Word vectors from elsewhere, read from a file in one of four forms.

``.txt``, ``.vec``  a word and its numbers per line, after a line of two counts or not (GloVe, word2vec, fastText)
``.npy``            a matrix; the words, one per line, are in the file of the same name that ends in ``.txt``
``.safetensors``    one matrix, with its words in the same way

A file is read block by block, from its beginning to its end: it may be larger than memory, and only the rows that are
asked for are kept. Vectors are centred, scaled to the spread of each dimension, and of length one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from query_reduction.errors import InputError
from query_reduction.text.words import fold

__all__ = ["WordVectors"]

_BLOCK = 8192
_MOST_WORDS = 20_000_000
_MOST_NUMBERS = 4096
_LONGEST_LINE = 200_000
_KNOWN_LISTED = 10
"""How many known words a new one is compared with in use."""

_Floats = NDArray[np.float32]


@dataclass(frozen=True)
class WordVectors:
    """A file of word vectors."""

    path: Path

    @property
    def dimension(self) -> int:
        """The number of numbers per word."""
        return len(self._scale[0])

    def rows(self, words: Sequence[str]) -> _Floats:
        """The vector of each word; of several words (a name) the mean of theirs; zero for those the file lacks."""
        wanted = {fold(part) for word in words for part in word.split()}
        found: dict[str, _Floats] = {}
        for names, block in self._blocks():
            for name, row in zip(names, block, strict=True):
                if name in wanted and name not in found:
                    found[name] = row
        rows = np.zeros((len(words), self.dimension), np.float32)
        for number, word in enumerate(words):
            parts = [found[fold(part)] for part in word.split() if fold(part) in found]
            if parts:
                rows[number] = _of_length_one(self._scaled(np.mean(parts, axis=0)))
        return rows

    def nearest(self, words: Sequence[str], count: int) -> dict[str, tuple[str, ...]]:
        """The ``count`` words of the file nearest to each of some words, each with the words that it is nearest to."""
        rows = self.rows(words)
        known = [number for number in range(len(words)) if rows[number].any()]
        if not known or count < 1:
            return {}
        table = rows[known]
        taken = {fold(word) for word in words}
        # The best so far, for every known word: how alike, and which.
        alike = np.full((len(known), count), -np.inf, np.float32)
        which = np.full((len(known), count), -1, np.int64)
        vectors: dict[int, _Floats] = {}
        names: dict[int, str] = {}
        start = 0
        for block_names, block in self._blocks():
            scores = table @ _of_length_one(self._scaled(block)).T
            scores[
                :, [place for place, name in enumerate(block_names) if name in taken or not name.isalpha()]
            ] = -np.inf
            together = np.concatenate((alike, scores), axis=1)
            order = np.argpartition(-together, count - 1, axis=1)[:, :count]
            numbers = np.concatenate((which, np.tile(start + np.arange(len(block)), (len(known), 1))), axis=1)
            alike, which = np.take_along_axis(together, order, 1), np.take_along_axis(numbers, order, 1)
            kept = set(which[np.isfinite(alike)].tolist())
            vectors = {number: vectors[number] for number in kept if number < start} | {
                number: scores[:, number - start] for number in kept if number >= start
            }
            names = {number: names[number] if number < start else block_names[number - start] for number in kept}
            start += len(block)
        ranked: dict[str, tuple[str, ...]] = {}
        for number in sorted(names):
            best = np.argsort(-vectors[number], kind="stable")[:_KNOWN_LISTED]
            ranked.setdefault(names[number], tuple(words[known[place]] for place in best))
        return ranked

    @cached_property
    def _scale(self) -> tuple[_Floats, _Floats]:
        """Mean and deviation of every dimension."""
        count, total, squares = 0, np.zeros(0), np.zeros(0)
        for _, block in self._blocks():
            wide = block.astype(np.float64)
            if not count:
                total, squares = np.zeros(block.shape[1]), np.zeros(block.shape[1])
            count, total, squares = count + len(block), total + wide.sum(0), squares + (wide**2).sum(0)
        if not count:
            raise InputError(f"{self.path}: no word vectors")
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, 1e-12))
        return mean.astype(np.float32), deviation.astype(np.float32)

    def _scaled(self, rows: _Floats) -> _Floats:
        mean, deviation = self._scale
        scaled: _Floats = (rows - mean) / deviation
        return scaled

    def _blocks(self) -> Iterator[tuple[list[str], _Floats]]:
        """The words of the file, in lower case, and their vectors, block by block."""
        if not self.path.is_file():
            raise InputError(f"{self.path}: no such file")
        read = {".npy": _array_blocks, ".safetensors": _tensor_blocks}.get(self.path.suffix, _text_blocks)
        try:
            for words, rows in read(self.path):
                if not np.isfinite(rows).all():
                    raise InputError(f"{self.path}: a vector holds values that are not numbers")
                yield words, rows
        except (OSError, ValueError, SafetensorError, struct.error) as error:
            about = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"{self.path}: not a file of word vectors ({about})") from error


def _text_blocks(path: Path) -> Iterator[tuple[list[str], _Floats]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        dimension = 0
        number = 0
        words: list[str] = []
        numbers: list[_Floats] = []
        while line := file.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                raise InputError(f"{path}: line {number} is longer than {_LONGEST_LINE} characters")
            fields = line.split()
            if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
                continue
            # Some files have words with spaces in them: the numbers are the last fields.
            dimension = dimension or len(fields) - 1
            if not fields:
                continue
            if number > _MOST_WORDS or not 0 < dimension <= _MOST_NUMBERS or len(fields) <= dimension:
                raise InputError(f"{path}: line {number} must have a word and {max(dimension, 1)} numbers")
            try:
                numbers.append(np.array(fields[-dimension:], np.float32))
            except ValueError as error:
                raise InputError(f"{path}: line {number} must have a word and {dimension} numbers") from error
            words.append(fold(" ".join(fields[:-dimension])))
            if len(words) == _BLOCK:
                yield words, np.stack(numbers)
                words, numbers = [], []
        if words:
            yield words, np.stack(numbers)


def _array_blocks(path: Path) -> Iterator[tuple[list[str], _Floats]]:
    yield from _matrix_blocks(path, np.lib.format.open_memmap(path, mode="r"))


def _tensor_blocks(path: Path) -> Iterator[tuple[list[str], _Floats]]:
    with safe_open(path, framework="numpy") as file:
        names = list(file.keys())
        if len(names) != 1:
            raise InputError(f"{path}: it must hold one matrix, not {len(names)}")
        yield from _matrix_blocks(path, file.get_slice(names[0]))


def _matrix_blocks(path: Path, matrix: Any) -> Iterator[tuple[list[str], _Floats]]:
    """The rows of a matrix with the words of the list beside it."""
    shape = tuple(matrix.shape if hasattr(matrix, "shape") else matrix.get_shape())
    if len(shape) != 2 or not 0 < shape[1] <= _MOST_NUMBERS or shape[0] > _MOST_WORDS:
        raise InputError(f"{path}: it must be a matrix with a row per word, not {' x '.join(map(str, shape))}")
    beside = path.with_suffix(".txt")
    if not beside.is_file():
        raise InputError(f"{path}: its words must be in {beside.name} beside it, one per line")
    with beside.open(encoding="utf-8", errors="replace") as file:
        for start in range(0, shape[0], _BLOCK):
            rows = np.asarray(matrix[start : min(start + _BLOCK, shape[0])], np.float32)
            words = [fold(line.rstrip("\n")[:_LONGEST_LINE]) for line in islice(file, len(rows))]
            if len(words) < len(rows):
                raise InputError(f"{beside}: {start + len(words)} words for the {shape[0]} rows of {path.name}")
            yield words, rows
        if file.readline(1):
            raise InputError(f"{beside}: more words than the {shape[0]} rows of {path.name}")


def _of_length_one(rows: _Floats) -> _Floats:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    result: _Floats = rows / np.maximum(lengths, 1e-12)
    return result
