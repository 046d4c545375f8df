"""Shape annotations are checked in every module of the networks, not only written down."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from jaxtyping import TypeCheckError
from small_networks import qrn, variant, vocabulary_of

from query_reduction.data.batch import Batch
from query_reduction.networks import decoder, encoder
from query_reduction.networks.contributions import contributions
from query_reduction.networks.gru import GRUConfig, GRUNetwork
from query_reduction.networks.heads import HeadConfig
from query_reduction.networks.protocol import Seeds

WORDS = vocabulary_of(9, 3, 4)
NUMBERS = torch.zeros(2, 3, dtype=torch.int64)


def flat_batch() -> object:
    return Batch(NUMBERS[0], NUMBERS, NUMBERS[:, 0], NUMBERS[:, 0], NUMBERS[:, 0])


@pytest.mark.parametrize(
    "call",
    [
        flat_batch,
        lambda: encoder.encode_sentences(torch.zeros(9, 4), NUMBERS, 4),
        lambda: qrn(variant("2r4"), WORDS).encode(NUMBERS[0]),
        lambda: decoder.losses(qrn(variant("2r4", decode_questions=True), WORDS), torch.zeros(2, 4), NUMBERS),
        lambda: contributions([], torch.tensor([1.5])),
        lambda: GRUNetwork(GRUConfig(1, 4), WORDS, HeadConfig(), Seeds()).layer(0, torch.zeros(1, 2, 4)),
    ],
)
def test_wrong_shapes_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(TypeCheckError):
        call()
