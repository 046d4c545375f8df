"""One training run from stories to a chosen model: hold out, train restarts, choose on development, test once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from query_reduction.config import ModelConfig, Recipe, variant_name
from query_reduction.data.encoding import EncodedQuestions, encode_stories
from query_reduction.data.vocabulary import Vocabulary
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.networks.qrn import QueryReductionNetwork
from query_reduction.provenance import provenance
from query_reduction.tasks.answers import error_by_task, evaluate, percent_wrong
from query_reduction.tasks.preparation import Preparation
from query_reduction.tasks.responder import respond_with
from query_reduction.tasks.responses import score_responses
from query_reduction.tasks.sources import Parts, question_count
from query_reduction.training.checkpoint import MODEL_FILE, SavedModel, save_model
from query_reduction.training.curves import CurveWriter
from query_reduction.training.data_parallel import Share
from query_reduction.training.restarts import Restart, RestartTrainer, better

__all__ = ["RESULT_FILE", "STATE_FILE", "Run", "RunSettings", "is_finished", "is_unfinished"]

RESULT_FILE = "result.json"
STATE_FILE = "state.safetensors"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What is trained, and where it is kept."""

    model: ModelConfig
    recipe: Recipe
    folder: Path | None
    """Where model, result, curves and the state for resuming go; None keeps nothing."""
    save_every: float = 5.0
    """Seconds between two savings of the state for resuming."""
    tensorboard: Path | None = None
    about: str = ""
    """What the run is called in its result: the data and task as the user named them."""
    share: Share = field(default_factory=Share)
    """The part of every batch this process computes; only the first process writes files."""


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a finished run."""
    return (folder / RESULT_FILE).exists()


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds a run that can be resumed."""
    return (folder / STATE_FILE).exists() and not is_finished(folder)


