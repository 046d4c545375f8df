"""Longer than anything it was trained for: chains of 5 to 200 hops after training on up to 5.

    python -m query_reduction_lab.studies.chain_lengths space order --hops 5,10,20,50,200

Stories are generated; for each number of hops accuracy, the number of steps the network takes, and milliseconds per
question.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import query_reduction as qr
from query_reduction.native.threads import use_threads
from query_reduction.worlds.chains import CHAINS, ChainOptions, chain_stories, parse_hops
from query_reduction_lab.studies.publish import RESULTS, publish

__all__ = ["measure"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="+", choices=list(CHAINS))
    parser.add_argument("--hops", default="5,10,20,50,200")
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--tested", type=int, default=100, help="questions for each number of hops")
    parser.add_argument("--orders", choices=("all", "forward"), default="all")
    parser.add_argument("--out", type=Path, default=RESULTS / "chain-lengths.json")
    chosen = parser.parse_args()
    use_threads(1)
    rows = [row for world in chosen.worlds for row in measure(world, chosen)]
    publish(chosen.out, {"what": "accuracy beyond five hops", "rows": rows}, "studies/chain_lengths.py")


def measure(world: str, chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """Train on up to five hops, test on each number of hops."""
    train = chain_stories(world, chosen.questions, options=ChainOptions(hops="1-5"))
    changes: dict[str, Any] = {"max_epochs": chosen.epochs, "halve_after": chosen.epochs // 2, "halve_every": 2}
    model = qr.train(train, network="follow", progress=False, orders=chosen.orders, **changes)
    assert isinstance(model, qr.StoryModel)
    rows = []
    for hops in parse_hops(chosen.hops):
        stories = chain_stories(world, chosen.tested, split="test", options=ChainOptions(hops=str(hops)))
        begun = time.perf_counter()
        error = model.evaluate(stories).error
        seconds = time.perf_counter() - begun
        steps = len(model.explain(stories[0].sentences, stories[0].questions[0].text, endings=False).layers)
        rows.append(
            {
                "world": world,
                "hops": hops,
                "accuracy": round(100 - error, 2),
                "steps": steps,
                "milliseconds_per_question": round(1000 * seconds / len(stories), 2),
                "questions": len(stories),
                "orders": chosen.orders,
            }
        )
        print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    main()
