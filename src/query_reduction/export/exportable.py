"""Which models can be exported as computations of their own, and their parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from query_reduction.encoders.arrays import word_table
from query_reduction.errors import InputError
from query_reduction.model import DialogModel, StoryModel
from query_reduction.qrn.variants import QRNConfig, encoder_of
from query_reduction.text.vocabulary import NO_WORD

__all__ = ["Weights", "network_of", "weights_of"]

Weights = dict[str, NDArray[np.float32]]


def network_of(model: StoryModel | DialogModel, what: str) -> tuple[StoryModel, QRNConfig]:
    """The model and its settings if it is a Query-Reduction Network that reads stories; otherwise an error says so."""
    if isinstance(model, DialogModel) or not isinstance(model.saved.config, QRNConfig):
        kind = "dialogs" if isinstance(model, DialogModel) else "stories"
        raise InputError(
            f"{what} can be made of Query-Reduction Networks that read stories; this is {model.network_name} for {kind}"
            " (a folder, for the Hugging Face Hub, can be made of any model)"
        )
    config = model.saved.config
    if config.encoder != "position":
        raise InputError(f"{what} cannot be made of a model with the encoder {config.encoder}; train with position")
    return model, config


def weights_of(model: StoryModel) -> Weights:
    """The weights that answers are computed from, without the restart dimension, and without what decodes queries.

    Word vectors from elsewhere are part of the embedding.
    """
    stored = {name: weight[0].astype(np.float32) for name, weight in model.saved.weights.items()}
    weights = {name: weight for name, weight in stored.items() if not name.startswith(("decoder_", "vector"))}
    weights["embedding"] = word_table(encoder_of(model.saved.config, model.task.vocabulary), stored).copy()
    # Nothing is read where there is no word.
    weights["embedding"][NO_WORD] = 0
    return weights
