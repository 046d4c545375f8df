"""Cells of recurrent readers against their equations, step by step: T-RNN, T-GRU, T-LSTM, SCRN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
from examples import VOCABULARY, assert_equals, error_after_training, position_encoding, small
from query_reduction_lab.rivals.scrn import SCRNConfig
from torch import Tensor

from query_reduction.errors import InputError

D = 6
Step = Callable[[Mapping[str, Tensor], Tensor, Tensor, tuple[Tensor, ...]], tuple[Tensor, ...]]
"""From the weights of a layer, this input, the one before and the state to the next state, what is handed on first."""


def t_rnn(w: Mapping[str, Tensor], x: Tensor, before: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    z = x @ w["input_weight"][:, :D]
    f = torch.sigmoid(x @ w["input_weight"][:, D:] + w["forget_bias"])
    return (f * state[0] + (1 - f) * z,)


def typed_gates(w: Mapping[str, Tensor], x: Tensor, before: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z, f, o = (before @ w["before_weight"] + x @ w["input_weight"] + w["bias"]).split(D)
    return z, torch.sigmoid(f), torch.tanh(o)


def t_gru(w: Mapping[str, Tensor], x: Tensor, before: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    z, f, o = typed_gates(w, x, before)
    return (f * state[0] + z * o,)


def t_lstm(w: Mapping[str, Tensor], x: Tensor, before: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    z, f, o = typed_gates(w, x, before)
    c = f * state[1] + (1 - f) * z
    return c * o, c


def scrn(w: Mapping[str, Tensor], x: Tensor, before: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    fast, slow = state[0][:4], state[0][4:]
    slow = 0.05 * (x @ w["input_slow"]) + 0.95 * slow
    fast = torch.sigmoid(slow @ w["slow_fast"] + x @ w["input_fast"] + fast @ w["fast_fast"])
    return (torch.cat((fast, slow)),)


def gru(w: Mapping[str, Tensor], x: Tensor, before: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    reset_x, update_x, new_x = (x @ w["input_weight"] + w["input_bias"]).split(D)
    reset_h, update_h, new_h = (state[0] @ w["state_weight"] + w["state_bias"]).split(D)
    z = torch.sigmoid(update_x + update_h)
    return ((1 - z) * torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h) + z * state[0],)


def lstm(w: Mapping[str, Tensor], x: Tensor, before: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    i, f, o, n = (x @ w["input_weight"] + state[0] @ w["state_weight"] + w["bias"]).split(D)
    c = torch.sigmoid(f + 1) * state[1] + torch.sigmoid(i) * torch.tanh(n)
    return torch.sigmoid(o) * torch.tanh(c), c


CELLS: dict[str, Step] = {"t-rnn": t_rnn, "t-gru": t_gru, "t-lstm": t_lstm, "scrn": scrn, "gru": gru, "lstm": lstm}


def by_hand(step: Step, layers: int, reads: str) -> Any:
    def scores(w: Mapping[str, Tensor], question: Sequence[int], story: Sequence[Sequence[int]]) -> Tensor:
        if reads == "words":
            inputs = [w["embedding"][word] for sentence in [*story, question] for word in sentence]
        else:
            q = position_encoding(w["embedding"], question, VOCABULARY.longest_sentence)
            inputs = [position_encoding(w["embedding"], words, VOCABULARY.longest_sentence) + q for words in story]
        nothing = w["embedding"].new_zeros(D)
        state = (nothing, nothing)
        for layer in range(layers):
            own = {name: value[layer] for name, value in w.items() if name not in ("embedding", "answer_weight")}
            state, outputs = (nothing, nothing), []
            for before, x in zip([nothing, *inputs], inputs, strict=False):
                state = step(own, x, before, state)  # type: ignore[assignment]
                outputs.append(state[0])
            inputs = outputs
        return w["answer_weight"] @ state[0]

    return scores


@pytest.mark.parametrize("reads", ["sentences", "words"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", CELLS)
def test_equals_the_equations(name: str, layers: int, reads: str) -> None:
    changes: dict[str, Any] = {"slow_units": 2} if name == "scrn" else {}
    network = small(name, layers=layers, dimension=D, reads=reads, **changes)
    assert_equals(network, by_hand(CELLS[name], layers, reads))


def test_slow_units_are_part_of_the_dimension() -> None:
    with pytest.raises(InputError, match="slow_units must be fewer than the dimension, 10"):
        SCRNConfig(dimension=10, slow_units=10)


@pytest.mark.parametrize("name", ["t-gru", "t-lstm"])
def test_two_typed_layers_learn_task_1(name: str) -> None:
    quick: dict[str, Any] = {"layers": 2, "max_epochs": 10, "learning_rate": 0.01, "halve_every": 3}
    assert error_after_training(name, questions=4000, **quick) <= 5


def test_scrn_learns_task_20() -> None:
    """It does not learn task 1, as simple recurrent networks do not."""
    assert error_after_training("scrn", task=20, max_epochs=25) <= 5
