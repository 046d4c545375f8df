"""Graceful interruption of training: the first Ctrl-C, or a SIGTERM, ends it after the epoch and keeps everything."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from query_reduction.cli.output import notes
from query_reduction.training.progress import progress_bar
from query_reduction.training.run import Run

__all__ = ["train_with_progress"]


def train_with_progress(run: Run) -> bool:
    """Train with a progress bar; True if it finished. A second Ctrl-C ends at once."""
    with progress_bar(run, console=notes) as show, _stop_on_interrupt(run):
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

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
