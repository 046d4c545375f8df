"""Seconds and memory of a question about a whole book: of reading alone, and of the whole command."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from query_reduction.text.stories import Story
from query_reduction_lab.experiments.long_results import LongTime

__all__ = ["time_question"]

_TIMES = 3
"""Each way is measured so often, in turn; the median counts."""
_LOOK_EVERY = 0.005
"""Seconds between two looks at the memory of a process."""


def time_question(folder: Path, task: str, model: str, story: Story) -> LongTime:
    """Ask the model of a folder the question of a story, alone, in fresh processes."""
    question = story.questions[0]
    reading, command = [], []
    with TemporaryDirectory() as place:
        file = Path(place) / "story.txt"
        file.write_text("\n".join(story.sentences) + "\n", encoding="utf-8")
        asked = str(folder.resolve())
        options = ["--story", str(file), "--question", question.text, "--stream", "--json"]
        for _ in range(_TIMES):
            reading.append(_run(["query_reduction_lab.bench.book_question", asked, str(file), question.text]))
            command.append(_run(["query_reduction", "ask", asked, *options]))
    inside = [json.loads(found.text) for found in reading]
    answers = [found["answer"] for found in inside] + [json.loads(found.text)["text"] for found in command]
    return LongTime(
        task,
        model,
        all(answer == question.answer for answer in answers),
        round(statistics.median(found["seconds"] for found in inside), 3),
        round(statistics.median(found.megabytes for found in reading), 1),
        round(statistics.median(found.seconds for found in command), 3),
        round(statistics.median(found.megabytes for found in command), 1),
    )


@dataclass(frozen=True, slots=True)
class _Process:
    text: str
    seconds: float
    megabytes: float


def _run(arguments: Sequence[str]) -> _Process:
    """What a module printed, its seconds from start to end, and the most memory it held."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    started = time.perf_counter()
    most = 0
    with TemporaryFile("w+") as printed:
        with subprocess.Popen(
            [sys.executable, "-m", *arguments], stdout=printed, stderr=subprocess.DEVNULL, env=environment
        ) as process:
            # Watched from outside: what the system reports at the end begins with the memory of the parent.
            while process.poll() is None:
                most = max(most, _high_water(process.pid))
                time.sleep(_LOOK_EVERY)
        seconds = time.perf_counter() - started
        printed.seek(0)
        text = printed.read()
    if process.returncode != 0:
        raise RuntimeError(f"{arguments[0]} failed with exit code {process.returncode}")
    return _Process(text, seconds, most / 1e6)


def _high_water(pid: int) -> int:
    """The most memory a process has held so far, in bytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
