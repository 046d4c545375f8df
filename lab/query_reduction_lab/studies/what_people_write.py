"""Do ready models read what people write? New names, other writing, and sentences that have nothing to do with it.

    python -m query_reduction_lab.studies.what_people_write babi/en --book text/king-james-bible.txt

measures the ready models on generated stories told with names they never heard, on the published tests with every
name replaced, on the published tests written differently, and with a hundred foreign sentences added to each story. It
trains nothing, and writes results/reading.json and results/reading.md.
"""

from __future__ import annotations

import argparse
import random
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from query_reduction import StoryModel, load, worlds
from query_reduction.files import write_atomically
from query_reduction.native.threads import use_threads
from query_reduction.sources.named import load_parts
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Question, Story
from query_reduction.worlds import TASKS, Words
from query_reduction_lab.studies.casts import renamed, rewritten
from query_reduction_lab.studies.publish import RESULTS, publish

NAMED = (1, 2, 3, 5, 6, 7, 8)
NOISY = (1, 2, 3, 5, 6)
ADDED = 100
QUESTIONS = 1000
NEW = {
    "people": (
        "Zoë", "José Luis", "Mrs Brown", "Agent 7", "Siobhán", "Ngọc", "Bartholomew", "Anne-Marie", "Łukasz", "Priya",
        "Doctor Yildiz", "Tom 2",
    ),
    "places": (
        "loading dock", "pier 4", "café", "crèche", "observatory", "ice rink", "gate 12", "smithy", "sauna",
        "boathouse", "reading room", "Rathaus",
    ),
    "things": (
        "pallet 7", "piñata", "tool box", "sextant", "jar of honey", "ukulele", "parcel 31", "skateboard", "kimono",
        "abacus", "crème brûlée", "walkie talkie",
    ),
}  # fmt: skip
"""Thirty-six names that no training has."""
GOSSIP = tuple(
    """John likes to read in the garden when the weather is fine.
Mary has been tired all week.
Sandra is the youngest of the four.
Daniel would rather have an apple than a football.
The kitchen is small, but it gets the morning sun.
Nobody has cleaned the office since Mary was ill.
John and Sandra are old friends.
Mary thinks that Daniel is in love.
The milk is sour.
There is no milk left.
Who left the door open?
The garden is full of roses.
Daniel plays football every Sunday.
Sandra never went to school in the city.
Is John back yet?
John is back.
Mary took a deep breath.
Sandra dropped a hint.
Daniel got angry with John.
Mary picked a bad moment.
John moved slowly.
Sandra went on talking.
The apple never falls far from the tree.
The football season is over.
Bill gave up smoking.
Fred gave Mary a smile.
Jeff handed in his notice.
Jeff passed the exam.
Mary and the others went home late.
The bedroom has a view of the hallway.
Daniel left school at sixteen.
Bill got the joke at last.
Fred went back to sleep.
Mary got used to the noise.
The bathroom is next to the bedroom.
It took Sandra an hour to find the office.
John travelled a lot when he was young.
Mary journeyed through the whole of Spain.
They grabbed a bite to eat before the match.
Everybody knows where the milk is.""".splitlines()
)
"""Prose about the people, places and things of the stories that tells nothing about where they are."""
WRITINGS: Mapping[str, Callable[[str], str]] = {
    "lower case": str.lower,
    "upper case": str.upper,
    "no full stops": lambda text: text.rstrip(".?"),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
}
SEVERAL = "three sentences per line"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder of the published files with 1k questions per task")
    parser.add_argument("--book", type=Path, required=True, help="a text of ordinary prose")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    use_threads(1)
    book = split_sentences(chosen.book.read_text(encoding="utf-8"))
    tasks: dict[str, Any] = {}
    for task in TASKS:
        model = load(f"task{task}")
        assert isinstance(model, StoryModel)
        parts = load_parts(chosen.data, str(task))
        tasks[str(task)] = {"test_sha256": parts.checksum(), **measure(model, task, parts.test, book, chosen.seed)}
        print(_row(str(task), tasks[str(task)], _columns()), flush=True)
    content = {"what": "errors of the ready models in percent", "seed": chosen.seed, "tasks": tasks}
    publish(chosen.out / "reading.json", content, "studies/what_people_write.py")
    write_atomically(chosen.out / "reading.md", report(tasks))


def measure(model: StoryModel, task: int, told: list[Story], book: Sequence[str], seed: int) -> dict[str, Any]:
    """All figures of one ready model."""
    found: dict[str, Any] = {"published": model.evaluate(told).error}
    for name, write in WRITINGS.items():
        found[name] = model.evaluate([rewritten(story, write) for story in told]).error
    found[SEVERAL] = model.evaluate([on_fewer_lines(story) for story in told]).error
    if task in NAMED:
        known, new = zip(*generated(task, seed), strict=True)
        found["generated"] = model.evaluate([story for stories in known for story in stories]).error
        found["generated, new names"] = model.evaluate([story for stories in new for story in stories]).error
        found["published, new names"] = model.evaluate(list(with_new_names(task, told, seed))).error
    if task in NOISY:
        single = [one for story in told for one in one_by_one(story)][:QUESTIONS]
        before = [given.answer for given in model.given(single)]
        noises = (("nonsense", nonsense(random.Random(seed)), ADDED), ("prose", book, ADDED), ("gossip", GOSSIP, 20))
        for name, noise, added in noises:
            rng = random.Random(seed)
            after = [given.answer for given in model.given([with_noise(story, noise, added, rng) for story in single])]
            same = sum(one == other for one, other in zip(before, after, strict=True))
            found[f"unchanged by {name}"] = round(100 * same / len(before), 2)
    return found


