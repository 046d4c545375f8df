from __future__ import annotations

import pytest

from query_reduction.names.discovery.candidates import find_candidates
from query_reduction.names.discovery.corpus import read_corpus
from query_reduction.names.discovery.evidence import Verdict
from query_reduction.names.discovery.kinds import Trial
from query_reduction.names.units import Units, find_phrases
from query_reduction.text.stories import Story
from query_reduction.worlds import generate


def trial_of(stories: list[Story]) -> Trial:
    corpus = read_corpus(stories, Units(find_phrases(stories)))
    return Trial(corpus, find_candidates(corpus), seed=0)


def verdict(trial: Trial, *pairs: tuple[str, str]) -> Verdict:
    number = trial.corpus.names.index
    return trial.evidence.of_exchange(trial.exchange(*[(number(one), number(other)) for one, other in pairs]))


@pytest.fixture(scope="module")
def carrying() -> Trial:
    return trial_of(generate(2, 600))


@pytest.mark.parametrize("pair", [("mary", "john"), ("kitchen", "garden"), ("took", "got"), ("milk", "apple")])
def test_what_may_be_exchanged_is_not_refuted(carrying: Trial, pair: tuple[str, str]) -> None:
    assert not verdict(carrying, pair).refuted


@pytest.mark.parametrize("pair", [("took", "dropped"), ("picked up", "put down"), ("grabbed", "left")])
def test_what_may_not_is_refuted(carrying: Trial, pair: tuple[str, str]) -> None:
    assert verdict(carrying, pair).refuted


def test_directions_are_refuted_one_by_one_and_true_with_their_letters() -> None:
    trial = trial_of(generate(19, 500))
    assert verdict(trial, ("north", "south")).refuted
    assert verdict(trial, ("n", "s")).refuted
    assert not verdict(trial, ("north", "south"), ("n", "s")).refuted
    diagonal = [("north", "east"), ("south", "west"), ("n", "e"), ("s", "w")]
    assert not verdict(trial, *diagonal).refuted
    assert verdict(trial, *diagonal[:2]).refuted
    assert verdict(trial, ("north", "east"), ("n", "e")).refuted


def test_the_control_notices_questions_about_the_wrong_one(carrying: Trial) -> None:
    number = carrying.corpus.names.index
    assert carrying.control_fails(number("milk"), number("apple"))


def test_a_change_of_nothing_is_never_refuted(carrying: Trial) -> None:
    assert verdict(carrying) == Verdict(False, 0.0, 0.0, 0)
