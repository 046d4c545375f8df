"""The progress bar of a training run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from query_reduction.training.restarts import Epoch
from query_reduction.training.run import Run

__all__ = ["progress_bar", "search_bar"]


@contextmanager
def progress_bar(run: Run, *, shown: bool = True, console: Console | None = None) -> Iterator[Callable[[Epoch], None]]:
    """A bar on standard error, where it can be redrawn; the function it yields is called after every epoch."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    console = console or Console(stderr=True)
    shown = shown and (console.is_terminal or console.is_jupyter)
    bar = Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True, disable=not shown
    )
    with bar:
        restarts = len(run.trainer.restarts)
        task = bar.add_task(f"training {restarts} restart{'s' * (restarts != 1)}", total=1.0, state="")

        def show(epoch: Epoch) -> None:
            dev = f", best dev error {epoch.dev_error:.1f}%" if epoch.dev_error is not None else ""
            state = f"epoch {epoch.epoch}/{epoch.of}, {epoch.training} training{dev}"
            bar.update(task, completed=epoch.epoch / epoch.of, state=state)

        yield show


@contextmanager
def search_bar(*, shown: bool = True, console: Console | None = None) -> Iterator[Callable[[str, float], None]]:
    """A bar for what comes before training: reading stories, and looking for interchangeable words."""
    console = console or Console(stderr=True)
    shown = shown and (console.is_terminal or console.is_jupyter)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("interchangeable words", total=1.0)
        yield lambda what, part: bar.update(task, completed=part, description=f"interchangeable words: {what}")
