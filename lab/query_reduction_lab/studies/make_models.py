"""Make the models that come with the package: trained on generated stories, tested on generated and published ones.

A part of the stories is short, like those people make up (see ``worlds.shortened``), and where people move about they
have larger casts than the published ones (see ``studies.casts``).

    python -m query_reduction_lab.studies.make_models --only task1,task2 --stories babi/en --dialogs dialog

Nothing is chosen on a test: restarts are chosen on generated development questions, the published files are only
measured. Each model is one file in the package, with a card that says all of this; too large a file is an error.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.model_file import SavedModel, save_model
from query_reduction.models import FOLDER, size_limit
from query_reduction.native.threads import use_threads
from query_reduction.origin import provenance
from query_reduction.reading.protocol import Parts
from query_reduction.sources.named import load_parts, question_count
from query_reduction.sources.numbers import parse_tasks
from query_reduction.text.stories import Story
from query_reduction.training.run import Run, best_restart, train_to_end, trained_model
from query_reduction.training.setup import setup
from query_reduction.worlds import TASKS, Split, shortened
from query_reduction_lab.studies.casts import KNOWN, told_by_many

MEASURES = {"stories": "answer", "dialogs": "exact match"}


@dataclass(frozen=True)
class Plan:
    """One model to train."""

    title: str
    tasks: str
    network: str
    data: str = "generated"
    recipe: str = "best"
    questions: int = 10_000
    """Training questions per task, or dialogs."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """How many people, places and things it gets to know in a task; in others, as many as the published ones have."""


# Only where reduced queries are questions of the same form do their words tell something.
_DECODED = {"decode_questions": True}
# Gates of single tasks are there to be looked at, so a sentence has one gate where that is enough.
_NETWORKS = {3: "3rv", 7: "3rv", 16: "3r", 17: "3r", 18: "3rv", 19: "3rv"}
# In these tasks people move from place to place. Those of task 8 answer with lists of things: more would make too many.
_CASTS = dict.fromkeys((1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14), KNOWN) | {8: {**KNOWN, "things": 3}}
# Restarts that need stories of their own cannot train together.
_ONE = {"restarts": 1}
_BRIEF = {"restarts": 2, "max_epochs": 20}
PLANS: dict[str, Plan] = {
    **{
        f"task{number}": Plan(info.title, str(number), _NETWORKS.get(number, "2r"), known=_CASTS)
        for number, info in TASKS.items()
    },
    "task1": Plan(TASKS[1].title, "1", "2r", changes=_DECODED, known=_CASTS),
    # Questions about people are what the decoder needs to say "Where is Sandra?", so task 2 is learned with task 1.
    "task2": Plan(TASKS[2].title, "1,2", "2r", changes=_DECODED, known=_CASTS),
    # Retold anew in every epoch, fewer stories per task are enough.
    "joint": Plan(
        "All twenty story tasks", "all", "3rv100", recipe="joint", questions=2000, changes=_ONE, known=_CASTS
    ),
    # A few hundred dialogs say all that these have to say.
    "dialog": Plan(
        "Booking a table", "5", "2rc", data="generated-dialog", recipe="original", questions=500, changes=_BRIEF
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PLANS), help="names, separated by commas")
    parser.add_argument("--network", help="a network other than the plan's")
    parser.add_argument("--questions", type=int, help="training questions per task, or dialogs, instead of the plan's")
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--max-epochs", type=int, help="instead of the recipe's own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stories", type=Path, help="folder of the published story tasks")
    parser.add_argument("--dialogs", type=Path, help="folder of the published dialog tasks")
    parser.add_argument("--out", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    use_threads(1)
    for name in chosen.only.split(","):
        if name not in PLANS:
            raise SystemExit(f"no plan for {name!r}; choose from {', '.join(PLANS)}")
        instead = {"network": chosen.network, "questions": chosen.questions}
        plan = replace(PLANS[name], **{key: value for key, value in instead.items() if value})
        published = chosen.dialogs if plan.data == "generated-dialog" else chosen.stories
        begin = time.monotonic()
        model = make(plan, published, chosen)
        path = chosen.out / f"{name}.safetensors"
        save_model(path, model)
        size = path.stat().st_size
        if size > size_limit(name):
            path.unlink()
            raise InputError(f"{name} would have {size} bytes, more than {size_limit(name)}: make the network smaller")
        print(
            f"{name}: {size} bytes, errors {model.card['errors']}, {time.monotonic() - begin:.0f} s",
            flush=True,
        )


def make(plan: Plan, published: Path | None, chosen: argparse.Namespace) -> SavedModel:
    """Train one model, test it, and write its card."""
    parts = load_parts(plan.data, plan.tasks, questions=plan.questions, seed=chosen.seed)
    short_test: list[Story] = []
    if plan.known:
        parts = with_casts(parts, plan, chosen.seed)
    if plan.data == "generated":
        short_test = short_part(parts.test, chosen.seed)
        parts = replace(
            parts,
            train=parts.train + short_part(parts.train, chosen.seed),
            dev=parts.dev + short_part(parts.dev, chosen.seed),
        )
    changes = {"restarts": chosen.restarts, **plan.changes, "seed": chosen.seed}
    if chosen.max_epochs:
        changes["max_epochs"] = chosen.max_epochs
    settings = setup(plan.network, plan.recipe, kind=parts.kind, questions=question_count(parts.train), changes=changes)
    run = Run(parts, settings)
    train_to_end(run)
    trained = trained_model(run, best_restart(run))
    by_task = test(trained, parts.test)
    card: dict[str, Any] = {
        "title": plan.title,
        "network": settings.name,
        "tasks": plan.tasks,
        "errors": {"generated": mean(by_task)},
        "test_errors": {MEASURES[parts.kind]: by_task},
        "data": {
            "source": plan.data,
            "task": plan.tasks,
            "questions_a_task": plan.questions,
            "known": {str(task): dict(known) for task, known in plan.known.items() if str(task) in by_task},
            "sha256": run.checksum,
            "seed": chosen.seed,
        },
        "settings": run.settings(),
        "seconds": round(run.trainer.seconds, 1),
        **provenance(),
    }
    if short_test:
        card["short_error_by_task"] = test(trained, short_test)
        card["errors"]["short"] = mean(card["short_error_by_task"])
    if published is not None:
        tasks = plan.tasks if plan.data == "generated-dialog" else ",".join(map(str, parse_tasks(plan.tasks)))
        told = load_parts(str(published), tasks)
        card["published_error_by_task"] = test(trained, told.test)
        card["errors"]["published"] = mean(card["published_error_by_task"])
        card["published_data"] = {"name": published.name, "sha256": told.checksum()}
    return replace(trained, card=card)


def with_casts(parts: Parts, plan: Plan, seed: int) -> Parts:
    """Training and development stories with larger casts where the plan has them; the test stays as it is."""
    counts: dict[Split, int] = {"train": plan.questions, "valid": plan.questions // 10}
    many = {
        str(task): told_by_many(task, counts, plan.known[task], seed)
        for task in parse_tasks(plan.tasks)
        if task in plan.known
    }
    told: tuple[tuple[Split, list[Story]], ...] = (("train", parts.train), ("valid", parts.dev))
    train, dev = (
        [story for splits in many.values() for story in splits[split]] + [one for one in own if one.task not in many]
        for split, own in told
    )
    return replace(parts, train=train, dev=dev)


def short_part(stories: list[Story], seed: int) -> list[Story]:
    """Short stories for every third question."""
    return list(shortened(stories, seed))[::3]


def test(model: SavedModel, stories: list[Story]) -> dict[str, float]:
    """Error in percent, by task; for dialogs of responses that are not exactly right."""
    return dict(model.task.score([model.network()], stories)[0].errors[MEASURES[model.task.kind]])


def mean(errors: dict[str, float]) -> float:
    """The mean over tasks, as tables give it."""
    return round(sum(errors.values()) / len(errors), 4)


if __name__ == "__main__":
    main()
