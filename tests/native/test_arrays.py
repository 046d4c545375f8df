"""The native code on NumPy arrays computes what it does on tensors, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from query_reduction.native import arrays, reader
from query_reduction.native import library as native
from query_reduction.native.shape import Shape
from query_reduction.recurrence.scan import scan

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")

SHAPES = st.builds(
    Shape,
    st.integers(1, 3),
    st.sampled_from([1, 4, 9]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.just(1.0),
    st.sampled_from([1.0, 1.2, 10.0]),
)


def weights_of(shape: Shape, restarts: int, chance: np.random.Generator, dtype: type) -> dict[str, np.ndarray]:
    named = {"embedding": (7, shape.dimension), **shape.parameters()}
    return {name: chance.normal(size=(restarts, *size)).astype(dtype) for name, size in named.items()}


@given(SHAPES, st.integers(1, 2), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32))
@settings(max_examples=60)
def test_reading(shape: Shape, restarts: int, dtype: type, seed: int) -> None:
    chance = np.random.default_rng(seed)
    weights = weights_of(shape, restarts, chance, dtype)
    tensors = {name: torch.from_numpy(weight) for name, weight in weights.items()}
    words = chance.integers(0, 7, (5, 3)).astype(np.int32)
    stories = chance.integers(0, 5, (4, int(chance.integers(0, 6)))).astype(np.int32)
    lengths = chance.integers(0, stories.shape[1] + 1, 4).astype(np.int32)
    questions = chance.integers(0, 5, 4)
    both = arrays.ArrayReader(shape, weights)
    for longest in (0, 4):
        table = both.encode(words, longest)
        wanted = reader.encode(tensors["embedding"], torch.from_numpy(words), longest)
        assert np.array_equal(table, wanted.numpy())
    read = both.read(table, table[:, questions], stories, lengths)
    told, end = torch.from_numpy(stories), torch.from_numpy(lengths)
    assert np.array_equal(read, reader.read(shape, tensors, wanted, wanted[:, questions], told, end).numpy())


@given(st.integers(0, 3), st.integers(0, 5), st.integers(1, 4), st.booleans(), st.booleans(), st.integers(0, 2**32))
def test_scanning(batch: int, time: int, dimension: int, vector: bool, reverse: bool, seed: int) -> None:
    chance = np.random.default_rng(seed)
    z, v = chance.random((batch, time, dimension if vector else 1)), chance.normal(size=(batch, time, dimension))
    lengths = chance.integers(0, time + 1, batch)
    wanted = scan(*map(torch.from_numpy, (z, v, lengths)), reverse=reverse)
    assert np.array_equal(arrays.scan(z, v, lengths, reverse=reverse), wanted.numpy())


def test_what_does_not_fit_is_refused() -> None:
    shape = Shape(2, 4, tied=False, reset_gate=True, vector_gates=False, forget_bias=0.0)
    weights = weights_of(shape, 1, np.random.default_rng(0), np.float32)
    ready = arrays.ArrayReader(shape, weights)
    table = ready.encode(np.ones((2, 3), np.int64), 0)
    rows, length = np.zeros((1, 2), np.int64), np.array([2])
    for wrong in ({"embedding": weights["embedding"][:, :, :3]}, {"update_bias": np.zeros((1, 3), np.float32)}):
        with pytest.raises(ValueError):
            arrays.ArrayReader(shape, weights | wrong)
    with pytest.raises(ValueError, match="float32 or float64"):
        arrays.ArrayReader(shape, {name: weight.astype(np.float16) for name, weight in weights.items()})
    with pytest.raises(ValueError, match="words"):
        ready.encode(np.ones(3, np.int64), 0)
    with pytest.raises(IndexError, match="vocabulary"):
        ready.encode(np.full((1, 1), 7), 0)
    with pytest.raises(ValueError, match="query"):
        ready.read(table, table, rows, length)
    with pytest.raises(ValueError, match="table"):
        ready.read(table[:, :, :3], table[:, :1], rows, length)
    with pytest.raises(ValueError, match="fit"):
        ready.read(table, table[:, :1], rows, np.array([2, 2]))
    with pytest.raises(IndexError, match="table"):
        ready.read(table, table[:, :1], rows + 2, length)
    with pytest.raises(ValueError, match="length"):
        ready.read(table, table[:, :1], rows, length + 1)
    with pytest.raises(ValueError, match="lengths"):
        arrays.scan(table, table, np.array([1, 1]), reverse=False)
    with pytest.raises(ValueError, match="z is"):
        arrays.scan(table[:, :1], table, length, reverse=False)
    for other in (np.float16, np.int64, np.complex64):
        with pytest.raises(ValueError, match="float32 or float64"):
            arrays.scan(table.astype(other), table.astype(other), length, reverse=False)
