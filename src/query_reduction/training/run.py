"""One training run from stories to a chosen model: hold out, train restarts, choose on dev, test once."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from query_reduction.errors import InputError
from query_reduction.files import remove, write_atomically
from query_reduction.model_file import MODEL_FILE, SavedModel, fingerprint, save_model
from query_reduction.origin import provenance
from query_reduction.qrn.network import QRNConfig
from query_reduction.reading.protocol import Parts, Scores, Task, test
from query_reduction.reading.stories import StoryParts
from query_reduction.rivals.registry import build_network, config_to_json
from query_reduction.sources.named import question_count
from query_reduction.stacked.network import Seeds, take_weights
from query_reduction.text.encoding import EncodedQuestions
from query_reduction.text.splits import split_by_story
from query_reduction.text.stories import Story
from query_reduction.training.curves import CurveWriter
from query_reduction.training.example import example_of
from query_reduction.training.recipes import Recipe
from query_reduction.training.restarts import RestartTrainer
from query_reduction.training.results import RestartResult, RunResult, choose
from query_reduction.training.run_folder import RESULT_FILE, STATE_FILE, Place
from query_reduction.training.samplers.error_sampling import Focus
from query_reduction.training.samplers.hiding import Hiding
from query_reduction.training.setup import Setup
from query_reduction.training.state import Restart

__all__ = ["Run", "split_parts"]


class Run:
    """A training run."""

    def __init__(
        self,
        parts: Parts,
        setup: Setup,
        place: Place | None = None,
        restarts: Sequence[int] | None = None,
        *,
        start: SavedModel | None = None,
    ) -> None:
        """``start`` is a model whose weights the training begins with; new words and answers are added to its own."""
        self.parts = parts
        self.setup = setup
        self.place = place or Place()
        self.restart_numbers: Sequence[int] = restarts or range(setup.recipe.restarts)
        train_stories, dev_stories = split_parts(parts, setup.recipe)
        if setup.recipe.hard and (len(self.restart_numbers) > 1 or not isinstance(setup.network, QRNConfig)):
            raise InputError(
                "hard sentences are those at which the gates of one Query-Reduction Network open: use --restarts 1, "
                "and another --seed for another try"
            )
        if setup.recipe.focus and (len(self.restart_numbers) > 1 or not setup.recipe.copies):
            raise InputError(
                "focus draws the stories that one network needs, to retell them: use --restarts 1 and --copies"
            )
        self.task = _extended(start, parts) if start else parts.learn(setup.task, train_stories)
        questions = self.task.encode(train_stories)
        hiding = _hiding(parts, train_stories, self.task, setup.recipe)
        looked_at = hiding.development(dev_stories) if hiding else dev_stories
        dev_questions, train, dev = _hold_out(questions, looked_at, self.task, setup.recipe, parts.name)
        rarity = questions.rarity(train, self.task.vocabulary.size)
        if hiding:
            rarity[hiding.foreign_words()] = 0
        weights = torch.from_numpy(rarity).to(torch.get_default_dtype())
        fixed = {}
        if parts.vectors is not None:
            of_words = parts.vectors.rows(self.task.vocabulary.words)
            # The two word numbers without meaning come first.
            fixed["vectors"] = torch.from_numpy(np.pad(of_words, ((2, 0), (0, 0)))[None]).to(weights.dtype)
        seeds = Seeds(self.restart_numbers, setup.recipe.seed, weights, fixed)
        network = build_network(setup.network, self.task.vocabulary, self.task.head, seeds)
        if setup.recipe.readout_epochs and not network.readout():
            raise InputError(
                "this network scores answers by its word vectors: it has no weights for readout-epochs to train first"
            )
        if start:
            before, now = start.task.vocabulary, self.task.vocabulary
            take_weights(network, start.weights, {(before.size, now.size), (len(before.answers), len(now.answers))})
            network.go_on()
        self._fixed = dict(network.named_buffers())
        self._start = {"from": fingerprint(start)} if start else {}
        self.trainer = RestartTrainer(
            network,
            self.restart_numbers,
            setup.recipe,
            questions,
            train,
            dev_questions,
            dev,
            renewed=self._renewed(train_stories, hiding) if setup.recipe.copies or hiding else None,
            cost=hiding.cost if hiding else None,
        )
        self.stop_requested = False
        self.checksum = parts.checksum()
        # A story the network does not train on, where whole stories are held out.
        self._example = example_of(dev_stories or train_stories) if parts.kind == "stories" else None
        self._about = self.settings() | {"restarts": list(self.restart_numbers), "data": self.checksum}

    def settings(self) -> dict[str, Any]:
        """Network, task and recipe as plain values."""
        return {
            "network": config_to_json(self.setup.network),
            "task": {"kind": self.parts.kind, **asdict(self.setup.task)},
            "recipe": asdict(self.setup.recipe),
            **self._start,
        }

    def _renewed(self, stories: Sequence[Story], hiding: Hiding | None) -> Callable[[int], EncodedQuestions]:
        """The training questions of each epoch, retold in other words or hidden in other text or both: a function of
        the seed and the epoch."""
        recipe = self.setup.recipe
        if recipe.split != "story":
            raise InputError("copies and hidden need split=story: training would contain held-out questions")

        retold = self.task.retell(stories) if recipe.copies else lambda chance: stories
        focus = Focus(stories, recipe.focus, self.task.encode) if recipe.focus else None

        def renewed(epoch: int) -> EncodedQuestions:
            chance = random.Random(f"{recipe.seed}/{epoch}")
            if focus:
                wanted = recipe.focus_questions or recipe.copies * focus.total
                drawn = focus.draw(wanted, self.trainer.network, chance)
                told = list(self.task.retell(drawn)(chance))
            else:
                told = [story for _ in range(max(recipe.copies, 1)) for story in retold(chance)]
            return self.task.encode(hiding.training(told, epoch, chance, self.trainer.network) if hiding else told)

        return renewed

    def resume(self) -> bool:
        """Resume from the folder's saved state, if it belongs to exactly this run."""
        folder = self.place.folder
        if folder is None or not (folder / STATE_FILE).exists():
            return False
        if not self.trainer.restore(folder / STATE_FILE, self._about):
            raise InputError(
                f"{folder / STATE_FILE} belongs to a run with different settings or data; use the same options, or "
                "choose another --out"
            )
        return True

    def train(self, on_epoch: Callable[[Run], None] = lambda run: None) -> bool:
        """Train to the end, or until ``stop_requested``; True if finished. The state is saved as it goes."""
        folder = self.place.folder
        trainer = self.trainer
        saved_at = clock = time.monotonic()

        def after_epoch(epoch: int) -> bool:
            on_epoch(self)
            return self.stop_requested

        curves = CurveWriter(folder / "curves.jsonl", up_to_epoch=trainer.epoch) if folder else None
        while not trainer.finished and not self.stop_requested:
            points = trainer.run_to_next_look(after_epoch)
            trainer.seconds += time.monotonic() - clock
            clock = time.monotonic()
            if curves and points:
                curves.add(points)
            if folder and clock - saved_at >= self.place.save_every:
                trainer.save(folder / STATE_FILE, self._about)
                saved_at = clock
        if folder:
            trainer.save(folder / STATE_FILE, self._about)
        return trainer.finished

    def request_stop(self) -> None:
        """End after the epoch that is being trained."""
        self.stop_requested = True

    def best(self) -> Restart:
        """The restart chosen on the development questions."""
        chosen = choose([self._result(restart, None) for restart in self.trainer.restarts], self.setup.recipe.keep)
        return next(restart for restart in self.trainer.restarts if restart.number == chosen.restart)

    def model(self, restart: Restart, card: dict[str, Any] | None = None) -> SavedModel:
        """A restart's best weights as a model to save or use; its card also holds a story of its data."""
        example = {"example": self._example} if card and self._example else {}
        weights = {name: weight.numpy() for name, weight in (*restart.weights.items(), *self._fixed.items())}
        return SavedModel(self.setup.network, self.task, weights, {**(card or {}), **example})

    def test(self, restarts: Sequence[Restart]) -> list[RestartResult]:
        """Test the best weights of some restarts."""
        networks = [self.model(restart).network() for restart in restarts]
        scores = test(self.task, networks, self.parts)
        return [self._result(restart, own) for restart, own in zip(restarts, scores, strict=True)]

    def finish(self) -> RunResult:
        """Test every restart's best weights once, choose on development, save; return the result."""
        start = time.monotonic()
        lost = [restart.number for restart in self.trainer.restarts if restart.diverged]
        # A restart that diverged keeps its weights of before, which are worth something if they beat guessing.
        guessing = math.log(max(2, len(self.task.vocabulary.answers)))
        if all(restart.diverged and not restart.dev_loss < guessing for restart in self.trainer.restarts):
            raise InputError(
                "every restart diverged: the loss is absurd or no number, or all questions get the same answer; "
                "choose a smaller learning_rate"
            )
        restarts = tuple(self.test(self.trainer.restarts))
        result = RunResult(
            about=self.place.about,
            network=self.setup.name,
            chosen=choose(restarts, self.setup.recipe.keep),
            restarts=restarts,
            seconds=round(self.trainer.seconds + time.monotonic() - start, 2),
            questions={
                "train": len(self.trainer.train),
                "dev": len(self.trainer.dev),
                "test": question_count(self.parts.test),
            },
            settings=self.settings(),
            data={"name": self.parts.name, "sha256": self.checksum, **self.place.source},
            provenance=provenance(),
            diverged=tuple(lost),
        )
        folder = self.place.folder
        if folder:
            chosen = next(found for found in self.trainer.restarts if found.number == result.chosen.restart)
            save_model(folder / MODEL_FILE, self.model(chosen, result.as_json()))
            write_atomically(folder / RESULT_FILE, json.dumps(result.as_json(), indent=1, allow_nan=False) + "\n")
            remove(folder / STATE_FILE)
        return result

    def _result(self, restart: Restart, scores: Scores | None) -> RestartResult:
        return RestartResult(
            restart.number,
            restart.epochs,
            restart.best_epoch,
            _number(restart.dev_loss),
            _number(restart.dev_error),
            scores.errors if scores else {},
            round(self.trainer.seconds, 1),
            scores.error if scores else None,
            sum(weight.numel() for weight in restart.weights.values()) or None,
        )