def on_fewer_lines(story: Story) -> Story:
    """Up to three sentences on a line, where no question comes between them."""
    asked_after = {asked.after for asked in story.questions}
    lines: list[list[str]] = [[]]
    line_count = {0: 0}
    for number, sentence in enumerate(story.sentences, start=1):
        lines[-1].append(sentence)
        if number in asked_after or len(lines[-1]) == 3:
            line_count[number] = len(lines)
            lines.append([])
    questions = [replace(asked, after=line_count[asked.after], support=()) for asked in story.questions]
    return replace(story, sentences=tuple(" ".join(line) for line in lines if line), questions=tuple(questions))


def generated(task: int, seed: int) -> Iterator[tuple[list[Story], list[Story]]]:
    """Test stories with known names and the same with new ones, told by ten casts."""
    rng = random.Random(seed)
    for cast in range(10):
        yield tuple(  # type: ignore[misc]
            worlds.generate(task, QUESTIONS // 10, seed=seed + cast, split="test", words=words)
            for words in (None, new_words(rng))
        )


def new_words(rng: random.Random) -> Words:
    """The usual words with a cast of new names, as many of each kind as there are known ones."""
    words = worlds.load_words()
    lexicons = {}
    for kind, names in NEW.items():
        lexicon = getattr(words, kind)
        groups = {group: tuple(rng.sample(names, len(own))) for group, own in lexicon.groups.items() if len(own) <= 12}
        lexicons[kind] = replace(lexicon, groups=groups, more=())
    return replace(words, **lexicons)


def with_new_names(task: int, told: Sequence[Story], seed: int) -> Iterator[Story]:
    """Every person, place and thing under a new name, another one in every story."""
    rng = random.Random(seed)
    words = worlds.load_words()
    group = {"people": "giving" if task == 5 else "house", "places": "house", "things": "carried"}
    for story in told:
        new: dict[str, str] = {}
        for kind, names in NEW.items():
            own = getattr(words, kind).groups[group[kind]]
            new.update(zip(own, rng.sample(names, len(own)), strict=True))
        yield renamed(story, new)


def one_by_one(story: Story) -> Iterator[Story]:
    """Each question with what is told before it."""
    for asked in story.questions:
        yield Story(story.sentences[: asked.after], (asked,), story.task)


def nonsense(rng: random.Random) -> list[str]:
    """Sentences of words that are none."""
    words = ["".join(rng.choices("bcdfgklmnprstvz", k=5)) for _ in range(500)]
    return [f"{' '.join(rng.choices(words, k=rng.randint(2, 10)))}." for _ in range(3000)]


def with_noise(story: Story, noise: Sequence[str], added: int, rng: random.Random) -> Story:
    """So many other sentences, anywhere."""
    sentences = list(story.sentences)
    for sentence in rng.sample(noise, added):
        sentences.insert(rng.randint(0, len(sentences)), sentence)
    (asked,) = story.questions
    return Story(tuple(sentences), (Question(asked.text, asked.answer, len(sentences)),))


def report(tasks: Mapping[str, Any]) -> str:
    """As Markdown."""
    columns = _columns()
    names = ["published", "generated", "generated, new names", "published, new names"]
    kept = ["unchanged by nonsense", "unchanged by prose", "unchanged by gossip"]
    return "\n".join(
        [
            "# Ready models and what people write",
            "",
            "Errors of the ready models in percent on the published tests (1k), and on the same written differently. "
            "Made by `python -m query_reduction_lab.studies.what_people_write`.",
            "",
            *_table(tasks, columns),
            "",
            f"New names: {sum(map(len, NEW.values()))} people, places and things that no training has, of one or "
            "several words, with accents and numbers, ten casts; generated stories with known names beside them.",
            "",
            *_table({task: tasks[task] for task in map(str, NAMED)}, names),
            "",
            f"Percent of {QUESTIONS} answers that stay the same with {ADDED} foreign sentences added to every story: "
            "words that are none, and sentences from the King James Bible. Gossip: 20 of "
            f"{len(GOSSIP)} sentences about the people, places and things of the stories, such as: *{GOSSIP[0]}*",
            "",
            *_table({task: tasks[task] for task in map(str, NOISY)}, kept),
            "",
        ]
    )


def _columns() -> list[str]:
    return ["published", *WRITINGS, SEVERAL]


def _table(tasks: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    head = [f"| task | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    return head + [_row(task, found, columns) for task, found in tasks.items()]


def _row(task: str, found: Mapping[str, Any], columns: Sequence[str]) -> str:
    return f"| {task} {TASKS[int(task)].title} | {' | '.join(f'{found[name]:.1f}' for name in columns)} |"


if __name__ == "__main__":
    main()
