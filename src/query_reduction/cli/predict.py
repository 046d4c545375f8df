"""qrn predict"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.interrupt import stop_on_interrupt
from query_reduction.cli.output import console, notes, print_json
from query_reduction.model import load_listed
from query_reduction.native.threads import MOST_THREADS, available_cores, use_threads
from query_reduction.predict_file import predict_file
from query_reduction.settings import Between

__all__ = ["Predict"]


@dataclass(frozen=True)
class Predict:
    """Answer all questions of a file, into a file.

    Each answer comes with the model's confidence, the sentences it was read from, and the words the model does not
    know. Of dialogs every turn of the user is answered, after the turns before it as they are in the file. Files may be
    larger than memory (except .json, which is read whole). If the command is stopped or killed, the same command goes
    on where it was.
    """

    model: Annotated[str, POSITIONAL]
    """A model file, the folder of a training run, or the name of a ready model ('qrn models' lists them)."""
    file: Annotated[Path, POSITIONAL]
    """Stories with questions, or dialogs, in any format that is read (.jsonl, .csv, .tsv, .json, .txt, each also with
    .gz); answers may be missing."""
    out: Path
    """The file for the answers: .jsonl or .csv."""
    threads: Annotated[int, Between(0, MOST_THREADS)] = 0
    """Number of threads; 0 means one per core."""
    json: bool = False
    """Print a summary as one JSON object."""

    def run(self) -> int:
        """Answer, and say how many and how fast."""
        use_threads(self.threads or available_cores())
        model = load_listed(self.model)
        # Millions of small objects come and go: collecting them must not look through all others each time.
        gc.freeze()
        stopping = False

        def stop() -> None:
            nonlocal stopping
            stopping = True

        columns = (TextColumn("answering"), BarColumn(), TextColumn("{task.fields[state]}"))
        bar = Progress(
            *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=notes, transient=True,
            disable=not notes.is_terminal,
        )  # fmt: skip
        with bar, stop_on_interrupt(stop, "stopping after these questions"):
            shown = bar.add_task("", total=1.0, state="")
            start = time.monotonic()
            for progress in predict_file(model, self.file, self.out):
                seconds = max(time.monotonic() - start, 1e-9)
                rate = (progress.questions - progress.before) / seconds
                bar.update(
                    shown, completed=progress.share, state=f"{progress.questions} questions, {rate:.0f} a second"
                )
                if progress.before and progress.questions == progress.before:
                    notes.print(f"going on after {progress.before} questions")
                if stopping and not progress.finished:
                    break
        if not progress.finished:
            notes.print(f"stopped after {progress.questions} questions; the same command goes on from there")
            return 130
        if self.json:
            summary = {"questions": progress.questions, "before": progress.before, "seconds": round(seconds, 2)}
            print_json(summary | {"out": str(self.out)})
        else:
            answers = f"{progress.questions} answer{'s' * (progress.questions != 1)}"
            console.print(f"{answers} in {self.out} ({rate:.0f} questions a second)", markup=False)
        return 0
