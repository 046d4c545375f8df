"""qrn train"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from query_reduction.cli.arguments import RARE, Groups, Named, Settings
from query_reduction.cli.interrupt import train_with_progress
from query_reduction.cli.output import console, notes, print_json
from query_reduction.cli.scores import score_table
from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError, needs
from query_reduction.native.threads import MOST_THREADS, available_cores, use_threads
from query_reduction.qrn.variants import QRNConfig
from query_reduction.reading.stories import StoryOptions
from query_reduction.settings import Between
from query_reduction.text.checks import quick_checks
from query_reduction.training.presets import PRESETS
from query_reduction.training.recipes import Recipe

if TYPE_CHECKING:
    from query_reduction.reading.protocol import Parts
    from query_reduction.training.results import RunResult
    from query_reduction.training.run import Run
    from query_reduction.training.run_folder import RunFolder

__all__ = ["Train"]

_READING: Groups = {"reading": {"stories": StoryOptions, "dialogs": DialogOptions}, "training": {"": Recipe}}


def _rivals() -> Groups:
    """The settings of every network; loads all of them, and PyTorch."""
    from query_reduction.rivals.registry import kinds

    rivals = {name: kind.config for name, kind in kinds().items() if kind.config is not QRNConfig}
    return {"network": {"qrn": QRNConfig}, **_READING, "settings of rivals": rivals}


def _choices() -> Mapping[str, Mapping[str, str]]:
    from query_reduction.rivals.registry import kinds

    networks = {
        "2r, 2rv, 6r200 …": "a Query-Reduction Network by the paper's name: layers, r for reset gates, v for vector "
        "gates, dimension; for dialogs, + adds match and c copying",
        **{kind.name: kind.about for kind in kinds().values() if kind.parse is None},
    }
    return {"networks": networks, "recipes": {name: preset.about for name, preset in PRESETS.items()}}


_SETTINGS = Settings(
    groups={"network": {"": QRNConfig}, **_READING},
    more=_rivals,
    usual=("symmetries", "copies", "restarts", "max_epochs", "seed"),
    choices=_choices,
)


@dataclass(frozen=True)
class Train:
    """Train a network on stories or dialogs.

    Restarts from different initial weights train together; the one that does best on held-out development
    questions is chosen, and its error on the test questions is the result. Nothing is ever chosen on the test.

        qrn train --data stories.jsonl --recipe best --out runs/mine
        qrn train --data babi --task 2 --network 3r --restarts 5
        qrn ask runs/mine --story story.txt --question "Where is the milk?"
    """

    data: str = "generated"
    """Your file or folder; or generated, generated-dialog, babi, babi/en-10k, dialog, stepgame, clutrr."""
    task: str | None = None
    """The bAbI task: a number, or several (1-5,19 or all) for one network that learns all of them."""
    network: str | None = None
    """A Query-Reduction Network such as 2r or 3rv100, or a rival such as gru or memn2n. Default: the recipe's, mostly
    2r."""
    recipe: str = "original"
    """Settings that belong together: original, paper, adam, best (least data), joint (several tasks), long (a whole
    book)."""
    from_model: Annotated[str | None, Named("from")] = None
    """Fine-tune this model (a file, the folder of a run, or a ready model) on the data; new words and answers are
    added."""
    haystack: Annotated[Path | None, RARE] = None
    """A text in which training stories are hidden (--recipe long), so that the network learns to find facts in it; the
    last tenth of its lines is kept for development."""
    questions: Annotated[int, Between(1, 10_000_000)] = 1000
    """Training questions per task, or training dialogs, for generated data."""
    out: Path | None = None
    """The folder for model, result and curves; by default a new one under runs/."""
    resume: bool = False
    """Resume an interrupted run that had the same options."""
    save_every: Annotated[float, RARE, Between(0, 1e9)] = 5.0
    """Seconds between two saves of the state that --resume needs."""
    threads: Annotated[int, Between(0, MOST_THREADS)] = 0
    """Number of threads; 0 means one per core."""
    json: bool = False
    """Print the result as one JSON object."""
    settings: Annotated[Mapping[str, Any], _SETTINGS] = field(default_factory=dict)

    def run(self) -> int:
        """Train, choose, test, report."""
        with needs("train", "training"):
            from query_reduction.training.api import setup_for
        from query_reduction.sources.named import load_parts
        from query_reduction.text.haystack import read_haystack
        from query_reduction.training.run import Run, run_result
        from query_reduction.training.run_folder import RunFolder

        use_threads(self.threads or available_cores())
        parts = load_parts(self.data, self.task, questions=self.questions, seed=self.settings.get("seed", 0))
        if self.haystack is not None:
            parts = parts.hidden_in(read_haystack(self.haystack))
        setup, start = setup_for(self.network, self.recipe, parts, self.settings, self.from_model)
        _warn(parts, self.data)
        folder = self._folder(parts.name, parts.kind, setup.name)
        about = f"{self.data} task {self.task}" if self.task else self.data
        source = {"source": self.data} | ({"task": self.task} if self.task else {})
        run_folder = RunFolder(folder, self.save_every)
        with run_folder.owned():
            self._check_unused(folder)
            run = Run(parts, setup, start=start)
            if code := self._train(run, run_folder):
                return code
            result = run_result(run, about, source)
            run_folder.save(run, result)
        if self.json:
            print_json(result.as_json() | {"folder": str(folder)})
        else:
            report(result, folder, parts.kind)
        return 0

    def _train(self, run: Run, folder: RunFolder) -> int:
        """Train to the end; the exit code if a signal stopped it before."""
        resumed = self.resume and folder.resume(run)
        for line in run.task.describe():
            notes.print(line, markup=False, soft_wrap=True)
        if resumed:
            notes.print(f"resuming {folder.path} at epoch {run.trainer.epoch}", markup=False)
        if stop := train_with_progress(run, folder):
            folder.save_unfinished(run)
            notes.print(
                f"stopped at epoch {run.trainer.epoch}; to resume, use the same command with --resume --out "
                f"{folder.path}",
                markup=False,
            )
        return stop.code

    def _folder(self, data_name: str, kind: str, network: str) -> Path:
        """The folder of this run: the one given, the interrupted run to resume, or a new one."""
        from query_reduction.training.run_folder import is_unfinished

        if self.out is not None:
            return self.out
        task = f"{'dialog' if kind == 'dialogs' else 'qa'}{self.task}" if self.task else data_name
        stem = f"{task}-{network}"
        number = 1
        while True:
            folder = Path("runs") / (stem if number == 1 else f"{stem}.{number}")
            if not folder.exists() or (self.resume and is_unfinished(folder)):
                return folder
            number += 1

    def _check_unused(self, folder: Path) -> None:
        from query_reduction.training.run_folder import is_finished, is_unfinished

        if is_finished(folder):
            raise InputError(f"{folder} holds a finished run; choose another --out")
        if is_unfinished(folder) and not self.resume:
            raise InputError(f"{folder} holds an unfinished run; add --resume to continue it, or choose another --out")


def _warn(parts: Parts, data: str) -> None:
    """Say in one line each what would spoil the result; 'qrn data check' looks more closely."""
    if parts.kind != "stories":
        return
    file = data if Path(data).is_file() else ""
    for finding in quick_checks(parts.train, parts.test):
        if finding.severity != "note":
            warning = replace(finding, severity="warning", file=file)
            notes.print(str(warning), style="yellow", markup=False, soft_wrap=True)


def report(result: RunResult, folder: Path | None, kind: str) -> None:
    """The result of a run, as text."""
    chosen = result.chosen
    if chosen.test_error is None:
        console.print(f"development error [bold]{chosen.dev_error:.1f}%[/] (no test questions)")
    else:
        spread: dict[str, Any] = result.as_json()
        over = ""
        if len(result.restarts) > 1:
            over = (
                f" (restart {chosen.restart}, chosen on development); over {len(result.restarts)} restarts "
                f"{spread['test_error_mean']:.1f} ± {spread['test_error_std']:.1f}%"
            )
        console.print(f"test error [bold]{chosen.test_error:.1f}%[/]{over}; {result.seconds:.0f} s")
    if result.diverged:
        console.print(
            f"{len(result.diverged)} of {len(result.restarts)} restarts diverged and were stopped; try a smaller "
            "--learning-rate",
            style="yellow",
        )
    if sum(map(len, chosen.errors.values())) > 1:
        console.print(score_table(chosen.errors))
    verb = "chat" if kind == "dialogs" else "ask"
    rest = "" if kind == "dialogs" else ' --story FILE --question "…"'
    if folder:
        console.print(f"model in {folder}: try  qrn {verb} {folder}{rest}", markup=False)
