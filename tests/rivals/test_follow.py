"""The network that follows names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from small_networks import weights_of

import query_reduction as qr
from query_reduction.errors import InputError
from query_reduction.explain.path import path_of
from query_reduction.heads.arrays import HeadConfig
from query_reduction.model_file import SavedModel, load_model, save_model
from query_reduction.reading.stories import StoryOptions, StoryParts, StoryTask
from query_reduction.rivals.follow import Follow, FollowConfig
from query_reduction.rivals.registry import build_network
from query_reduction.stacked.network import Seeds
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import ChainOptions, chain_stories

OPTIONS = StoryOptions(names="symbols", writing="any", unreadable="read", memory=0)
CONFIG = FollowConfig(dimension=6, spare=3, measures=2)


def stories(hops: str = "1-4", world: str = "space", noise: int = 2, count: int = 12) -> list[Story]:
    return chain_stories(world, count, options=ChainOptions(hops=hops, noise=noise))


def task_of(told: list[Story]) -> StoryTask:
    return StoryParts("chains", told).learn(OPTIONS, told)


def batch_of(task: StoryTask, told: list[Story]) -> TensorBatch:
    return TensorBatch.of(task.encode(told).batch(np.arange(len(told))))


def network_of(task: StoryTask, config: FollowConfig = CONFIG, restarts: range = range(2)) -> Follow:
    network = build_network(config, task.vocabulary, HeadConfig(), Seeds(restarts)).double()
    network.noise = torch.Generator().manual_seed(5)
    assert isinstance(network, Follow)
    return network


def test_every_parameter_has_a_gradient_and_restarts_do_not_mix() -> None:
    told = stories()
    task = task_of(told)
    network = network_of(task, replace(CONFIG, directions="both"), range(3))
    network.losses(batch_of(task, told))[1].sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad[1].abs().sum() > 0, name
        assert parameter.grad[[0, 2]].abs().sum() == 0, name


def test_a_question_is_answered_alike_alone_and_among_others() -> None:
    told = stories()
    task = task_of(told)
    network = network_of(task).eval()
    together = network.scores(batch_of(task, told))
    for number, story in enumerate(told):
        torch.testing.assert_close(network.scores(batch_of(task, [story]))[:, 0], together[:, number])


@pytest.mark.parametrize("orders", ["all", "forward"])
def test_what_a_name_is_and_when_it_is_told_make_no_difference(orders: Literal["all", "forward"]) -> None:
    told = [Story(("Kim is left of Lee.", "Lee is above Max."), (Question("Where is Kim, seen from Max?", "left", 2),))]
    other = [
        Story(("Ada is above Bob.", "Zoë is left of Ada."), (Question("Where is Zoë, seen from Bob?", "left", 2),))
    ]
    task = task_of(told)
    network = network_of(task, replace(CONFIG, orders=orders)).eval()
    torch.testing.assert_close(network.scores(batch_of(task, told)), network.scores(batch_of(task, other)))


def test_measures_add_up_in_any_order() -> None:
    """Where only sums count and the gates are open, all orders and one give the same."""
    told = stories("2-5", noise=0)
    task = task_of(told)
    scores = []
    for orders in ("all", "forward"):
        network = network_of(task, replace(CONFIG, reduction="add", orders=orders)).eval()
        with torch.no_grad():
            network.out_bias[:, -1] = 1e3  # the gate
        laid = network._lay(network._routes(batch_of(task, told)))
        measures = network._follow(laid).measures[:, laid.asked]
        scores.append(measures)
    torch.testing.assert_close(*scores, rtol=1e-4, atol=1e-4)


def test_composition_by_hand() -> None:
    """With one way and a table that is sure, the kind of the pair is the table's entry."""
    told = [Story(("Kim is left of Lee.", "Lee is above Max."), (Question("Where is Kim, seen from Max?", "left", 2),))]
    task = task_of(told)
    network = network_of(task, replace(CONFIG, reduction="compose"), range(1)).eval()
    laid = network._lay(network._routes(batch_of(task, told)))
    before = network._told(laid).kinds[0]
    asked = int(laid.asked[0])
    ((ab, bc, _),) = (tuple(int(column[0]) for column in level) for level in laid.levels)
    expected = torch.einsum("i,j,ijk->k", before[ab], before[bc], network._table()[0])
    found = network._follow(laid).kinds[0, asked]
    torch.testing.assert_close(found / found.sum(), expected / expected.sum(), rtol=1e-4, atol=1e-5)
    assert found.sum() <= 1


def test_questions_that_cannot_be_followed_get_the_prior() -> None:
    told = stories()
    task = task_of(told)
    lost = [Story(("Kim is left of Lee.",), (Question("Where is Kim, seen from Max?", "left", 1),))]
    network = network_of(task).eval()
    scores = network.scores(batch_of(task, [*told, *lost]))[:, -1]
    torch.testing.assert_close(scores - scores[:, :1], network.prior - network.prior[:, :1], rtol=1e-3, atol=1e-3)


def test_most_steps() -> None:
    told = stories("3", count=2)
    task = task_of(told)
    batch = batch_of(task, told)
    whole, short = (network_of(task, replace(CONFIG, most_steps=steps)).eval() for steps in (3, 2))
    assert not torch.allclose(whole.scores(batch), short.scores(batch))
    assert [route.asked for route in short._routes(batch)] == [-1, -1]


def test_it_needs_symbols_and_stories() -> None:
    with pytest.raises(InputError, match="use --names symbols"):
        qr.train(stories(), network="follow", names="words")
    with pytest.raises(InputError, match="cannot write responses"):
        build_network(CONFIG, task_of(stories()).vocabulary, HeadConfig("responses"))


def test_learns_to_add_and_to_compose_beyond_what_it_was_trained_for(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "dimension": 24,
        "max_epochs": 14,
        "halve_after": 8,
        "halve_every": 2,
        "learning_rate": 0.006,
        "batch": 32,
    }
    for world in ("space", "order"):
        train = chain_stories(world, 700, options=ChainOptions(hops="1-3", phrasing="plain"))
        test = chain_stories(world, 60, split="test", options=ChainOptions(hops="7", noise=3, phrasing="plain"))
        model = qr.train(train, network="follow", **changes)
        assert model.evaluate(test).error <= 15, world
    model.save(tmp_path / "model")
    asked = (
        ["Gil is older than Hal.", "Ian was born, too.", "Hal is older than Joe."],
        "Is Gil older or younger than Joe?",
    )
    loaded = qr.load(tmp_path / "model")
    assert isinstance(loaded, qr.StoryModel)
    trace = loaded.explain(*asked)
    assert trace.answer == "older"
    path = path_of(trace)
    assert path is not None
    assert [(step.source, step.target, step.position) for step in path.steps] == [("Gil", "Hal", 0), ("Hal", "Joe", 2)]
    assert str(path).splitlines()[0] == "Gil → Hal → Joe"


def test_saved_and_restored(tmp_path: Path) -> None:
    told = stories()
    task = task_of(told)
    network = build_network(CONFIG, task.vocabulary, HeadConfig(), Seeds([4])).eval()
    save_model(tmp_path / "model", SavedModel(CONFIG, task, weights_of(network)))
    restored = load_model(tmp_path / "model")
    batch = batch_of(task, told)
    with torch.inference_mode():
        expected = network.scores(batch)[0].numpy()
    np.testing.assert_allclose(restored.network().scores(batch.as_arrays()), expected, rtol=1e-5, atol=1e-6)
