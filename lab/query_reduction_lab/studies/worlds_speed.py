"""How many questions per second the worlds generate, on one core.

    python -m query_reduction_lab.studies.worlds_speed [--tasks 1 2 5] [--questions 10000] [--json]

Three figures per task, all of processor time: training stories alone; training, validation (1000) and test (1000)
together, as ``qrn data generate`` makes them, without writing; sentences per second in stories of 10 000 sentences.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from query_reduction.text.stories import Story
from query_reduction.worlds import TASKS, WorldOptions, generate, generate_splits, load_words
from query_reduction.worlds.chance import seeded

HELD_OUT = 1000
LONG = WorldOptions(sentences=10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    rows = [measure(task, arguments.questions) for task in arguments.tasks]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'task':<32}{'train':>10}{'three splits':>15}{'long, sentences':>18}   per second")
    for row in rows:
        title = f"{row['task']} {TASKS[int(row['task'])].title}"
        print(f"{title:<32}{row['train']:>10}{row['three_splits']:>15}{row['long_sentences']:>18}")


def measure(task: int, questions: int) -> dict[str, int]:
    generate(task, 10)
    train = _seconds(lambda: generate(task, questions))
    splits = _seconds(lambda: generate_splits(task, {"train": questions, "valid": HELD_OUT, "test": HELD_OUT}))
    rng, words = seeded("speed", task), load_words()
    stories: list[Story] = []
    long = _seconds(lambda: stories.extend(TASKS[task].tell(rng, words, LONG) for _ in range(3)))
    return {
        "task": task,
        "train": round(questions / train),
        "three_splits": round((questions + 2 * HELD_OUT) / splits),
        "long_sentences": round(sum(len(story.sentences) for story in stories) / long),
    }


def _seconds(work: Callable[[], object]) -> float:
    """Processor seconds: other programs on the machine matter little."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
