"""The network's reading in one pass of native code; without the native library the composed network is used.

Equal to ``QueryReductionNetwork.encode`` and ``.read`` in value and gradient; nothing here knows more of the network
than the shapes of its parameters. Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from query_reduction.native import library as native
from query_reduction.native.library import EncoderCall, ReaderCall, Stacked
from query_reduction.native.threads import native_threads

__all__ = ["Shape", "available", "encode", "read", "supports"]

_PARAMETERS = (
    "candidate_query",
    "candidate_sentence",
    "candidate_bias",
    "update_weight",
    "update_bias",
    "reset_weight",
    "reset_bias",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What the native code must know of a network beside its weights; the fields are those of ``QRNConfig``."""

    layers: int
    dimension: int
    tied: bool
    reset_gate: bool
    vector_gates: bool
    forget_bias: float


def available() -> bool:
    """Whether the native library was built and loads."""
    return native.available()


def supports(tensor: Tensor) -> bool:
    """Whether the native code can work on tensors like this one."""
    return native.supports(tensor)


def encode(embedding: Tensor, words: Tensor, longest: int) -> Tensor:
    """Sentence vectors, as ``QueryReductionNetwork.encode``; ``longest`` as in ``position_weights``."""
    if embedding.dim() != 3 or words.dim() != 2 or words.is_floating_point():
        raise ValueError(
            "embedding must be (restart, vocabulary, dim) and words (sentence, word), whole numbers; got "
            f"{tuple(embedding.shape)} and {tuple(words.shape)} {words.dtype}"
        )
    if longest < 0 or words.device.type != "cpu":
        raise ValueError(f"longest must be at least 0 and words on the CPU; got {longest}, {words.device}")
    result: Tensor = _Encode.apply(  # type: ignore[no-untyped-call]
        embedding, words.to(torch.int64).contiguous(), longest
    )
    return result


def read(
    shape: Shape,
    parameters: Mapping[str, Tensor],
    table: Tensor,
    query: Tensor,
    stories: Tensor,
    lengths: Tensor,
) -> Tensor:
    """Answer vectors, as ``QueryReductionNetwork.read``; ``parameters`` are the network's, by name."""
    weights = [parameters[name] for name in _PARAMETERS if name in parameters]
    _check(shape, table, query, stories, lengths, weights)
    result: Tensor = _Read.apply(  # type: ignore[no-untyped-call]
        shape,
        stories.to(torch.int64).contiguous(),
        lengths.to(torch.int64).contiguous(),
        table,
        query,
        *weights,
    )
    return result


def _check(shape: Shape, table: Tensor, query: Tensor, stories: Tensor, lengths: Tensor, weights: list[Tensor]) -> None:
    """Everything the native code relies on, except the sentence numbers, which it checks itself."""
    restarts, dim = weights[0].shape[0], shape.dimension
    if table.dim() != 3 or table.shape[0] != restarts or table.shape[2] != dim:
        raise ValueError(f"table must be ({restarts}, sentences, {dim}); got {tuple(table.shape)}")
    if stories.dim() != 2 or stories.is_floating_point():
        raise ValueError(f"stories must be (batch, time) whole numbers; got {tuple(stories.shape)} {stories.dtype}")
    batch = stories.shape[0]
    if lengths.shape != (batch,) or lengths.is_floating_point():
        raise ValueError(f"lengths must be {batch} whole numbers; got {tuple(lengths.shape)} {lengths.dtype}")
    if query.shape != (restarts, batch, dim):
        raise ValueError(f"query must be ({restarts}, {batch}, {dim}); got {tuple(query.shape)}")
    dtypes = {table.dtype, query.dtype, *(weight.dtype for weight in weights)}
    if len(dtypes) > 1 or not native.supports(table):
        raise ValueError(f"table, query and weights must all be float32 or all float64; got {sorted(map(str, dtypes))}")
    for tensor in (query, stories, lengths, *weights):
        if tensor.device != table.device:
            raise ValueError(f"query, stories, lengths and weights must be on the CPU; one is on {tensor.device}")


def _stacked(tensor: Tensor) -> Tensor:
    """The tensor itself if it is contiguous inside each restart, or a copy that is."""
    if tensor.is_contiguous() or (tensor.shape[0] > 0 and tensor[0].is_contiguous()):
        return tensor
    return tensor.contiguous()


def _reader_call(shape: Shape, stories: Tensor, lengths: Tensor, tensors: list[Tensor]) -> ReaderCall:
    table, query, *weights = tensors
    call = ReaderCall(
        restarts=table.shape[0],
        sentences=table.shape[1],
        batch=stories.shape[0],
        time=stories.shape[1],
        dim=shape.dimension,
        layers=shape.layers,
        tied=shape.tied,
        reset=shape.reset_gate,
        vector=shape.vector_gates,
        threads=native_threads(),
        forget_bias=shape.forget_bias,
        stories=stories.data_ptr(),
        lengths=lengths.data_ptr(),
        table=Stacked.of(table),
        query=Stacked.of(query),
    )
    for name, weight in zip(_PARAMETERS, weights, strict=False):
        setattr(call, name, Stacked.of(weight))
    return call


class _Read(torch.autograd.Function):
    """Inputs that may have a gradient come last, table and query first among them."""

    @staticmethod
    def forward(ctx: Any, shape: Shape, stories: Tensor, lengths: Tensor, *tensors: Tensor) -> Tensor:
        tensors = tuple(_stacked(tensor) for tensor in tensors)
        table, query = tensors[:2]
        out = torch.empty_like(query, memory_format=torch.contiguous_format)
        call = _reader_call(shape, stories, lengths, list(tensors))
        call.out = Stacked.of(out)
        ctx.saved = native.read_forward(call, table.dtype, saving=any(ctx.needs_input_grad))
        ctx.shape = shape
        ctx.save_for_backward(stories, lengths, *tensors)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        stories, lengths, *tensors = ctx.saved_tensors
        gradient = _stacked(gradient)
        # Sentences that no story of the batch names have no gradient.
        results = [torch.zeros_like(tensors[0], memory_format=torch.contiguous_format)]
        for tensor in tensors[1:]:
            make = torch.empty_like if stories.shape[0] > 0 else torch.zeros_like
            results.append(make(tensor, memory_format=torch.contiguous_format))
        call = _reader_call(ctx.shape, stories, lengths, tensors)
        into = _reader_call(ctx.shape, stories, lengths, results)
        into.out = Stacked.of(gradient)
        native.read_backward(call, into, gradient.dtype, ctx.saved)
        return (None, None, None, *results)


class _Encode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, embedding: Tensor, words: Tensor, longest: int) -> Tensor:
        embedding = _stacked(embedding)
        restarts, vocabulary, dim = embedding.shape
        table = embedding.new_empty(restarts, words.shape[0], dim)
        call = _encoder_call(embedding, table)
        native.encode(call, words, vocabulary, longest, embedding.dtype, backward=False)
        ctx.shape, ctx.longest = embedding.shape, longest
        ctx.save_for_backward(words)
        return table

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (words,) = ctx.saved_tensors
        gradient = _stacked(gradient)
        embedding = gradient.new_empty(ctx.shape)
        call = _encoder_call(gradient, embedding)
        native.encode(call, words, embedding.shape[1], ctx.longest, gradient.dtype, backward=True)
        return embedding, None, None


def _encoder_call(source: Tensor, target: Tensor) -> EncoderCall:
    return EncoderCall(
        restarts=source.shape[0],
        dim=source.shape[2],
        threads=native_threads(),
        source=Stacked.of(source),
        target=Stacked.of(target),
    )
