"""A training step up to the gradients in one call of native code: encode, read, score the answers, and back.

Equal to ``QueryReductionNetwork.losses`` with an ``AnswerHead`` and its backward, without autograd in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from query_reduction.native import library as native
from query_reduction.native.library import ReaderCall, Stacked, StepCall
from query_reduction.native.shape import Shape
from query_reduction.native.threads import native_threads

__all__ = ["TrainingStep"]


class TrainingStep:
    """Steps of one stack of networks, whose parameters and gradients stay where they are in memory."""

    def __init__(self, parameters: Mapping[str, Tensor]) -> None:
        """``parameters`` have gradients already; both are contiguous."""
        self._parameters = dict(parameters)
        self._gradients = {name: _gradient(parameter) for name, parameter in parameters.items()}
        for name, tensor in (*self._parameters.items(), *self._gradients.items()):
            if not tensor.is_contiguous() or not native.supports(tensor):
                raise ValueError(f"{name} and its gradient must be contiguous and float or double on the CPU")
        self._calls: dict[Shape, StepCall] = {}

    def serves(self, parameters: Mapping[str, Tensor]) -> bool:
        """Whether these are still the parameters, and their gradients the gradients."""
        return all(
            self._parameters.get(name) is parameter and self._gradients[name] is parameter.grad
            for name, parameter in parameters.items()
        )

    def take(self, shape: Shape, longest: int, batch: Sequence[Tensor], scale: float) -> Tensor:
        """Set all gradients to those of ``scale`` times each restart's mean loss, and return these losses.

        ``batch`` has the words, stories, lengths, questions and answers of a ``TensorBatch``; ``longest`` is as in
        ``position_weights``.
        """
        words, stories, lengths, questions, answers = (part.to(torch.int64).contiguous() for part in batch)
        if words.dim() != 2 or stories.dim() != 2 or not len(stories) == len(lengths) == len(questions) == len(answers):
            raise ValueError("the parts of the batch do not fit each other")
        known = self._calls.get(shape)
        if known is None:
            known = self._calls[shape] = self._call(shape)
        # A copy: a step that was interrupted may still be running.
        call = StepCall.from_buffer_copy(known)
        embedding = self._parameters["embedding"]
        losses = torch.empty(embedding.shape[0], dtype=embedding.dtype)
        reader = call.reader
        reader.sentences, reader.batch, reader.time = words.shape[0], *stories.shape
        reader.threads = native_threads()
        reader.stories, reader.lengths = stories.data_ptr(), lengths.data_ptr()
        call.row, call.longest, call.scale = words.shape[1], longest, scale
        call.words, call.questions, call.correct = words.data_ptr(), questions.data_ptr(), answers.data_ptr()
        call.losses = Stacked.of(losses)
        call.owners = (self._parameters, self._gradients, words, stories, lengths, questions, answers, losses)
        native.take_step(call, losses.dtype)
        return losses

    def _call(self, shape: Shape) -> StepCall:
        """All of a call that does not depend on the batch."""
        restarts, vocabulary, dimension = self._parameters["embedding"].shape
        answers = self._parameters["answer_weight"].shape[1]
        wanted = {"embedding": (vocabulary, dimension), "answer_weight": (answers, dimension), **shape.parameters()}
        for name, own in wanted.items():
            if self._parameters[name].shape != (restarts, *own):
                raise ValueError(f"{name} must be {(restarts, *own)}; got {tuple(self._parameters[name].shape)}")
        call = StepCall(
            vocabulary=vocabulary,
            answers=answers,
            embedding=Stacked.of(self._parameters["embedding"]),
            embedding_gradient=Stacked.of(self._gradients["embedding"]),
            answer=Stacked.of(self._parameters["answer_weight"]),
            answer_gradient=Stacked.of(self._gradients["answer_weight"]),
        )
        for part, tensors in ((call.reader, self._parameters), (call.gradients, self._gradients)):
            _describe(part, shape, restarts)
            for name in shape.parameters():
                setattr(part, name, Stacked.of(tensors[name]))
        return call


def _describe(call: ReaderCall, shape: Shape, restarts: int) -> None:
    call.restarts, call.dim, call.layers = restarts, shape.dimension, shape.layers
    call.tied, call.reset, call.vector = shape.tied, shape.reset_gate, shape.vector_gates
    call.forget_bias, call.stretch = shape.forget_bias, shape.gate_stretch


def _gradient(parameter: Tensor) -> Tensor:
    if parameter.grad is None or parameter.grad.shape != parameter.shape or parameter.grad.dtype != parameter.dtype:
        raise ValueError("a parameter has no gradient of its shape and type to be set")
    return parameter.grad
