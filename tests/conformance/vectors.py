"""Stories with the reading, gates and probabilities that every implementation must give: the file reading.json.

``python tests/conformance/vectors.py`` writes the file anew, by the Python implementation; look at what changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "export")]

from exported import model_of_prose, model_of_tables, model_that_knows_names

import query_reduction as qr
from query_reduction.model import StoryModel, model_of

FILE = Path(__file__).with_name("reading.json")
READING = (
    "story", "positions", "sentences", "words", "sentence_count", "beyond_memory", "omitted", "substituted",
    "unknown_words", "unmentioned", "is_guess", "notes",
)  # fmt: skip
"""What must be equal."""

PROSE = [
    'Mr. Smith went to Washington. "Really?" she asked. He left at 5 p.m. The end.',
    "I am J. R. Hartley, of Acme Inc. The shop opened in Jan. 1999, no. 7, e.g. on p. 3. It was … odd!",
    "1. Open the lid. 2. (Pour it out.) a. done\n\nU.S. troops left; costs were $3.50, or 10:30 h – 5 %.",
    "今天下雨。明天呢？好！「是」。マリアは行った。मरियम बगीचे में गयी। وأين ماري؟ ذهبت.",
    "L’été, don't; well-known “quotes” (brackets). ÜBER Straße, STRASSE, ΟΔΟΣ οδός, İstanbul ısı ﬁne.",
    "Zoe\u0308 🙂👩‍💻👍🏽 likes C++ & C#, 50 ‰, §7, x² = 4 ½\u00a0m, a_b, naïve\u2028new line\x85next\x1cand so on.",
    "!!! ... ??? .!? …   \t \r\n . x. y.z Ph.D. students etc. And then co. The rest, al. He. I. We did.",
    "Zoë's bag and James' hat.\nWrapped prose goes on\nin the next line. A list\nhas no\nfull stops",
    "Wrapped at twenty, so\nZoë and\nJames begin lines.",
    "This is prose about Mr.\nSmith and Dr. Zoë, who\nlives here. It goes on.",
    "a\u0323\u0307 " + "e" + "\u0301\u0323" * 40 + " \u200fא\u200fב\u200eg",
]
_WALK = ["Mary got the milk there.", "John moved to the bedroom.", "Mary travelled to the garden."]
_WRAPPED = (
    "Mary got the milk there. John moved to\nthe bedroom. Sandra and\nDaniel left. Mary travelled to the\ngarden."
)

CASES: list[tuple[str, str | list[str], str]] = [
    ("task2", _WALK, "Where is the milk?"),
    ("task2", _WRAPPED, "Where is the milk?"),
    ("task2", "\n".join(line.rstrip(".") for line in _WALK), "Where is the milk?"),
    ("task2", " ".join(_WALK).lower(), "where is the milk?"),
    ("task2", [*_WALK, "Thou shalt not covet thy neighbour's ox."], "Where is the milk?"),
    ("task1", ["Zoë went to the attic.", "Mary moved to the Golden Harbour."], "Where is Zoë?"),
    ("task1", ["Zoë went to the attic.", "Blorp frimmed zat.", "Zoë moved to pier 7."], "Where is Zoë?"),
    ("task1", ["Mary went to the garden.", "Then she went to the office."], "Where is she?"),
    ("task1", ["Mary went to the garden."] * 60, "Where is Mary?"),
    ("task1", ["Blorp frimmed zat."], "Where is Zoë?"),
    ("task1", ["Mary went to the garden.", "Zoë's cat went to the office."], "Where is Zoë?"),
    ("task1", ["Mary's went to the garden."], "Where is Mary?"),
    ("task1", ["Zoë went to the garden.", "Zoë’s cat went to the office."], "Where is Zoë’s cat?"),
    ("task1", ["Mary went to the garden."], "Where is " + "no " * 30 + "Zoë?"),
    ("task1 reads all", ["Zoë went to the attic.", "Blorp frimmed zat.", "Mary went to the garden."], "Where is Mary?"),
    ("task1 reads all", ["Thou shalt not covet thy neighbour's ox."], "Where is Zoë?"),
    ("names", "Zelda went to the attic. Mary went back to the living room. Where?", "Where is Zelda?"),
    ("names", [f"{who} went to the kitchen." for who in ("Ann", "Bob", "Cleo", "Dora", "Emil")], "Where is Emil?"),
    ("names", ["Zoe\u0308 went to the café de flore.", "JOHN WENT BACK TO THE GARDEN"], "Where is Zoë?"),
    ("names", ["The nurse went to ward 3.", "Mary Smith moved to the office 2."], "Where is the nurse?"),
    ("names", ["Then the nurse went to bay 4.", "Later her cat went to bay 4."], "Where is it?"),
    ("names", ["Zoë went to bay 4.", "Then Zoë moved to the IT room.", "Zoë then went home."], "Where is Zoë?"),
    ("names", ["Benjamin's went to the garden.", "Benjamin went to Mary's office."], "Where is Benjamin?"),
    ("tables", ["Dan saw many sheep.", "Ann saw the sheep."], "Who saw many sheep?"),
    ("tables", ["Eve saw many lynxes.", "Bob saw the lynx 🙂."], "Who saw many lynxes?"),
    *(("prose", text, "Who is Zoe\u0308, ZOË?") for text in PROSE),
]
TRAINED = ("task1", "task2", "task1 reads all")
"""Models whose weights are in the package: for these there are answers, gates and shares, too."""


def _ready(name: str) -> StoryModel:
    model = qr.load(name)
    assert isinstance(model, StoryModel)
    return model


def _reading_all(name: str) -> StoryModel:
    model = _ready(name)
    options = replace(model.task.options, unreadable="read")
    made = model_of(replace(model.saved, task=replace(model.task, options=options)))
    assert isinstance(made, StoryModel)
    return made


MODELS: dict[str, Callable[[], StoryModel]] = {
    "task1": lambda: _ready("task1"),
    "task2": lambda: _ready("task2"),
    "task1 reads all": lambda: _reading_all("task1"),
    "names": model_that_knows_names,
    "tables": model_of_tables,
    "prose": lambda: model_of_prose(PROSE),
}


def expected(model: StoryModel, story: str | list[str], question: str, *, numbers: bool) -> dict[str, Any]:
    """What a question is read as; with ``numbers`` also how it is answered."""
    trace = model.explain(story, question, endings=False)
    found = trace.as_json() | {"words": [list(sentence.words) for sentence in trace.read.within_memory]}
    vector = {name: found[name] for name in READING}
    if numbers:
        vector |= {name: found[name] for name in ("answer", "doubts", "ranked", "shares")}
        vector["gates"] = [layer["gates"] for layer in found["layers"]]
    return vector


def main() -> None:
    models = {name: make() for name, make in MODELS.items()}
    vectors = [
        {
            "model": name,
            "story": story,
            "question": question,
            "expected": expected(models[name], story, question, numbers=name in TRAINED),
        }
        for name, story, question in CASES
    ]
    lines = ",\n".join(json.dumps(vector, ensure_ascii=True) for vector in vectors)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
