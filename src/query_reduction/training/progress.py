"""The progress bar of a training run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from query_reduction.training.run import Run

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(run: Run, *, shown: bool = True, console: Console | None = None) -> Iterator[Callable[[Run], None]]:
    """A bar on standard error, where it can be redrawn; the function it yields is called after every epoch."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    console = console or Console(stderr=True)
    shown = shown and (console.is_terminal or console.is_jupyter)
    bar = Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True, disable=not shown
    )
    with bar:
        restarts = len(run.restart_numbers)
        task = bar.add_task(f"training {restarts} restart{'s' * (restarts != 1)}", total=1.0, state="")

        def show(run: Run) -> None:
            trainer, most = run.trainer, run.setup.recipe.max_epochs
            best = min((restart.dev_error for restart in trainer.restarts), default=float("inf"))
            dev = f", best dev error {best:.1f}%" if best <= 100 else ""
            state = f"epoch {trainer.epoch}/{most}, {trainer.active} training{dev}"
            bar.update(task, completed=trainer.epoch / most, state=state)

        yield show
