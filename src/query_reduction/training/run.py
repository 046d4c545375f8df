"""A training from stories to a chosen model, step by step.

    run = Run(parts, setup)              # split, read, draw initial weights
    for epoch in epochs(run.trainer):    # train; the caller shows progress, saves and stops
        ...
    result = run_result(run)             # test every restart once; the choice is made on development
    model = trained_model(run, best_restart(run), result.as_json())

Every training in this package takes these steps: ``qrn train``, ``query_reduction.train``, the demo and the
laboratory. Nothing here knows of files, signals or terminals.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from query_reduction.errors import InputError
from query_reduction.model_file import SavedModel, fingerprint
from query_reduction.origin import provenance
from query_reduction.reading.protocol import Parts, Progress, Scores, Task, test
from query_reduction.reading.stories import StoryTask
from query_reduction.rivals.registry import build_network, config_to_json
from query_reduction.sources.named import question_count
from query_reduction.stacked.network import Seeds, StackedNetwork, take_weights
from query_reduction.text.vectors import WordVectors
from query_reduction.training.calibrate import calibrate_on_questions, calibrate_on_stories
from query_reduction.training.example import example_of
from query_reduction.training.restarts import RestartTrainer, epochs
from query_reduction.training.results import RestartResult, RunResult, choose
from query_reduction.training.samplers.sampler import Sampler, check_sampling, make_sampler
from query_reduction.training.setup import Setup
from query_reduction.training.split import Split, split_stories
from query_reduction.training.state import Restart

__all__ = [
    "Run",
    "best_restart",
    "draw_network",
    "fit_reader",
    "run_result",
    "score_restarts",
    "train_to_end",
    "trained_model",
]


class Run:
    """A training that is ready to begin: its data and settings, how stories are read, and networks to be trained."""

    def __init__(
        self,
        parts: Parts,
        setup: Setup,
        restarts: Sequence[int] | None = None,
        *,
        start: SavedModel | None = None,
        progress: Progress | None = None,
    ) -> None:
        """``restarts`` are the numbers of those to train, by default as many as the recipe says; ``start`` is a model
        to fine-tune, whose words and answers are extended by those of the stories. ``progress`` is told how far the
        search for interchangeable words is."""
        self.parts, self.setup, self.start = parts, setup, start
        numbers = list(restarts or range(setup.recipe.restarts))
        check_sampling(setup, len(numbers))
        self.split = split_stories(parts, setup.recipe)
        self.task = fit_reader(parts, setup, self.split, start, progress)
        sampler = make_sampler(parts, self.task, self.split, setup.recipe)
        network = draw_network(setup, self.task, sampler, numbers, start, parts.vectors)
        self.trainer = RestartTrainer(network, numbers, setup.recipe, sampler)

    @cached_property
    def checksum(self) -> str:
        """The sha256 of the data."""
        return self.parts.checksum()

    def settings(self) -> dict[str, Any]:
        """Network, task and recipe as plain values."""
        return {
            "network": config_to_json(self.setup.network),
            "task": {"kind": self.parts.kind, **asdict(self.setup.task)},
            "recipe": asdict(self.setup.recipe),
            **({"from": fingerprint(self.start)} if self.start else {}),
        }

    def identity(self) -> dict[str, Any]:
        """What a saved state must have in common with this run to be resumed by it."""
        numbers = [restart.number for restart in self.trainer.restarts]
        return self.settings() | {"restarts": numbers, "data": self.checksum}


def fit_reader(
    parts: Parts, setup: Setup, split: Split, start: SavedModel | None = None, progress: Progress | None = None
) -> Task:
    """How stories are read: words, answers and names, learned from the training part; may take minutes.

    If a model is fine-tuned, its words and answers are extended.
    """
    if start is None:
        return parts.learn(setup.task, split.train, progress)
    if start.task.kind != parts.kind:
        raise InputError(
            f"{parts.name} holds {parts.kind}, but the model to fine-tune was trained on {start.task.kind}"
        )
    all_parts = getattr(start.task.options, "vocabulary", "train") == "all"
    return start.task.extended([*parts.train, *parts.dev, *parts.test] if all_parts else parts.train)


def draw_network(
    setup: Setup,
    task: Task,
    sampler: Sampler,
    restarts: Sequence[int],
    start: SavedModel | None = None,
    vectors: WordVectors | None = None,
) -> StackedNetwork:
    """A stack of networks with initial weights drawn for each restart, or with those of a trained model.

    ``vectors`` are those of words that the network reads beside learned ones.
    """
    rarity = torch.from_numpy(sampler.rarity).to(torch.get_default_dtype())
    fixed = {}
    if vectors is not None:
        # The two word numbers without meaning come first.
        of_words = np.pad(vectors.rows(task.vocabulary.words), ((2, 0), (0, 0)))
        fixed["vectors"] = torch.from_numpy(of_words[None]).to(rarity.dtype)
    seeds = Seeds(restarts, setup.recipe.seed, rarity, fixed)
    network = build_network(setup.network, task.vocabulary, task.head, seeds)
    if setup.recipe.readout_epochs and not network.readout():
        raise InputError(
            "this network scores answers by its word vectors: it has no weights for readout-epochs to train first"
        )
    if start:
        before, now = start.task.vocabulary, task.vocabulary
        take_weights(network, start.weights, {(before.size, now.size), (len(before.answers), len(now.answers))})
        network.go_on()
    return network


def train_to_end(run: Run) -> None:
    """Train without showing or saving anything on the way."""
    for _ in epochs(run.trainer):
        pass


def best_restart(run: Run) -> Restart:
    """The restart chosen on the development questions."""
    restarts = run.trainer.restarts
    chosen = choose([_result(run, restart, None) for restart in restarts], run.setup.recipe.keep)
    return next(restart for restart in restarts if restart.number == chosen.restart)


def trained_model(run: Run, restart: Restart, card: Mapping[str, Any] | None = None) -> SavedModel:
    """A restart's best weights as a model to save or use; its card also holds a story of its data."""
    about = dict(card or {})
    # A story the network does not train on, where whole stories are held out.
    if about and run.parts.kind == "stories" and (example := example_of(run.split.dev or run.split.train)):
        about["example"] = example
    fixed = run.trainer.network.named_buffers()
    weights = {name: weight.numpy() for name, weight in (*restart.weights.items(), *fixed)}
    model = SavedModel(run.setup.network, run.task, weights, about)
    return replace(model, task=_calibrated(run, model)) if about else model


