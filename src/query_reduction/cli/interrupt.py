"""A polite end: the first Ctrl-C, or a SIGTERM, stops long work and keeps everything; a second Ctrl-C stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from query_reduction.cli.output import notes

if TYPE_CHECKING:
    from query_reduction.training.run import Run

__all__ = ["loss_shown", "stop_on_interrupt", "train_with_progress"]


def train_with_progress(run: Run) -> bool:
    """Train under a progress bar; True if it came to its end."""
    from query_reduction.training.progress import progress_bar  # the other verbs do not train

    with progress_bar(run, console=notes) as show, stop_on_interrupt(run.request_stop, "stopping after this epoch"):
        return run.train(show)


@contextmanager
def loss_shown(epochs: int) -> Iterator[Callable[[int, float], None]]:
    """A bar on standard error; the function it yields is told each epoch and its loss."""
    from rich.progress import Progress

    columns = Progress.get_default_columns()
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task("training", total=epochs)
        yield lambda epoch, loss: bar.update(task, completed=epoch, description=f"training, loss {loss:.3f}")


@contextmanager
def stop_on_interrupt(request_stop: Callable[[], None], message: str) -> Iterator[None]:
    """Call ``request_stop`` on the first signal and say ``message``."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def handle(signal_number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        request_stop()
        notes.print(f"{message} (Ctrl-C again to stop at once)")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
