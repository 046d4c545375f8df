"""The progress bar of a training run, and its polite end on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from query_reduction.cli.output import notes
from query_reduction.training.run import Run

__all__ = ["train_with_progress"]


def train_with_progress(run: Run) -> bool:
    """Train under a progress bar; the first Ctrl-C ends after the epoch and keeps all, a second one ends at once."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    with (
        Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=notes, transient=True) as bar,
        _stop_on_interrupt(run),
    ):
        restarts = len(run.restart_numbers)
        task = bar.add_task(f"training {restarts} restart{'s' * (restarts != 1)}", total=1.0, state="")

        def show(run: Run) -> None:
            trainer = run.trainer
            best = min((restart.dev_error for restart in trainer.restarts), default=float("inf"))
            dev = f", best dev error {best:.1f} %" if best <= 100 else ""
            state = f"epoch {trainer.epoch}/{run.settings.recipe.max_epochs}, {trainer.active} training{dev}"
            bar.update(task, completed=trainer.epoch / run.settings.recipe.max_epochs, state=state)

        return run.train(show)


@contextmanager
def _stop_on_interrupt(run: Run) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def request(signal_number: int, frame: FrameType | None) -> None:
        if run.stop_requested:
            raise KeyboardInterrupt
        run.stop_requested = True
        notes.print("stopping after this epoch (Ctrl-C again to stop at once)")

    before = signal.signal(signal.SIGINT, request)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
