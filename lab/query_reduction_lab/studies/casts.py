"""Stories with larger casts: more people, places and things than the published ones, all equally frequent.

A model lends the names it knows to those it does not, so it should know more than a story usually has.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from query_reduction import worlds
from query_reduction.text.stories import Story
from query_reduction.worlds import WorldOptions

__all__ = ["KNOWN", "renamed", "rewritten", "told_by_many"]

KNOWN: Mapping[str, int] = {"people": 10, "places": 12, "things": 8}
"""How many of each kind a model gets to know."""
_GROUPS = {5: ("giving", "house"), 10: ("town", "town"), 14: ("town", "town")}
"""The groups that people and places of a task belong to, where it is not the house."""
_PRONOUNS = 11
"""The task in which names are distinguished by their pronouns."""
_SIZES = 4
"""Worlds of so many sizes, from the published one to one with everybody in it."""


def rewritten(story: Story, write: Callable[[str], str]) -> Story:
    """The same story, questions and answers, each text written differently."""
    questions = [replace(asked, text=write(asked.text), answer=write(asked.answer)) for asked in story.questions]
    return replace(story, sentences=tuple(map(write, story.sentences)), questions=tuple(questions))


def renamed(story: Story, names: Mapping[str, str]) -> Story:
    """The same story with other names."""
    known = re.compile(rf"\b({'|'.join(names)})\b")
    return rewritten(story, lambda text: known.sub(lambda found: names[found[0]], text))


def told_by_many(
    task: int, questions: Mapping[worlds.Split, int], known: Mapping[str, int], seed: int
) -> dict[worlds.Split, list[Story]]:
    """Splits of a task as ``worlds.generate_splits`` gives them, each story with a cast drawn from ``known`` names."""
    people, places = _GROUPS.get(task, ("house", "house"))
    words = worlds.load_words()
    own = {
        "people": words.people.take(people, known["people"]),
        "places": words.places.take(places, known["places"]),
        "things": words.things.take("carried", known["things"]),
    }
    fewest = {"people": len(words.people.groups[people]), "places": len(words.places.groups[places]), "things": 3}
    pronouns = words.pronouns if task == _PRONOUNS else {}
    rng = random.Random(f"casts/{task}/{seed}")
    told: dict[worlds.Split, list[Story]] = {split: [] for split in questions}
    for size in range(_SIZES):
        counts = {kind: least + (known[kind] - least) * size // (_SIZES - 1) for kind, least in fewest.items()}
        parts = worlds.generate_splits(
            task,
            {split: -(-count // _SIZES) for split, count in questions.items()},
            seed=seed,
            options=WorldOptions(**counts),
        )
        for split, stories in parts.items():
            told[split] += [renamed(story, _exchange(own, pronouns, rng)) for story in stories]
    for stories in told.values():
        rng.shuffle(stories)
    return told


def _exchange(names: Mapping[str, Sequence[str]], pronouns: Mapping[str, str], rng: random.Random) -> dict[str, str]:
    """Another name of its kind for each, with the same pronoun."""
    found: dict[str, str] = {}
    for own in names.values():
        for pronoun in sorted({pronouns.get(name, "") for name in own}):
            alike = [name for name in own if pronouns.get(name, "") == pronoun]
            found.update(zip(alike, rng.sample(alike, len(alike)), strict=True))
    return found