class Run:
    """A training run over parts of stories."""

    def __init__(self, parts: Parts, settings: RunSettings, restarts: Sequence[int] | None = None) -> None:
        self.parts = parts
        self.settings = settings
        model, recipe = settings.model, settings.recipe
        self.restart_numbers: Sequence[int] = restarts or range(recipe.restarts)
        self.preparation = Preparation.learn(parts.train, parts.knowledge, model) if parts.dialogs else None
        if self.preparation is not None:
            parts = parts.map(self.preparation.stories)
        known = [*parts.train, *parts.dev, *parts.test, *parts.unseen] if recipe.vocabulary == "all" else parts.train
        if self.preparation is None:
            self.vocabulary = Vocabulary.from_stories(known)
        else:
            self.vocabulary = self.preparation.vocabulary(known, parts.train, parts.candidates)
        questions = encode_stories(parts.train, self.vocabulary, model.memory)
        dev_questions, train, dev = _hold_out(questions, parts, self.vocabulary, settings)
        network = QueryReductionNetwork(
            model,
            self.vocabulary.size,
            len(self.vocabulary.answers),
            longest_sentence=self.vocabulary.longest_sentence,
            vocabulary=self.vocabulary,
            restarts=self.restart_numbers,
            seed=recipe.seed,
        )
        self.trainer = RestartTrainer(
            network, self.restart_numbers, recipe, questions, train, dev_questions, dev, settings.share
        )
        self.stop_requested = False
        self.checksum = self.parts.checksum()
        self._about = {
            "model": asdict(model),
            "recipe": asdict(recipe),
            "restarts": list(self.restart_numbers),
            "data": self.checksum,
        }

    def resume(self) -> bool:
        """Go on from the folder's saved state, if it is one of exactly this run."""
        folder = self.settings.folder
        if folder is None or not (folder / STATE_FILE).exists():
            return False
        if not self.trainer.restore(folder / STATE_FILE, self._about):
            raise InputError(
                f"{folder / STATE_FILE} is of a run with other settings or data; start it with the same options, or "
                "choose another --out"
            )
        return True

    def train(self, on_epoch: Callable[[Run], None] = lambda run: None) -> bool:
        """Train to the end, or until ``stop_requested``; True if finished. The state is saved as it goes."""
        share = self.settings.share
        folder = self.settings.folder if share.first else None
        trainer = self.trainer
        saved_at = clock = time.monotonic()
        # Processes that train together stop together.
        stopping = share.any(self.stop_requested)

        def after_epoch(epoch: int) -> bool:
            nonlocal stopping
            on_epoch(self)
            stopping = share.any(self.stop_requested)
            return stopping

        with _curves(self.settings, trainer.epoch) as curves:
            while not trainer.finished and not stopping:
                points = trainer.run_to_next_look(after_epoch)
                trainer.seconds += time.monotonic() - clock
                clock = time.monotonic()
                if curves and points:
                    curves.add(points)
                if folder and clock - saved_at >= self.settings.save_every:
                    trainer.save(folder / STATE_FILE, self._about)
                    saved_at = clock
        if folder:
            trainer.save(folder / STATE_FILE, self._about)
        return trainer.finished

    def best(self) -> Restart:
        """The restart chosen on the development questions."""
        recipe = self.settings.recipe
        chosen = self.trainer.restarts[0]
        for restart in self.trainer.restarts[1:]:
            if better(recipe, restart.dev_loss, restart.dev_error, chosen.dev_loss, chosen.dev_error):
                chosen = restart
        return chosen

    def model(self, restart: Restart, card: dict[str, Any] | None = None) -> SavedModel:
        """A restart's best weights as a model to save or use."""
        return SavedModel(self.settings.model, self.vocabulary, restart.weights, card or {}, self.preparation)

    def finish(self) -> dict[str, Any]:
        """Test every restart's best weights once, choose on development, save; return the result."""
        start = time.monotonic()
        settings = self.settings
        stories = self.parts.test if self.preparation is None else []
        test = encode_stories(stories, self.vocabulary, settings.model.memory)
        rows: list[dict[str, Any]] = []
        for restart in self.trainer.restarts:
            row: dict[str, Any] = {
                "restart": restart.number,
                "epochs": restart.epochs,
                "best_epoch": restart.best_epoch,
                "dev_loss": restart.dev_loss,
                "dev_error": restart.dev_error,
                "test_error": None,
            }
            if len(test):
                correct = evaluate(self.model(restart).network(), test).correct[0]
                row["test_error"] = percent_wrong(correct)
                row["test_error_by_task"] = error_by_task(test, correct)
            rows.append(row)
        if self.preparation is not None and self.parts.test:
            rows = [row | own for row, own in zip(rows, self._test_responses(self.trainer.restarts), strict=True)]
        chosen = self.best()
        chosen_row = next(row for row in rows if row["restart"] == chosen.number)
        errors = [row["test_error"] for row in rows if row["test_error"] is not None]
        result: dict[str, Any] = {
            "about": settings.about,
            "variant": variant_name(settings.model),
            "test_error": chosen_row["test_error"],
            "test_error_mean": float(np.mean(errors)) if errors else None,
            "test_error_std": float(np.std(errors)) if errors else None,
            "seconds": round(self.trainer.seconds + time.monotonic() - start, 2),
            "chosen_restart": chosen.number,
            "dev_error": chosen.dev_error,
            "dev_loss": chosen.dev_loss,
            "test_error_by_task": chosen_row.pop("test_error_by_task", {}),
            **({"responses": chosen_row["responses"]} if "responses" in chosen_row else {}),
            "restarts": [{k: v for k, v in row.items() if k != "test_error_by_task"} for row in rows],
            "questions": {
                "train": len(self.trainer.train),
                "dev": len(self.trainer.dev),
                "test": question_count(self.parts.test),
            },
            "model": asdict(settings.model),
            "recipe": asdict(settings.recipe),
            "data": {"name": self.parts.name, "sha256": self.checksum},
            **provenance(),
        }
        if settings.folder and settings.share.first:
            save_model(settings.folder / MODEL_FILE, self.model(chosen, result))
            write_atomically(settings.folder / RESULT_FILE, json.dumps(result, indent=1) + "\n")
            (settings.folder / STATE_FILE).unlink(missing_ok=True)
        return result

    def test_responses(self, restart: Restart) -> dict[str, Any]:
        """The scores of a restart's responses on the test dialogs, and on those with names never seen."""
        return self._test_responses([restart])[0]

    def _test_responses(self, restarts: Sequence[Restart]) -> list[dict[str, Any]]:
        assert self.preparation is not None
        networks = [self.model(restart).network() for restart in restarts]
        scores: list[dict[str, dict[str, float | int]]] = [{} for _ in networks]
        for name, dialogs in (("test", self.parts.test), ("unseen names", self.parts.unseen)):
            if dialogs:
                given = respond_with(networks, self.vocabulary, self.preparation, dialogs)
                for own, responses in zip(scores, given, strict=True):
                    own[name] = score_responses(dialogs, responses).as_json()
        return [{"test_error": round(100 - own["test"]["exact_match"], 4), "responses": own} for own in scores]


def _hold_out(
    questions: EncodedQuestions, parts: Parts, vocabulary: Vocabulary, settings: RunSettings
) -> tuple[EncodedQuestions, NDArray[np.int64], NDArray[np.int64]]:
    """The development questions, and which questions are for training and which for development."""
    if len(questions) < (1 if parts.dev else 2):
        raise InputError(f"{parts.name}: {len(questions)} training questions are too few to train on")
    if parts.dev:
        dev_questions = encode_stories(parts.dev, vocabulary, settings.model.memory)
        return dev_questions, np.arange(len(questions)), np.arange(len(dev_questions))
    # 2 marks this use of the seed; batch orders use (seed, epoch).
    order = np.random.default_rng((settings.recipe.seed, 0, 2)).permutation(len(questions))
    held_out = max(1, round(len(questions) * settings.recipe.dev_fraction))
    return questions, np.sort(order[held_out:]), np.sort(order[:held_out])


def _curves(settings: RunSettings, epoch: int) -> AbstractContextManager[CurveWriter | None]:
    if settings.folder is None or not settings.share.first:
        return nullcontext()
    return CurveWriter(settings.folder / "curves.jsonl", up_to_epoch=epoch, tensorboard=settings.tensorboard)
