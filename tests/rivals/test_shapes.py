"""Shape annotations are checked in every module of the networks, not only written down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from jaxtyping import TypeCheckError
from small_networks import in_use, qrn, variant, vocabulary_of

from query_reduction.encoders import position as encoder
from query_reduction.heads.arrays import HeadConfig
from query_reduction.qrn import decoder_training as decoder
from query_reduction.qrn.contributions import contributions
from query_reduction.rivals.gru import GRUConfig, GRUNetwork
from query_reduction.stacked.network import Seeds
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.batch import Batch

WORDS = vocabulary_of(9, 3, 4)
NUMBERS = torch.zeros(2, 3, dtype=torch.int64)


def flat_batch() -> object:
    return TensorBatch(NUMBERS[0], NUMBERS, NUMBERS[:, 0], NUMBERS[:, 0], NUMBERS[:, 0])


@pytest.mark.parametrize(
    "call",
    [
        flat_batch,
        lambda: encoder.encode_sentences(torch.zeros(9, 4), NUMBERS, 4),
        lambda: qrn(variant("2r4"), WORDS).encode(NUMBERS[0]),
        lambda: decoder.losses(qrn(variant("2r4", decode_questions=True), WORDS), torch.zeros(2, 4), NUMBERS),
        lambda: contributions([], np.array([1.5])),
        lambda: Batch(NUMBERS.numpy(), NUMBERS.numpy(), NUMBERS[:, 0].numpy(), NUMBERS.numpy(), NUMBERS[:, 0].numpy()),
        lambda: in_use(qrn(variant("2r4"), WORDS), WORDS).encode(NUMBERS[0].numpy()),
        lambda: GRUNetwork(GRUConfig(1, 4), WORDS, HeadConfig(), Seeds()).layer(0, torch.zeros(1, 2, 4)),
    ],
)
def test_wrong_shapes_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(TypeCheckError):
        call()
