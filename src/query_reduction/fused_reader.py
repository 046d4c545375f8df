"""The network's reading in one pass of native code; without the native library the composed network is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from query_reduction.model import QueryReductionNetwork

__all__ = ["available", "encode", "read", "supports"]


def available() -> bool:
    """Whether the native library was built and loads."""
    return False


def supports(tensor: Tensor) -> bool:
    """Whether the native code can work on tensors like this one."""
    return False


def encode(embedding: Tensor, words: Tensor, weights: Tensor) -> Tensor:
    """Sentence vectors, as ``QueryReductionNetwork.encode``."""
    raise RuntimeError("the native library is not there")


def read(network: QueryReductionNetwork, table: Tensor, query: Tensor, stories: Tensor, lengths: Tensor) -> Tensor:
    """Answer vectors, as ``QueryReductionNetwork.read``."""
    raise RuntimeError("the native library is not there")
