"""qrn train"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from query_reduction.cli.output import console, notes, print_json
from query_reduction.cli.progress import train_with_progress
from query_reduction.cli.responses import response_table
from query_reduction.config import ModelConfig, Recipe, preset, variant_name
from query_reduction.errors import InputError
from query_reduction.native.threads import available_cores, use_threads
from query_reduction.tasks.sources import load_parts, names_dialogs
from query_reduction.training.checkpoint import MODEL_FILE, save_model
from query_reduction.training.data_parallel import Share, process_group
from query_reduction.training.run import Run, RunSettings, is_finished, is_unfinished

__all__ = ["Train"]


@dataclass(frozen=True)
class Train:
    """Train a network on stories.

    Restarts from different initial weights train together; the one that does best on held-out development
    questions is chosen, and its error on the test questions is the result. Nothing is ever chosen on the test.
    """

    data: str = "generated"
    """generated, babi (or babi/en-10k …), dialog, generated-dialog, or the path of a file or folder."""
    task: str | None = None
    """Which bAbI task: a number, or several (1-5,19 or all) to train one network on all of them."""
    variant: str = "2r"
    """The network by the paper's name: layers, r for reset gates, v for vector gates, dimension (2r, 2rv, 6r200); for
    dialogs + adds match (2r+), c copying (2rc)."""
    preset: str = "original"
    """The settings below, all at once: original, paper, one-layer, deep, adam, adam-long; original-10k, brief-10k,
    adam-10k, wide-10k, wide-slow-10k, vector-10k, paper-10k; for dialogs dialog (taken unless told otherwise) or
    dialog-original."""
    questions: int = 1000
    """Training questions a task, for generated stories; training dialogs, for generated dialogs."""
    out: Path | None = None
    """Where model, result and curves go; by default a new folder under runs/."""
    resume: bool = False
    """Go on with an interrupted run with the same options."""
    save_every: float = 5.0
    """Seconds between two savings of the state that --resume needs."""
    threads: int = 0
    """Threads to compute with; 0 means one a core."""
    tensorboard: Path | None = None
    """Also write the learning curves for TensorBoard, to this folder."""
    json: bool = False
    """Print the result as one JSON object."""
    model: ModelConfig = field(default_factory=ModelConfig)
    recipe: Recipe = field(default_factory=Recipe)

    @staticmethod
    def defaults(arguments: Sequence[str]) -> Train:
        """The options' defaults, which depend on preset and variant."""
        early = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
        early.add_argument("--preset", default=None)
        early.add_argument("--data", default="generated")
        early.add_argument("--variant", default="2r")
        try:
            chosen, _ = early.parse_known_args(arguments)
        except argparse.ArgumentError:
            return Train()
        name = chosen.preset or ("dialog" if names_dialogs(chosen.data) else "original")
        model, recipe = preset(name, chosen.variant)
        return Train(variant=chosen.variant, preset=name, model=model, recipe=recipe)

    def run(self) -> int:
        """Train, choose, test, report; under torchrun together with the other processes."""
        with process_group() as share:
            return self._train(share)

    def _train(self, share: Share) -> int:
        use_threads(self.threads or max(1, available_cores() // share.of))
        parts = load_parts(self.data, self.task, questions=self.questions, seed=self.recipe.seed)
        folder = self._folder(parts.name)
        about = f"{self.data} task {self.task}" if self.task else self.data
        settings = RunSettings(self.model, self.recipe, folder, self.save_every, self.tensorboard, about, share)
        run = Run(parts, settings)
        resumed = self.resume and run.resume()
        if not share.first:
            return 0 if run.train() else 130
        if resumed:
            notes.print(f"resuming {folder} at epoch {run.trainer.epoch}")
        if not train_with_progress(run):
            if run.best().weights:
                save_model(folder / MODEL_FILE, run.model(run.best(), {"finished": False}))
            notes.print(
                f"stopped at epoch {run.trainer.epoch}; go on with the same command and --resume --out {folder}"
            )
            return 130
        result = run.finish()
        if self.json:
            print_json(result | {"folder": str(folder)})
        else:
            report(result, folder)
        return 0

    def _folder(self, data_name: str) -> Path:
        """Where this run is kept: as told, the interrupted run to go on with, or a new folder."""
        if self.out is not None:
            if is_finished(self.out):
                raise InputError(f"{self.out} holds a finished run; choose another --out")
            if is_unfinished(self.out) and not self.resume:
                raise InputError(f"{self.out} holds an unfinished run; add --resume to go on, or choose another --out")
            return self.out
        kind = "dialog" if names_dialogs(self.data) else "qa"
        task = f"{kind}{self.task}" if self.task else data_name
        stem = f"{task}-{variant_name(self.model)}"
        number = 1
        while True:
            folder = Path("runs") / (stem if number == 1 else f"{stem}.{number}")
            if not folder.exists() or (self.resume and is_unfinished(folder)):
                return folder
            number += 1


def report(result: dict[str, Any], folder: Path | None) -> None:
    """The result of a run, for a person."""
    if result["test_error"] is None:
        console.print(f"development error [bold]{result['dev_error']:.1f} %[/] (no test questions)")
    else:
        console.print(
            f"test error [bold]{result['test_error']:.1f} %[/] (restart {result['chosen_restart']}, chosen on "
            f"development); over {len(result['restarts'])} restarts {result['test_error_mean']:.1f} "
            f"± {result['test_error_std']:.1f} %; {result['seconds']:.0f} s"
        )
    if len(result["test_error_by_task"]) > 1:
        for task, error in result["test_error_by_task"].items():
            console.print(f"  task {task:>2}  {error:5.1f} %")
    if "responses" in result:
        console.print(response_table(result["responses"]))
        console.print(f"model in {folder}: try  qrn chat {folder}", markup=False)
    elif folder:
        console.print(f'model in {folder}: try  qrn ask {folder} --story FILE --question "…"', markup=False)