def _calibrated(run: Run, model: SavedModel) -> Task:
    """What a model keeps of its task, with what its probabilities are worth on development questions."""
    task = model.task
    if not isinstance(task, StoryTask):
        return task
    if run.split.dev:
        return replace(task, calibration=calibrate_on_stories(model.network(), task, run.split.dev))
    return replace(task, calibration=calibrate_on_questions(model.network(), run.trainer.sampler.dev))


def score_restarts(run: Run, restarts: Sequence[Restart]) -> list[RestartResult]:
    """Test the best weights of some restarts."""
    networks = [trained_model(run, restart).network() for restart in restarts]
    scores = test(run.task, networks, run.parts)
    return [_result(run, restart, score) for restart, score in zip(restarts, scores, strict=True)]


def run_result(run: Run, about: str = "", source: Mapping[str, str] | None = None) -> RunResult:
    """Test every restart's best weights once and choose one on development.

    ``about`` is what the data is called in the result, ``source`` where it was found, so that it can be found again.
    """
    begun = time.monotonic()
    trainer = run.trainer
    # A restart that diverged keeps its weights of before, which are worth something if they beat guessing.
    guessing = math.log(max(2, len(run.task.vocabulary.answers)))
    if all(restart.diverged and not restart.dev_loss < guessing for restart in trainer.restarts):
        raise InputError(
            "every restart diverged: the loss is not finite or far too large, or all questions get the same answer; "
            "choose a smaller learning_rate"
        )
    restarts = tuple(score_restarts(run, trainer.restarts))
    return RunResult(
        about=about,
        network=run.setup.name,
        chosen=choose(restarts, run.setup.recipe.keep),
        restarts=restarts,
        seconds=round(trainer.seconds + time.monotonic() - begun, 2),
        questions={
            "train": len(trainer.sampler.train),
            "dev": len(trainer.sampler.dev),
            "test": question_count(run.parts.test),
        },
        settings=run.settings(),
        data={"name": run.parts.name, "sha256": run.checksum, **(source or {})},
        provenance=provenance(),
        diverged=tuple(restart.number for restart in trainer.restarts if restart.diverged),
    )


def _result(run: Run, restart: Restart, scores: Scores | None) -> RestartResult:
    return RestartResult(
        restart.number,
        restart.epochs,
        restart.best_epoch,
        _finite(restart.dev_loss),
        _finite(restart.dev_error),
        scores.errors if scores else {},
        round(run.trainer.seconds, 1),
        scores.error if scores else None,
        sum(weight.numel() for weight in restart.weights.values()) or None,
    )


def _finite(value: float) -> float | None:
    return round(float(value), 6) if math.isfinite(value) else None
