"""Long native calls that Ctrl-C can end.

Python handles a signal between two of its own instructions, in the main thread only, so a native call that the main
thread makes itself holds every signal back. A long one is therefore made in a helper thread; the main thread waits,
and if a signal handler raises while it does, it sets a flag that the native code checks.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from ctypes import addressof, c_int32

__all__ = ["StopFlag", "run"]

_PATIENCE = 5.0
"""Seconds for a job to notice the flag."""
_LOOK_EVERY = 0.1
"""Seconds between two looks for signals: one that comes in the instant before the main thread begins to wait, or that
the system gives to another thread, does not wake it."""


class StopFlag:
    """A number that native code reads: 0 to continue, 1 to stop."""

    __slots__ = ("_number",)

    def __init__(self) -> None:
        self._number = c_int32(0)

    @property
    def address(self) -> int:
        """Where the native code finds it."""
        return addressof(self._number)

    def set(self) -> None:
        """Stop."""
        self._number.value = 1


def run(job: Callable[[], None], stop: StopFlag) -> None:
    """Run the job, which ends early once the flag is set, so that the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        job()
        return
    raised: list[BaseException] = []
    done = threading.Event()

    def work(_alive: StopFlag = stop) -> None:
        try:
            job()
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    try:
        _thread.start_new_thread(work, ())
        while not done.wait(_LOOK_EVERY):
            pass
    except BaseException:
        # The job owns what it works on, so it is safe to leave it behind; but it should be over soon.
        stop.set()
        done.wait(_PATIENCE)
        raise
    if raised:
        raise raised[0]
