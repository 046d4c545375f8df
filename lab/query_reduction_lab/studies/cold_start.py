"""How long verbs take from nothing to an answer, and how much memory, beside importing NumPy.

    python -m query_reduction_lab.studies.cold_start --runs 20

Every run is a new process. Runs of all commands alternate, so that whatever else the machine does meets all of them;
the files they read are in the system's cache. The ratio is that of medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from query_reduction_lab.studies.publish import publish

_STORY = "Mary got the milk.\nJohn went to the office.\nMary went to the garden.\n"
_QUESTIONS = "1 Mary got the milk.\n2 Mary went to the garden.\n3 Where is the milk?\tgarden\t1 2\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("results/cold-start.json"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), chosen.runs)
    print(json.dumps(found, indent=1))
    publish(chosen.out, found, "studies/cold_start.py")


def measure(folder: Path, runs: int) -> dict[str, Any]:
    """Seconds, processor seconds and megabytes of each command."""
    story, questions, answers = (folder / name for name in ("story.txt", "questions.txt", "answers.jsonl"))
    story.write_text(_STORY)
    questions.write_text(_QUESTIONS)
    qrn = str(Path(sys.executable).with_name("qrn"))
    about = ["--story", str(story), "--question", "Where is the milk?"]
    commands = {
        "import numpy": [sys.executable, "-c", "import numpy"],
        "ask": [qrn, "ask", "task2", *about],
        "explain": [qrn, "explain", "task2", *about],
        "predict": [qrn, "predict", "task2", str(questions), "--out", str(answers)],
        "chat": [qrn, "chat", "dialog"],
    }
    seen: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            answers.unlink(missing_ok=True)
            one = _run(command)
            if number:  # the first run brings files into memory
                seen[name].append(one)
    result: dict[str, Any] = {"runs": runs}
    for name, figures in seen.items():
        seconds, processor, memory = (list(column) for column in zip(*figures, strict=True))
        result[name] = {
            "seconds": round(statistics.median(seconds), 3),
            "seconds_best": round(min(seconds), 3),
            "processor_seconds": round(statistics.median(processor), 3),
            "megabytes": round(max(memory), 1),
            "times_import_numpy": round(
                statistics.median(seconds) / statistics.median(one[0] for one in seen["import numpy"]), 2
            ),
        }
    return result


def _run(command: list[str]) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak megabytes of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