def _extended(start: SavedModel, parts: Parts) -> Task:
    if start.task.kind != parts.kind:
        raise InputError(
            f"{parts.name} holds {parts.kind}, but the model to go on from was trained on {start.task.kind}"
        )
    all_parts = getattr(start.task.options, "vocabulary", "train") == "all"
    return start.task.extended([*parts.train, *parts.dev, *parts.test] if all_parts else parts.train)


def _number(value: float) -> float | None:
    return round(float(value), 6) if math.isfinite(value) else None


def split_parts(parts: Parts, recipe: Recipe) -> tuple[Sequence[Story], Sequence[Story]]:
    """The stories to train on, and those for development; none of the latter if single questions are held out."""
    if parts.dev or recipe.split == "question":
        return parts.train, parts.dev
    return split_by_story(parts.train, recipe.dev_fraction, recipe.seed)


def _hold_out(
    questions: EncodedQuestions, dev_stories: Sequence[Story], task: Task, recipe: Recipe, name: str
) -> tuple[EncodedQuestions, NDArray[np.int64], NDArray[np.int64]]:
    """The development questions, and which questions are for training and which for development."""
    if len(questions) < (1 if dev_stories else 2):
        raise InputError(f"{name}: {len(questions)} training questions are too few to train on")
    if dev_stories:
        dev_questions = task.encode(dev_stories)
        return dev_questions, np.arange(len(questions)), np.arange(len(dev_questions))
    # 2 marks this use of the seed; batch orders use (seed, epoch).
    order = np.random.default_rng((recipe.seed, 0, 2)).permutation(len(questions))
    held_out = min(max(1, round(len(questions) * recipe.dev_fraction)), len(questions) - 1)
    return questions, np.sort(order[held_out:]), np.sort(order[:held_out])


def _hiding(parts: Parts, train: Sequence[Story], task: Task, recipe: Recipe) -> Hiding | None:
    haystack = parts.haystack if isinstance(parts, StoryParts) else ()
    for name in ("hard", "shut"):
        if getattr(recipe, name) and not recipe.hidden and not haystack:
            raise InputError(f"{name} has no effect unless stories are hidden in a haystack: use --hidden")
    return Hiding(haystack, train, task.vocabulary, recipe) if haystack or recipe.hidden else None
