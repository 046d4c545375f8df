"""qrn reproduce"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from query_reduction.cli.output import console, notes, print_json
from query_reduction.cli.sweep_view import SweepView
from query_reduction.errors import InputError
from query_reduction.experiments.plan import EXPERIMENTS, Column, Experiment
from query_reduction.experiments.readme import fill_readme
from query_reduction.experiments.report import to_markdown, write_reports
from query_reduction.experiments.store import ResultStore
from query_reduction.experiments.sweep import Job, Sweep, only_sweep
from query_reduction.experiments.sweeps import plan_table
from query_reduction.experiments.tables import build_table
from query_reduction.files import write_atomically
from query_reduction.tasks.sources import parse_tasks
from query_reduction.training.run import STATE_FILE

if TYPE_CHECKING:
    from query_reduction.experiments.ray_engine import RayEngine
    from query_reduction.experiments.workers import ProcessEngine

__all__ = ["Reproduce"]


@dataclass(frozen=True)
class Reproduce:
    """Train what a table of the paper needs and print published and measured numbers side by side.

    Every finished restart is stored at once; stop it at any time and start it again, it goes on. What is stored is
    used again, unless data, settings or what the code computes have changed. The table is also written as Markdown,
    LaTeX, CSV and a page with pictures.
    """

    table: Annotated[str, tyro.conf.Positional]
    """qa-1k, qa-10k, dialog or transfer; speed (sequential against parallel); figures (the paper's gate figures: ten
    restarts of the networks of stories, one of dialogs, unless told otherwise)."""
    tasks: str = "all"
    """Only these tasks: a number, a range or a list (1-5,19)."""
    variants: tuple[str, ...] = ()
    """Only these networks (2r 3r)."""
    restarts: int | None = None
    """Trainings from new initial weights for every cell; by default as the recipe says. More add to what is stored."""
    preset: str | None = None
    """Another recipe than the table's own; its results are kept apart."""
    data: Path | None = None
    """The folder that holds the published data (with babi/en …); by default $QRN_DATA or the user's cache."""
    out: Path = Path("results")
    """Where the store and the reports are."""
    report_only: bool = False
    """Train nothing: make the reports from what is stored."""
    mix: bool = False
    """Also use stored results of code that computes differently; the tables mark them."""
    engine: Literal["processes", "ray"] = "processes"
    """Where to train: processes of this machine, or a Ray cluster."""
    address: str | None = None
    """The Ray cluster (host:port, or auto); without one a cluster of this machine alone is started."""
    workers: int | None = None
    """How many trials at once; by default one a core."""
    stack: int = 10
    """Train at most so many restarts of a network together in one process."""
    readme: Path | None = None
    """Also make the tables between the marks of this file (<!-- table:qa-1k --> … <!-- /table:qa-1k -->) anew."""
    json: bool = False
    """Print the table as one JSON object."""

    def run(self) -> int:
        """Train what is missing, then report."""
        if self.table == "speed":
            return self._speed()
        if self.table == "figures":
            return self._figures()
        experiment = self._experiment()
        columns = experiment.chosen_columns([name for text in self.variants for name in text.split(",")])
        tasks = _tasks(experiment, self.tasks)
        if tasks != list(experiment.tasks) and not self.variants:
            # A network of all tasks at once cannot be narrowed to some; it is trained only if asked for.
            columns = [column for column in columns if not column.joint]
        store = ResultStore(self.out / "store")
        complete = True
        failures: list[str] = []
        if not self.report_only:
            with only_sweep(self.out / ".unfinished", experiment.name):
                complete, failures = self._sweep(experiment, columns, tasks, store)
        table = build_table(
            store, experiment, columns=columns, tasks=tasks, restarts=self.restarts, preset=self.preset, mix=self.mix
        )
        self._report(table, experiment, columns, tasks)
        for failure in failures:
            notes.print(f"failed: {failure}", style="red", markup=False)
        if failures:
            return 1
        return 0 if complete else 130

    def _experiment(self) -> Experiment:
        if self.table not in EXPERIMENTS:
            raise InputError(f"no table {self.table!r}; there are {', '.join(EXPERIMENTS)}, speed and figures")
        if self.restarts is not None and self.restarts < 1:
            raise InputError(f"--restarts must be above 0, not {self.restarts}")
        if self.address is not None and self.engine != "ray":
            raise InputError("--address needs --engine ray")
        if self.stack < 1 or (self.workers is not None and self.workers < 1):
            raise InputError("--stack and --workers must be above 0")
        self._find_data()
        return EXPERIMENTS[self.table]

    def _find_data(self) -> None:
        if self.data is not None:
            if not self.data.is_dir():
                raise InputError(f"--data {self.data}: no such folder")
            os.environ["QRN_DATA"] = str(self.data.resolve())

    def _speed(self) -> int:
        from query_reduction.bench.parallel import measure_speed, speed_markdown, write_speed

        speed = measure_speed(self.variants or ("2r", "6r200"))
        paths = write_speed(speed, self.out)
        if self.json:
            print_json(speed)
        else:
            console.print(speed_markdown(speed), markup=False, soft_wrap=True)
        notes.print(f"written: {', '.join(map(str, paths))}", markup=False)
        return 0

    def _sweep(
        self, experiment: Experiment, columns: list[Column], tasks: list[str], store: ResultStore
    ) -> tuple[bool, list[str]]:
        jobs = plan_table(
            experiment,
            columns,
            tasks,
            store,
            self.out / ".unfinished",
            restarts=self.restarts,
            preset=self.preset,
            stack=self.stack,
            mix=self.mix,
        )
        if not jobs:
            notes.print("everything asked for is stored already")
            return True, []
        begun = sum((job.folder / STATE_FILE).exists() for job in jobs)
        if begun:
            notes.print(f"{begun} stack{'s' * (begun != 1)} go on where an earlier sweep stopped")
        sweep = Sweep(store, jobs)
        with (
            closing(self._engine(jobs)) as engine,
            _stop_on_interrupt(sweep),
            SweepView(sweep, engine.workers, notes) as view,
        ):
            complete = sweep.run(engine, view.update)
        for retry in sweep.retries:
            notes.print(f"tried again: {retry}", style="yellow", markup=False)
        if not complete and not sweep.failures:
            notes.print("stopped; everything so far is kept, the same command goes on")
        return complete, sweep.failures

    def _engine(self, jobs: list[Job]) -> RayEngine | ProcessEngine:
        if self.engine == "ray":
            from query_reduction.experiments.ray_engine import RayEngine

            return RayEngine(self.address, self.workers)
        from query_reduction.experiments.workers import ProcessEngine
        from query_reduction.native.threads import available_cores

        return ProcessEngine(min(self.workers or available_cores(), len(jobs)))

    def _figures(self) -> int:
        from query_reduction.cli.progress import train_with_progress
        from query_reduction.experiments.figures import draw_figures, figure_runs, figures_markdown

        self._find_data()
        for folder, run in figure_runs(self.restarts):
            notes.print(f"training the network of {folder}", markup=False)
            run.resume()
            if not train_with_progress(run):
                notes.print("stopped; the same command goes on")
                return 130
            run.finish()
        figures = draw_figures(self.out / "figures")
        if self.json:
            print_json(figures)
        else:
            console.print(figures_markdown(figures), markup=False, soft_wrap=True)
        return 0

    def _report(self, table: dict[str, Any], experiment: Experiment, columns: list[Column], tasks: list[str]) -> None:
        whole = columns == list(experiment.columns) and tasks == list(experiment.tasks) and self.preset is None
        if self.json:
            print_json(table)
        else:
            console.print(to_markdown(table), markup=False, soft_wrap=True)
        # A narrowed view must not take the place of the whole table in the reports.
        shown = table if whole and self.restarts is None else None
        shown = shown or build_table(ResultStore(self.out / "store"), experiment, mix=self.mix)
        if any(column["measured"] for column in shown["columns"]):
            paths = write_reports(shown, self.out)
            notes.print(f"whole table: {', '.join(str(path) for path in paths)}", markup=False, soft_wrap=True)
        if self.readme is not None:
            self._fill_readme(self.readme)

    def _fill_readme(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--readme {path}: cannot be read ({error})") from error
        write_atomically(path, fill_readme(text, ResultStore(self.out / "store")))
        notes.print(f"tables of {path} made anew", markup=False)


def _tasks(experiment: Experiment, text: str) -> list[str]:
    if text == "all":
        return list(experiment.tasks)
    chosen = [str(number) for number in parse_tasks(text)]
    unknown = [task for task in chosen if task not in experiment.tasks]
    if unknown:
        raise InputError(
            f"table {experiment.name} has tasks {experiment.tasks[0]} to {experiment.tasks[-1]}, not {unknown[0]}"
        )
    return chosen


@contextmanager
def _stop_on_interrupt(sweep: Sweep) -> Iterator[None]:
    """The first Ctrl-C (or a polite kill) keeps everything and ends; a second Ctrl-C ends at once."""
    asked = False

    def request(signal_number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        sweep.request_stop()
        notes.print("stopping: the running trials keep their state (Ctrl-C again to stop at once)")

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
