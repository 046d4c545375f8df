"""Do reduced queries say what they should? Trains with the question decoder and without, on the published bAbI files.

    python -m query_reduction_lab.studies.decoded_queries babi/en --restarts 10

Three trainings with the same seed: task 2; task 2 with the decoder; tasks 1 and 2 together with the decoder, where
questions about people ("Where is Sandra?") exist for the decoder to learn. On the test questions of task 2: how many
are recovered word for word, what the decoder costs in accuracy, and how often the query that layer 2 reads each
supporting fact with names the person who carries the thing.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from query_reduction.model_file import SavedModel
from query_reduction.native.threads import use_threads
from query_reduction.qrn.decoder import decode
from query_reduction.qrn.reader import QueryReduction
from query_reduction.sources.named import load_parts
from query_reduction.text.stories import Story
from query_reduction.text.vocabulary import split_words
from query_reduction.training.run import Run
from query_reduction.training.setup import setup
from query_reduction_lab.studies.publish import RESULTS, publish


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of the published files")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "decoded-queries.json")
    chosen = parser.parse_args()
    use_threads(1)
    trainings = [
        train(chosen.data, tasks, decoding, chosen.restarts, chosen.seed)
        for tasks, decoding in (("2", False), ("2", True), ("1,2", True))
    ]
    content = {"what": "question decoder on bAbI task 2 (1k)", "trainings": trainings, "seed": chosen.seed}
    publish(chosen.out, content, "studies/decoded_queries.py")


def train(data: str, tasks: str, decoding: bool, restarts: int, seed: int) -> dict[str, Any]:
    """Train, choose on development, and measure the chosen restart and all of them."""
    parts = load_parts(data, tasks)
    run = Run(parts, setup("2r", changes={"decode_questions": decoding, "restarts": restarts, "seed": seed}))
    run.train()
    stories = [story for story in parts.test if story.task == "2"]
    rows = [measure(run.model(restart), stories) for restart in run.trainer.restarts]
    best = run.trainer.restarts.index(run.best())
    errors = [row["test_error"] for row in rows]
    found: dict[str, Any] = {
        "tasks": tasks,
        "decoder": decoding,
        "restarts": restarts,
        "chosen": rows[best],
        "test_error_mean": round(float(np.mean(errors)), 3),
        "test_error_std": round(float(np.std(errors)), 3),
        "data_sha256": run.checksum,
    }
    if decoding:
        for name in ("questions_recovered", "names_carrier_at_last_fact"):
            found[f"{name}_mean"] = round(float(np.mean([row[name] for row in rows])), 2)
    print(json.dumps(found, ensure_ascii=False, indent=1), flush=True)
    return found


def measure(model: SavedModel, stories: list[Story]) -> dict[str, Any]:
    """Error, recovered questions and named people of one model on test questions of task 2, in percent."""
    network, task = model.network(), model.task
    assert isinstance(network, QueryReduction)
    vocabulary = task.vocabulary
    result: dict[str, Any] = {"test_error": round(task.score([network], stories)[0].error, 3)}
    if not network.config.decode_questions:
        return result
    questions = task.encode(stories)
    batch = questions.batch(np.arange(len(questions)))
    table = network.encode(batch.words)
    query = table[batch.questions]
    layers = network.gates(table, query, batch.stories, batch.lengths)
    asked = [(story, question) for story in stories for question in story.questions]
    said = decode(network.weights, query, vocabulary)
    recovered = [text == " ".join(split_words(q.text, "words")) for text, (_, q) in zip(said, asked, strict=True)]
    result["questions_recovered"] = round(100 * float(np.mean(recovered)), 2)
    named: dict[str, list[bool]] = {"at_first_fact": [], "at_last_fact": []}
    examples: Counter[tuple[str, str, str]] = Counter()
    for row, (story, question) in enumerate(asked):
        skipped = question.after - int(batch.lengths[row])
        facts = sorted(question.support)
        if facts[0] < skipped:
            continue
        carrier = split_words(story.sentences[facts[-1]], "words")[0]
        steps = [facts[0] - skipped, facts[-1] - skipped]
        first, last = decode(network.weights, layers[0].reduced[row, steps], vocabulary)
        named["at_first_fact"].append(carrier in first.split())
        named["at_last_fact"].append(carrier in last.split())
        examples[(question.text, story.sentences[facts[-1]], last)] += 1
    for place, hits in named.items():
        result[f"names_carrier_{place}"] = round(100 * float(np.mean(hits)), 2)
    result["examples"] = [
        {"question": question, "fact": fact, "reduced": text} for (question, fact, text), _ in examples.most_common(8)
    ]
    return result


if __name__ == "__main__":
    main()
