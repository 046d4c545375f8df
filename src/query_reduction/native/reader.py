"""The network's reading in one pass of native code; without the native library the composed network is used.

Equal to ``QueryReductionNetwork.encode`` and ``.read`` in value and gradient; nothing here knows more about the network
than the shapes of its parameters. Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from query_reduction.native import library as native
from query_reduction.native.library import EncoderCall, ReaderCall, SavedBlock, Stacked
from query_reduction.native.memory import empty, whole_numbers
from query_reduction.native.recording import recorded
from query_reduction.native.shape import Shape
from query_reduction.native.threads import native_threads

__all__ = ["available", "encode", "read", "rows", "supports"]

_LARGE_TABLE = 1 << 22
"""Numbers from which on PyTorch would get fresh memory from the system."""

_WHOLE_NUMBERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def available() -> bool:
    """Whether the native library was built and loads."""
    return native.available()


def supports(tensor: Tensor) -> bool:
    """Whether the native code can work on tensors like this one."""
    return native.supports(tensor)


def encode(embedding: Tensor, words: Tensor, longest: int) -> Tensor:
    """Sentence vectors, as ``QueryReductionNetwork.encode``; ``longest`` as in ``position_weights``."""
    if embedding.dim() != 3 or words.dim() != 2 or words.dtype not in _WHOLE_NUMBERS:
        raise ValueError(
            "embedding must be (restart, vocabulary, dim) and words (sentence, word), whole numbers; got "
            f"{tuple(embedding.shape)} and {tuple(words.shape)} {words.dtype}"
        )
    if not native.supports(embedding) or words.device.type != "cpu":
        raise ValueError(
            "embedding must be float32 or float64 on the CPU, words on the CPU; got "
            f"{embedding.dtype} on {embedding.device}, words on {words.device}"
        )
    if longest < 0:
        raise ValueError(f"longest must be at least 0; got {longest}")
    words = whole_numbers(words)
    if not recorded(embedding):
        return _encode(embedding, words, longest)
    result: Tensor = _Encode.apply(embedding, words, longest)  # type: ignore[no-untyped-call]
    return result


def rows(table: Tensor, numbers: Tensor) -> Tensor:
    """``table[:, numbers]``, whose gradient is as large as the table: for a large one it is in memory that is kept."""
    numbers = numbers.to(torch.int64)
    if table.numel() < _LARGE_TABLE or not recorded(table):
        return table[:, numbers]
    result: Tensor = _Rows.apply(table, numbers)  # type: ignore[no-untyped-call]
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
    tensors = (table, query, *_weights(shape, parameters))
    _check(shape, tensors, stories, lengths)
    stories, lengths = whole_numbers(stories), whole_numbers(lengths)
    if not recorded(*tensors):
        return _read(shape, stories, lengths, tensors, saving=False)[0]
    result: Tensor = _Read.apply(shape, stories, lengths, *tensors)  # type: ignore[no-untyped-call]
    return result


def _weights(shape: Shape, parameters: Mapping[str, Tensor]) -> list[Tensor]:
    """The parameters that the native code reads, each of the shape that it relies on."""
    weights: list[Tensor] = []
    for name, wanted in shape.parameters().items():
        weight = parameters.get(name)
        if weight is None:
            raise ValueError(f"the parameter {name} is missing")
        stack = (weights or [weight])[0].shape[:1]
        if weight.shape != (*stack, *wanted):
            raise ValueError(f"{name} must be {(*stack, *wanted)}; got {tuple(weight.shape)}")
        weights.append(weight)
    return weights


def _check(shape: Shape, tensors: tuple[Tensor, ...], stories: Tensor, lengths: Tensor) -> None:
    """Everything the native code relies on, except the sentence numbers, which it checks itself."""
    table, query, first, *_ = tensors
    restarts, dim = first.shape[0], shape.dimension
    if table.dim() != 3 or table.shape[0] != restarts or table.shape[2] != dim:
        raise ValueError(f"table must be ({restarts}, sentences, {dim}); got {tuple(table.shape)}")
    if stories.dim() != 2 or stories.dtype not in _WHOLE_NUMBERS:
        raise ValueError(f"stories must be (batch, time) whole numbers; got {tuple(stories.shape)} {stories.dtype}")
    batch = stories.shape[0]
    if lengths.shape != (batch,) or lengths.dtype not in _WHOLE_NUMBERS:
        raise ValueError(f"lengths must be {batch} whole numbers; got {tuple(lengths.shape)} {lengths.dtype}")
    if query.shape != (restarts, batch, dim):
        raise ValueError(f"query must be ({restarts}, {batch}, {dim}); got {tuple(query.shape)}")
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) > 1 or table.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"table, query and weights must all be float32 or all float64; got {sorted(map(str, dtypes))}")
    for tensor in (*tensors, stories, lengths):
        if tensor.device.type != "cpu":
            raise ValueError(f"table, query, stories, lengths and weights must be on the CPU; got {tensor.device}")


def _stacked(tensor: Tensor) -> Tensor:
    """The tensor itself if it is contiguous inside each restart, or a copy that is."""
    if tensor.is_contiguous() or (tensor.shape[0] > 0 and tensor[0].is_contiguous()):
        return tensor
    return tensor.contiguous()


def _reader_call(shape: Shape, stories: Tensor, lengths: Tensor, tensors: Sequence[Tensor]) -> ReaderCall:
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
        stretch=shape.gate_stretch,
        stories=stories.data_ptr(),
        lengths=lengths.data_ptr(),
        table=Stacked.of(table),
        query=Stacked.of(query),
    )
    for name, weight in zip(shape.parameters(), weights, strict=True):
        setattr(call, name, Stacked.of(weight))
    return call


def _read(
    shape: Shape, stories: Tensor, lengths: Tensor, tensors: Sequence[Tensor], *, saving: bool
) -> tuple[Tensor, SavedBlock | None]:
    """The answer vectors and, on request, what the gradient needs besides the inputs."""
    tensors = [_stacked(tensor) for tensor in tensors]
    out = empty(tensors[1].shape, tensors[1].dtype)
    call = _reader_call(shape, stories, lengths, tensors)
    call.out = Stacked.of(out)
    call.owners = (stories, lengths, out, *tensors)
    return out, native.read_forward(call, out.dtype, saving=saving)


class _Read(torch.autograd.Function):
    """Inputs that may have a gradient come last, table and query first among them."""

    @staticmethod
    def forward(ctx: Any, shape: Shape, stories: Tensor, lengths: Tensor, *tensors: Tensor) -> Tensor:
        out, ctx.saved = _read(shape, stories, lengths, tensors, saving=True)
        ctx.shape = shape
        ctx.save_for_backward(stories, lengths, *tensors)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        stories, lengths, *tensors = ctx.saved_tensors
        gradient, tensors = _stacked(gradient), [_stacked(tensor) for tensor in tensors]
        results = [empty(tensor.shape, tensor.dtype) for tensor in tensors]
        if stories.shape[0] == 0:
            for result in results[1:]:
                result.zero_()
        call = _reader_call(ctx.shape, stories, lengths, tensors)
        into = _reader_call(ctx.shape, stories, lengths, results)
        into.out = Stacked.of(gradient)
        call.owners = (stories, lengths, gradient, *tensors, *results)
        native.read_backward(call, into, gradient.dtype, ctx.saved)
        return (None, None, None, *results)


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, numbers: Tensor) -> Tensor:
        ctx.shape = table.shape
        ctx.save_for_backward(numbers)
        return table[:, numbers]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (numbers,) = ctx.saved_tensors
        result = empty(ctx.shape, gradient.dtype).zero_()
        torch.ops.aten.index_put_(result, [None, numbers], gradient, True)  # as PyTorch does, to the same bits
        return result, None


def _encode(embedding: Tensor, words: Tensor, longest: int) -> Tensor:
    embedding = _stacked(embedding)
    restarts, vocabulary, dim = embedding.shape
    table = empty((restarts, words.shape[0], dim), embedding.dtype)
    call = _encoder_call(embedding, table, words)
    native.encode(call, (words.data_ptr(), *words.shape), vocabulary, longest, embedding.dtype, backward=False)
    return table


class _Encode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, embedding: Tensor, words: Tensor, longest: int) -> Tensor:
        ctx.shape, ctx.longest = embedding.shape, longest
        ctx.save_for_backward(words)
        return _encode(embedding, words, longest)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (words,) = ctx.saved_tensors
        gradient = _stacked(gradient)
        embedding = gradient.new_empty(ctx.shape)
        call = _encoder_call(gradient, embedding, words)
        native.encode(
            call, (words.data_ptr(), *words.shape), embedding.shape[1], ctx.longest, gradient.dtype, backward=True
        )
        return embedding, None, None


def _encoder_call(source: Tensor, target: Tensor, words: Tensor) -> EncoderCall:
    call = EncoderCall(
        restarts=source.shape[0],
        dim=source.shape[2],
        threads=native_threads(),
        source=Stacked.of(source),
        target=Stacked.of(target),
    )
    call.owners = (source, target, words)
    return call
