"""Train several restarts of one network together.

All restarts see the same batches; a restart's result depends on its number, never on which others train alongside
it. Everything random comes from the seed and the epoch number, so a run resumes from a saved state exactly as if it
had never stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from query_reduction.stacked.network import StackedNetwork
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.training.evaluation import evaluate
from query_reduction.training.recipes import Recipe
from query_reduction.training.results import development_rank
from query_reduction.training.stack import ParameterStack
from query_reduction.training.state import Restart, State, load_state, save_state

__all__ = ["CurvePoint", "RestartTrainer", "batch_order"]

# A restart has diverged if its loss is not a number or absurd, or if all questions get the same scores although its
# weights are large: both come of steps that are much too large. (With small weights a network that cannot learn a task
# may give all questions the same scores, and rightly so.)
_ABSURD_LOSS = 200.0
"""Mean cross-entropy of an epoch; guessing among ten thousand answers has 9."""
_LEAST_VARIATION = 1e-3
_LARGE_WEIGHT = 10.0
_QUESTIONS_TO_TELL = 10
"""Fewer development questions may well be alike."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One evaluation on the development questions."""

    restart: int
    epoch: int
    train_loss: float
    dev_loss: float
    dev_error: float


def batch_order(
    seed: int, epoch: int, questions: int, batch: int, stories: NDArray[np.integer] | None = None
) -> list[NDArray[np.int64]]:
    """The batches of an epoch: full ones only, unless there are too few questions for one.

    With ``stories``, the story of each question, it is these that are shuffled: a story's questions stay together.
    """
    random = np.random.default_rng((seed, epoch))
    if stories is None:
        order = random.permutation(questions)
    else:
        told, story = np.unique(stories, return_inverse=True)
        order = random.permutation(len(told))[story].argsort(kind="stable")
    if questions < batch:
        return [order]
    return list(order[: questions // batch * batch].reshape(-1, batch))


def _noise(seed: int, epoch: int, step: int) -> torch.Generator:
    """The random numbers of one step; a resumed run draws the same ones."""
    # 3 marks this use of the seed; batch orders use (seed, epoch).
    state = np.random.SeedSequence((seed, epoch, step, 3)).generate_state(1)[0]
    return torch.Generator().manual_seed(int(state))


class RestartTrainer:
    """Trains a stack of restarts to the end, dropping those that no longer improve."""

    def __init__(
        self,
        network: StackedNetwork,
        restarts: Sequence[int],
        recipe: Recipe,
        questions: EncodedQuestions,
        train: NDArray[np.int64],
        dev_questions: EncodedQuestions,
        dev: NDArray[np.int64],
        *,
        renewed: Callable[[int], EncodedQuestions] | None = None,
        cost: Callable[[StackedNetwork, int], Tensor | None] | None = None,
    ) -> None:
        """``renewed`` gives new training questions for every epoch, in place of ``questions`` and ``train``; ``cost``
        what is added to the loss of each restart in a step."""
        self.network = network
        self.recipe = recipe
        self.restarts = [Restart(number) for number in restarts]
        self.epoch = 0
        self.seconds = 0.0
        """Time spent so far, stored with the saved state."""
        self._active = list(self.restarts)
        self._questions = questions
        self.train = train
        self._dev_questions = dev_questions
        self.dev = dev
        self._renewed = renewed
        self._cost = cost
        self._stack = ParameterStack(network, recipe)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to train."""
        return not self._active or self.epoch >= self.recipe.max_epochs

    @property
    def active(self) -> int:
        """The number of restarts still training."""
        return len(self._active)

    def run_to_next_look(self, stop_after_epoch: Callable[[int], bool] = lambda epoch: False) -> list[CurvePoint]:
        """Train until the next evaluation on the development questions; restarts out of patience then leave the stack.

        ``stop_after_epoch`` may end it earlier, between two epochs; no points are returned then.
        """
        while True:
            train_loss = self._run_epoch()
            self.epoch += 1
            stop = stop_after_epoch(self.epoch)
            if self.epoch % self.recipe.evaluate_every == 0 or self.epoch >= self.recipe.max_epochs:
                return self._look(train_loss)
            if stop:
                return []

    def _run_epoch(self) -> Tensor:
        recipe = self.recipe
        since = max(self.epoch - recipe.halve_after, 0)
        halvings = since // recipe.halve_every if recipe.halve_every else 0
        learning_rate = recipe.learning_rate * 0.5**halvings
        questions, train = self._questions, self.train
        if self._renewed is not None:
            questions = self._renewed(self.epoch)
            train = np.arange(len(questions))
        # Questions of one story see runs of the same sentences, which begin at the same place.
        stories = questions.stories.first[train] if self.network.shares_stories else None
        batches = batch_order(recipe.seed, self.epoch, len(train), recipe.batch, stories)
        readout_only = self.epoch < recipe.readout_epochs
        if self.epoch == recipe.readout_epochs > 0:
            self._stack.forget_steps()
        self.network.train()
        self.network.begin_epoch(self.epoch)
        total = torch.zeros(len(self._active))
        for step, chosen in enumerate(batches):
            if self.network.noisy:
                self.network.noise = _noise(recipe.seed, self.epoch, step)
            self._stack.zero_gradients()
            batch = TensorBatch.of(questions.batch(train[chosen]))
            scale = float(len(chosen) if recipe.batch_loss == "sum" else 1)
            total += self.network.backpropagate(batch, scale)
            if self._cost is not None and (added := self._cost(self.network, step)) is not None:
                # Restarts share no parameter, so the sum's gradient is each one's own.
                (added.sum() * scale).backward()
                total += added.detach()
            if recipe.clip:
                self._stack.clip_gradients(recipe.clip)
            self._stack.step(learning_rate, readout_only=readout_only)
        return total / len(batches)

    def _look(self, train_loss: Tensor) -> list[CurvePoint]:
        result = evaluate(self.network, self._dev_questions, self.dev)
        largest = self._stack.largest()
        points = []
        for position, restart in enumerate(self._active):
            loss, error = float(result.loss[position]), float(result.error[position])
            points.append(CurvePoint(restart.number, self.epoch, float(train_loss[position]), loss, error))
            restart.epochs = self.epoch
            keep = self.recipe.keep
            improved = development_rank(keep, loss, error) < development_rank(keep, restart.dev_loss, restart.dev_error)
            vanished = (
                self.network.reads
                and len(self.dev) >= _QUESTIONS_TO_TELL
                and result.variation[position] < _LEAST_VARIATION
            )
            restart.diverged = (
                not math.isfinite(loss)
                or not float(train_loss[position]) <= _ABSURD_LOSS
                or bool(vanished and largest[position] > _LARGE_WEIGHT)
            )
            to_the_end = not self.recipe.patience
            if (improved or to_the_end) and not restart.diverged:
                restart.best_epoch, restart.dev_loss, restart.dev_error = self.epoch, loss, error
                restart.weights = self._stack.weights(position)
            elif not restart.weights:
                restart.best_epoch, restart.weights = self.epoch, self._stack.weights(position)
            if error == 0 and restart.solved_epoch is None:
                restart.solved_epoch = self.epoch
            restart.stopped = self._is_done(restart)
        if any(restart.stopped for restart in self._active):
            left = [position for position, restart in enumerate(self._active) if not restart.stopped]
            self._active = [self._active[position] for position in left]
            if left:
                self._stack.keep(left)
        return points

    def _is_done(self, restart: Restart) -> bool:
        patience, after_solved = self.recipe.patience, self.recipe.solved_epochs
        if restart.diverged:
            return True
        if after_solved and restart.solved_epoch is not None and self.epoch - restart.solved_epoch >= after_solved:
            return True
        return bool(patience) and self.epoch - restart.best_epoch >= patience

    def save(self, path: Path, about: dict[str, Any]) -> None:
        """Save everything needed to resume."""
        tensors = self._stack.state() if self._active else {}
        save_state(path, about, State(self.epoch, self.seconds, self.restarts, tensors))

    def restore(self, path: Path, about: dict[str, Any]) -> bool:
        """Resume from a saved state; False if there is none for exactly this training."""
        if not path.exists():
            return False
        numbers = [restart.number for restart in self.restarts]
        state = load_state(path, about, numbers, dict(self.network.named_parameters()), self._stack.kinds)
        if state is None:
            return False
        self.epoch, self.seconds, self.restarts, self._active = state.epoch, state.seconds, state.restarts, state.active
        if self._active:
            self._stack.restore(state.tensors)
        return True
