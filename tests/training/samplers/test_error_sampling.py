"""Of several tasks an epoch tells more of those that are answered wrong, and forgets none."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import pytest

from query_reduction.errors import InputError
from query_reduction.sources.named import load_parts
from query_reduction.stacked.network import StackedNetwork
from query_reduction.training.run import Run, best_restart, train_to_end
from query_reduction.training.samplers.error_sampling import Focus
from query_reduction.training.setup import setup

PARTS = load_parts("generated", "1,2", questions=100)


class KnowingFocus(Focus):
    """Is told how much is wrong, instead of asking a network."""

    wrong: Mapping[str, float]

    def errors(self, network: StackedNetwork) -> dict[str, float]:
        return dict(self.wrong)


def focus(share: float, wrong: Mapping[str, float]) -> KnowingFocus:
    made = KnowingFocus(PARTS.train, share, PARTS.learn(setup().task, PARTS.train).encode)
    made.wrong = wrong
    return made


def run(**changes: object) -> Run:
    wanted = {"restarts": 1, "max_epochs": 2, "copies": 1, "focus": 0.5, **changes}
    return Run(PARTS, setup("1r8", "best", questions=200, changes=wanted))


@pytest.mark.parametrize(
    ("share", "wrong", "expected"),
    [
        (0.5, {"1": 0.0, "2": 0.4}, {"1": 100, "2": 300}),
        (0.5, {"1": 0.1, "2": 0.3}, {"1": 150, "2": 250}),
        (0.9, {"1": 0.0, "2": 0.0}, {"1": 200, "2": 200}),  # nothing to focus on
    ],
)
def test_more_of_what_is_wrong(share: float, wrong: Mapping[str, float], expected: Mapping[str, int]) -> None:
    focused = focus(share, wrong)
    assert focused.wanted(400, wrong) == expected
    drawn = focused.draw(400, run().trainer.network, random.Random(1))
    asked = Counter(story.task for story in drawn for _ in story.questions)
    most = max(len(story.questions) for story in PARTS.train)
    assert all(0 <= asked[task] - count < most for task, count in expected.items())


def test_no_story_comes_again_before_all_others_of_its_task() -> None:
    drawn = focus(0.5, {"1": 0.0, "2": 0.4}).draw(400, run().trainer.network, random.Random(1))
    for task in "12":
        times = Counter({story: 0 for story in PARTS.train if story.task == task})
        times.update(story for story in drawn if story.task == task)
        assert max(times.values()) - min(times.values()) <= 1


def test_errors_are_those_of_the_network() -> None:
    trained = run(max_epochs=1)
    errors = Focus(PARTS.train, 0.5, trained.task.encode).errors(trained.trainer.network)
    assert set(errors) == {"1", "2"}
    assert all(0 < error <= 1 for error in errors.values())


def test_the_same_seed_trains_the_same() -> None:
    first, second = run(), run()
    train_to_end(first)
    train_to_end(second)
    assert best_restart(first).dev_loss == best_restart(second).dev_loss


def test_an_epoch_may_tell_a_part_of_very_many() -> None:
    trained = run(focus_questions=64, batch=32)
    most = max(len(story.questions) for story in PARTS.train)
    assert 64 <= len(trained.trainer.sampler.epoch(0, trained.trainer.network)) < 64 + 2 * most
    whole = run().trainer
    assert len(whole.sampler.epoch(0, whole.network)) >= 180


@pytest.mark.parametrize("changes", [{"restarts": 2}, {"copies": 0}])
def test_restarts_cannot_share_what_one_of_them_needs(changes: dict[str, object]) -> None:
    with pytest.raises(InputError, match="use --restarts 1 and --copies"):
        run(**changes)
