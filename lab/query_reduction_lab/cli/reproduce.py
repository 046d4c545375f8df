"""qrn reproduce"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.interrupt import stop_on_interrupt, train_with_progress
from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.settings import Between
from query_reduction.sources.numbers import parse_tasks
from query_reduction.training.run_folder import STATE_FILE
from query_reduction_lab.cli.sweep_view import SweepView
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.experiments.cells import Table
from query_reduction_lab.experiments.plan import Experiment, Variation
from query_reduction_lab.experiments.readme import fill_readme
from query_reduction_lab.experiments.report import to_markdown, write_reports
from query_reduction_lab.experiments.store import ResultStore
from query_reduction_lab.experiments.sweep import Job, Sweep, only_sweep
from query_reduction_lab.experiments.sweeps import Origins, plan_table
from query_reduction_lab.experiments.table_recipes import RECIPES
from query_reduction_lab.experiments.tables import build_table

if TYPE_CHECKING:
    from query_reduction.training.run import Run
    from query_reduction_lab.experiments.ray_engine import RayEngine
    from query_reduction_lab.experiments.workers import ProcessEngine

__all__ = ["Reproduce"]


@dataclass(frozen=True)
class Reproduce:
    """Train what a table of the paper needs and print published and measured numbers side by side.

    Every finished restart is stored at once; stop it at any time and run it again to resume. Stored results are
    reused, unless data, settings or what the code computes have changed. The whole table is also written as
    Markdown.
    """

    table: Annotated[str, POSITIONAL]
    """qa-1k, qa-10k or dialog (the paper's tables); compare, compare-10k, compare-dialog, compare-renamed or dnc-joint
    (other systems, trained by the same loop); ablation (what the parts of the recipe best give); task-16 (how surely it
    is learned); transfer (trained on generated stories); speed (sequential against parallel); figures (the paper's gate
    figures); long (facts hidden in a whole book); audit (recompute some stored results)."""
    cells: Annotated[int | None, POSITIONAL, Between(1, 1_000_000)] = None
    """audit: number of stored cells, drawn at random."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """audit: seed for drawing the cells."""
    tasks: str = "all"
    """Only these tasks: a number, a range or a list (1-5,19)."""
    variants: tuple[str, ...] = ()
    """Only these columns (2r 3r); controls stands for the networks included for comparison."""
    restarts: Annotated[int | None, Between(1, 10_000)] = None
    """Restarts per cell and recipe, instead of the number in the table's plan; the table that is written keeps to the
    plan."""
    recipe: str | None = None
    """A different recipe of the tables instead of the column's own; its results are kept separate."""
    haystack: Path | None = None
    """long: the book, one sentence per line; by default text/king-james-bible.txt under --data."""
    time: bool = False
    """long: also measure seconds and memory of one question about the whole book; let the machine do nothing else."""
    data: Path | None = None
    """The folder that holds the published data (with babi/en …); by default $QRN_DATA or the user's cache."""
    out: Path = Path("results")
    """The folder of the store and the reports."""
    report_only: bool = False
    """Train nothing: make the reports from what is stored."""
    formats: tuple[Literal["md", "html", "csv", "tex", "json"], ...] = ()
    """Also write the selected columns and tasks in these formats."""
    mix: bool = False
    """Also use stored results of code that computes differently; the tables mark them."""
    engine: Literal["processes", "ray"] = "processes"
    """Where to train: processes of this machine, or a Ray cluster."""
    address: str | None = None
    """The Ray cluster (host:port, or auto); without one a cluster of this machine alone is started."""
    workers: Annotated[int | None, Between(1, 10_000)] = None
    """Number of parallel trials; by default one per core."""
    stack: Annotated[int, Between(1, 10_000)] = 10
    """Train at most this many restarts of a network together in one process."""
    readme: Path | None = None
    """Also replace the tables between the markers in this file (<!-- table:qa-1k --> … <!-- /table:qa-1k -->)."""
    json: bool = False
    """Print the table as one JSON object."""

    def run(self) -> int:
        """Train what is missing, then report."""
        self._check()
        if self.table == "speed":
            return self._speed()
        if self.table == "figures":
            return self._figures()
        if self.table == "audit":
            return self._audit()
        if self.table == "long":
            return self._long()
        experiment = EXPERIMENTS[self.table]
        recipe = self._recipe()
        columns = experiment.chosen_columns([name for text in self.variants for name in text.split(",")])
        tasks = _tasks(experiment, self.tasks)
        if tasks != list(experiment.tasks) and not self.variants:
            # A network of all tasks at once cannot be narrowed to some; it is trained only on request.
            columns = [column for column in columns if not column.joint]
        store = ResultStore(self.out / "store")
        complete = True
        failures: list[str] = []
        if not self.report_only:
            unfinished = self.out / ".unfinished"
            with only_sweep(unfinished, experiment.name):
                jobs = plan_table(
                    experiment,
                    columns,
                    tasks,
                    store,
                    unfinished,
                    restarts=self.restarts,
                    recipe=recipe,
                    stack=self.stack,
                    mix=self.mix,
                )
                complete, failures = self._sweep(jobs, store)
        # Controls that were not requested are shown once they have been measured.
        shown = columns if self.variants or tasks != list(experiment.tasks) else None
        table = build_table(
            store, experiment, columns=shown, tasks=tasks, restarts=self.restarts, recipe=recipe, mix=self.mix
        )
        self._report(table, experiment, store)
        return _exit_code(complete, failures)

    def _check(self) -> None:
        others = ("speed", "figures", "audit", "long")
        if self.table not in EXPERIMENTS and self.table not in others:
            raise InputError(f"no table {self.table!r}; choose from {', '.join(EXPERIMENTS)}, {', '.join(others)}")
        if self.cells is not None and self.table != "audit":
            raise InputError(f"{self.cells}: only audit takes a number of cells")
        if self.table != "long" and (self.haystack is not None or self.time):
            raise InputError(f"{self.table}: only long takes --haystack and --time")
        if self.address is not None and self.engine != "ray":
            raise InputError("--address needs --engine ray")
        if self.data is not None:
            if not self.data.is_dir():
                raise InputError(f"--data {self.data}: no such folder")
            os.environ["QRN_DATA"] = str(self.data.resolve())

    def _recipe(self) -> Variation | None:
        if self.recipe is not None and self.recipe not in RECIPES:
            raise InputError(f"no recipe {self.recipe!r}; the tables have {', '.join(RECIPES)}")
        return RECIPES[self.recipe] if self.recipe else None

    def _speed(self) -> int:
        from query_reduction_lab.bench.parallel import measure_speed, speed_markdown, write_speed

        speed = measure_speed(self.variants or ("2r", "6r200"))
        paths = write_speed(speed, self.out)
        if self.json:
            print_json(speed)
        else:
            console.print(speed_markdown(speed), markup=False, soft_wrap=True)
        notes.print(f"written: {', '.join(map(str, paths))}", markup=False)
        return 0

    def _sweep(self, jobs: Sequence[Job], store: ResultStore) -> tuple[bool, list[str]]:
        """Run the jobs: whether all were run, and what failed."""
        if not jobs:
            notes.print("everything requested is already stored")
            return True, []
        begun = sum((job.folder / STATE_FILE).exists() for job in jobs)
        if begun:
            notes.print(f"{begun} stack{'s' * (begun != 1)} resume from an earlier sweep")
        sweep = Sweep(store, jobs)
        with (
            closing(self._engine(jobs)) as engine,
            stop_on_interrupt(sweep.request_stop, "stopping: the running trials keep their state"),
            SweepView(sweep, engine.workers, notes) as view,
        ):
            complete = sweep.run(engine, view.update)
        for retry in sweep.retries:
            notes.print(f"retried: {retry}", style="yellow", markup=False)
        if not complete and not sweep.failures:
            notes.print("stopped; everything so far is kept; run the same command to resume")
        return complete, sweep.failures

    def _engine(self, jobs: Sequence[Job]) -> RayEngine | ProcessEngine:
        if self.engine == "ray":
            from query_reduction_lab.experiments.ray_engine import RayEngine

            return RayEngine(self.address, self.workers)
        from query_reduction.native.threads import available_cores
        from query_reduction_lab.experiments.workers import ProcessEngine

        return ProcessEngine(min(self.workers or available_cores(), len(jobs)))

    def _audit(self) -> int:
        from query_reduction_lab.experiments.audit import audit_markdown, compare, draw, plan_audit

        cells = draw(ResultStore(self.out / "store"), self.cells or 10, self.seed)
        folder = self.out / ".unfinished" / "audit"
        again = ResultStore(folder / "store")
        with only_sweep(self.out / ".unfinished", "audit"):
            jobs, problems = plan_audit(cells, again, folder)
            complete, failures = self._sweep(jobs, again)
            comparisons = compare(cells, again, problems)
            if complete:
                text = audit_markdown(comparisons, Origins(), self.seed)
                write_atomically(self.out / "audit.md", text)
                console.print(text, markup=False, soft_wrap=True)
                shutil.rmtree(folder, ignore_errors=True)
        code = _exit_code(complete, failures)
        return code or (0 if all(one.passed for one in comparisons) else 1)

    def _trained(self, runs: Iterable[tuple[Path, Run]]) -> bool:
        """Train some networks one after the other; False if it was interrupted."""
        for folder, run in runs:
            notes.print(f"training the network of {folder}", markup=False)
            run.resume()
            if not train_with_progress(run):
                notes.print("stopped; run the same command to resume")
                return False
            run.finish()
        return True

    def _long(self) -> int:
        from query_reduction_lab.cli.reproduce_long import (
            chosen_columns,
            chosen_tasks,
            measure_long,
            report_long,
            time_long,
        )
        from query_reduction_lab.experiments.long import find_haystack, long_runs
        from query_reduction_lab.experiments.long_results import LongResults

        columns, tasks = chosen_columns(self.variants), chosen_tasks(self.tasks)
        results = LongResults.load(self.out / "long.json")
        if self.report_only and not results.cells:
            raise InputError(f"{results.path}: nothing was measured yet")
        if not self.report_only:
            book = find_haystack(self.haystack)
            results.use_book(book)
            if not self._trained(long_runs(book, columns, tasks)):
                return 130
            if not measure_long(results, book, columns, tasks):
                notes.print("stopped; run the same command to resume")
                return 130
            if self.time:
                time_long(results, book, tasks)
        report_long(results, self.out, as_json=self.json)
        return 0

    def _figures(self) -> int:
        from query_reduction_lab.experiments.figures import draw_figures, figure_runs, figures_json, figures_markdown

        if not self._trained(figure_runs(self.restarts)):
            return 130
        figures = draw_figures(self.out / "figures")
        if self.json:
            print_json(figures_json(figures))
        else:
            console.print(figures_markdown(figures), markup=False, soft_wrap=True)
        return 0

    def _report(self, table: Table, experiment: Experiment, store: ResultStore) -> None:
        if self.json:
            print_json(table.as_json())
        else:
            console.print(to_markdown(table), markup=False, soft_wrap=True)
        # A narrowed view must not replace the whole table.
        whole = build_table(store, experiment, mix=self.mix)
        paths = []
        if any(column.measured for column in whole.columns):
            paths += write_reports(whole, self.out, ["md"])
        narrowed = [*self.variants, *([f"tasks-{self.tasks}"] if self.tasks != "all" else [])]
        narrowed += [self.recipe] if self.recipe else []
        narrowed += [f"{self.restarts}-restarts"] if self.restarts else []
        name = ".".join([table.name, *(part.replace(" ", "-") for part in narrowed)])
        wanted = [one for one in self.formats if narrowed or one != "md"]
        paths += write_reports(table, self.out, wanted, name)
        if paths:
            notes.print(f"written: {', '.join(map(str, paths))}", markup=False, soft_wrap=True)
        if self.readme is not None:
            self._fill_readme(self.readme)

    def _fill_readme(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--readme {path}: cannot be read ({error})") from error
        write_atomically(path, fill_readme(text, ResultStore(self.out / "store")))
        notes.print(f"tables of {path} replaced", markup=False)


def _exit_code(complete: bool, failures: Sequence[str]) -> int:
    for failure in failures:
        notes.print(f"failed: {failure}", style="red", markup=False)
    if failures:
        return 1
    return 0 if complete else 130


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
