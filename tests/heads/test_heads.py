from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import qrn

from query_reduction.heads.arrays import HeadConfig
from query_reduction.heads.response_tree import ResponseTree
from query_reduction.heads.slots import pieces
from query_reduction.heads.stacked import ResponseHead
from query_reduction.qrn.network import QRNConfig, QueryReductionNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import encode_stories
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary

STORY = Story(
    ("a_place R_phone a_place_phone", "b_place R_phone b_place_phone", "i like b_place", "ok"),
    (
        Question("hi", "hello", 0),
        Question("tell me the phone", "here it is b_place_phone", 4),
        Question("a table in rome", "api_call italian rome", 3),
    ),
)
CANDIDATES = (
    "hello",
    "hello you",
    "api_call italian rome",
    "api_call french rome",
    "here it is a_place_phone",
    "here it is a_place_address",
    "here it is b_place_phone",
)

WIDE = tuple(f"{start}{number}" for start in ("word", "api_call dish") for number in range(20))
"""Wide branches: more words than the narrow ones that are computed together."""


def vocabulary(candidates: tuple[str, ...] = CANDIDATES) -> Vocabulary:
    words = Vocabulary.from_stories([STORY], "spaces")
    return Vocabulary(words.words, candidates, 6, "spaces")


def network(head: HeadConfig, words: Vocabulary, restarts: int = 2) -> QueryReductionNetwork:
    return qrn(QRNConfig(dimension=5), words, range(restarts), head=head).double()


def batch(words: Vocabulary) -> TensorBatch:
    return TensorBatch.of(encode_stories([STORY], words, 0).batch(np.arange(3)))


_MATCHES: tuple[Literal["none", "paper", "original"], ...] = ("none", "paper", "original")
HEADS = [HeadConfig("responses", match) for match in _MATCHES]
every_head = pytest.mark.parametrize("head", HEADS, ids=lambda head: f"{head.kind}-{head.match}")


@every_head
@pytest.mark.parametrize("more", [(), WIDE], ids=["narrow", "wide"])
def test_the_loss_is_the_cross_entropy_of_the_scores(head: HeadConfig, more: tuple[str, ...]) -> None:
    words = vocabulary(CANDIDATES + more)
    net = network(head, words)
    questions = batch(words)
    scores = net.scores(questions)
    right = scores.gather(2, questions.answers.long().expand(2, -1).unsqueeze(2)).squeeze(2)
    torch.testing.assert_close(-right, net.losses(questions))
    torch.testing.assert_close(scores.exp().sum(2), torch.ones(2, 3, dtype=torch.float64))


@every_head
def test_restarts_never_mix(head: HeadConfig) -> None:
    words = vocabulary()
    net = network(head, words)
    losses = net.losses(batch(words))
    alone = network(head, words, 1)
    torch.testing.assert_close(losses[:1], alone.losses(batch(words)))
    losses[0].sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert not parameter.grad[1].any(), name


def test_a_word_is_chosen_by_reduced_query_and_current_word() -> None:
    """The tree's scores, written out by hand for one candidate."""
    words = vocabulary(("a x", "a y", "b y", "b z", "b"))
    net = network(HeadConfig("responses"), words, 1)
    reduced = torch.randn(1, 2, 5, dtype=torch.float64)
    assert isinstance(net.head, ResponseHead)
    tree = net.head.tree
    first, after_a, after_b = tree.branches
    assert [len(branch.pairs) for branch in (first, after_a, after_b)] == [2, 2, 3]
    assert (first.position, after_a.position) == (0, 1)
    # y after a and y after b are one word at one position: they share their row.
    assert set(after_a.pairs.tolist()) & set(after_b.pairs.tolist())

    def log_probability(branch: object, choice: int) -> torch.Tensor:
        rows = net.answer_weight[0, branch.pairs]  # type: ignore[attr-defined]
        scores = (reduced[0] + net.answer_current[0, branch.current]) @ rows.T  # type: ignore[attr-defined]
        return scores.log_softmax(1)[:, choice]

    expected = log_probability(first, 1) + log_probability(after_b, 2)
    torch.testing.assert_close(net.head.scores(net, reduced, None)[0, :, 3], expected)


_responses = st.lists(st.lists(st.sampled_from("abc"), max_size=4).map(tuple), min_size=1, max_size=30, unique=True)


@settings(deadline=None)
@given(_responses, st.integers(0, 2**31))
def test_probabilities_of_all_candidates_add_up(candidates: list[tuple[str, ...]], seed: int) -> None:
    tree = ResponseTree(candidates, {})
    edges = len(tree.edge_pair)
    if len(candidates) == 1:
        assert edges == 0
        return
    log_probabilities = tree.log_probabilities(np.random.default_rng(seed).normal(size=(edges, 3)))
    assert log_probabilities.shape == (len(candidates), 3)
    np.testing.assert_allclose(np.exp(log_probabilities).sum(0), 1)


def test_match_lets_a_name_never_seen_win() -> None:
    words = vocabulary()
    net = network(HeadConfig("responses", "original"), words, 1)
    with torch.no_grad():
        net.answer_weight.zero_()
        net.answer_match[:] = 0
        net.answer_match[:, :, 1] = 50.0
    questions = batch(words)
    reduced = torch.ones(1, 3, 5, dtype=torch.float64)
    names = net.head.scores(net, reduced, questions)[0, 1]
    # b_place was mentioned after a_place.
    assert (
        names[CANDIDATES.index("here it is b_place_phone")] > names[CANDIDATES.index("here it is a_place_phone")] + 10
    )


def test_pieces() -> None:
    assert pieces("here it is a_place_phone") == ("here", "it", "is", "a_place", "_phone")
    assert pieces("api_call R_phone x") == ("api_call", "r_phone", "x")
