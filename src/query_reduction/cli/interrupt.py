"""How commands end when they are asked to: Ctrl-C (SIGINT) and SIGTERM.

Every command ends at once, without a traceback and with nothing half-written, by an exception: ``KeyboardInterrupt``,
or ``Terminated`` for SIGTERM. Long work that can keep what it has done asks for a polite end instead: the first signal
stops it after the current piece of work, a second one at once. Exit codes are those a shell reports for the signal: 130
and 143.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from query_reduction.training.run import Run
    from query_reduction.training.run_folder import RunFolder

__all__ = ["Stop", "Terminated", "end_on_signals", "exit_code", "loss_shown", "stop_on_signal", "train_with_progress"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN = 0.2
"""Seconds until a signal comes again, if the command has not ended by then."""


class Terminated(KeyboardInterrupt):
    """SIGTERM: like Ctrl-C to all that has to clean up."""


class Stop:
    """Whether a signal has asked to stop."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __bool__(self) -> bool:
        return self.signal is not None

    @property
    def code(self) -> int:
        """The exit code: 0 if nothing has asked to stop."""
        return 0 if self.signal is None else 128 + self.signal


def exit_code(error: KeyboardInterrupt) -> int:
    """The exit code of a command that a signal ended."""
    return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def _end_at_once(number: int, frame: FrameType | None) -> None:
    # Where an exception cannot go on, as in a finaliser, a callback of a weak reference or some imports, Python drops
    # it. Unless the command has ended by then, the signal is therefore raised again.
    _last.signal = number
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


_last = Stop()
"""The last signal that raised an exception."""


def _raise_again(number: int, frame: FrameType | None) -> None:
    if _last.signal is not None:
        signal.raise_signal(_last.signal)


@contextmanager
def end_on_signals() -> Iterator[None]:
    """Let SIGTERM raise an exception, as SIGINT does, so that commands clean up before they end."""
    with _handled(_raise_again, (signal.SIGALRM,)), _handled(_end_at_once):
        try:
            yield
        finally:
            if _last:
                signal.setitimer(signal.ITIMER_REAL, 0)
                _last.signal = None


@contextmanager
def stop_on_signal(message: str, request_stop: Callable[[], None] = lambda: None) -> Iterator[Stop]:
    """On the first signal set ``Stop``, call ``request_stop`` and print the message; on the second end at once."""
    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop:
            _end_at_once(number, frame)
        stop.signal = number
        request_stop()
        from query_reduction.cli.output import notes  # loads rich, which not all commands need

        with suppress(RuntimeError):  # the signal came in the middle of writing to standard error
            notes.print(f"{message} (Ctrl-C again to stop at once)")

    with _handled(handle):
        yield stop


@contextmanager
def _handled(
    handler: Callable[[int, FrameType | None], None], numbers: Sequence[signal.Signals] = _SIGNALS
) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            signal.signal(number, handler)
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


@contextmanager
def loss_shown(epochs: int) -> Iterator[Callable[[int, float], None]]:
    """A bar on standard error; the function it yields is told each epoch and its loss."""
    from rich.progress import Progress

    from query_reduction.cli.output import notes

    columns = Progress.get_default_columns()
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task("training", total=epochs)
        yield lambda epoch, loss: bar.update(task, completed=epoch, description=f"training, loss {loss:.3f}")


def train_with_progress(run: Run, folder: RunFolder) -> Stop:
    """Train under a progress bar, keeping state and curves in a folder; says whether a signal ended it early."""
    from query_reduction.cli.output import notes
    from query_reduction.training.progress import progress_bar  # the other verbs do not train
    from query_reduction.training.restarts import epochs

    # Signals come first: the state is saved while they are handled politely.
    with (
        stop_on_signal("stopping after this epoch") as stop,
        progress_bar(run, console=notes) as show,
        folder.kept(run) as keep,
    ):
        for epoch in epochs(run.trainer):
            keep(epoch)
            show(epoch)
            if stop:
                break
    return stop
