"""From stories in parts to a model that points: when it is the right head, and one training run."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.origin import provenance
from query_reduction.pointing.config import PointerConfig, PointerRecipe
from query_reduction.pointing.lexicon import Lexicon, is_phrase
from query_reduction.pointing.model import PointerModel
from query_reduction.pointing.vectors import read_vectors
from query_reduction.reading.protocol import Parts
from query_reduction.settings import changed
from query_reduction.text.phrases import words_of
from query_reduction.text.stories import Story
from query_reduction.text.tracks import is_tracked
from query_reduction.text.words import fold
from query_reduction.training.pointing import train_pointer
from query_reduction.training.run_folder import RESULT_FILE

__all__ = ["PointerSetup", "pointer_setup", "run_pointer", "why_pointing"]

_MOSTLY = 0.8
_UNSEEN = 0.1
_MOST_LOOKED_AT = 5000


@dataclass(frozen=True, slots=True)
class PointerSetup:
    """What is trained and how."""

    network: PointerConfig
    recipe: PointerRecipe


def pointer_setup(changes: Mapping[str, Any]) -> PointerSetup:
    """The default settings with some of them changed; one that neither network nor recipe has is an error."""
    setup = PointerSetup(PointerConfig(), PointerRecipe())
    for name, value in changes.items():
        owner = next((part for part in ("network", "recipe") if name in _names(getattr(setup, part))), None)
        if owner is None:
            raise InputError(f"{name} has no effect on a network that points at the text")
        setup = replace(setup, **{owner: changed(getattr(setup, owner), {name: value})})
    return setup


def _names(settings: Any) -> set[str]:
    return {field.name for field in fields(settings)}


def why_pointing(stories: Sequence[Story]) -> str:
    """Why the answers had better be pointed at than chosen from a list; empty if a list will do."""
    if is_tracked(stories):
        return "every question is asked after every sentence: things are tracked"
    asked = [(story, question) for story in stories for question in story.questions][:_MOST_LOOKED_AT]
    if not asked:
        return ""
    answers = Counter(question.answer for _, question in asked)
    unseen = sum(count == 1 for count in answers.values()) / len(asked)  # Good and Turing
    if unseen < _UNSEEN:
        return ""
    phrases = sum(is_phrase(question.answer, story.sentences[: question.after]) for story, question in asked)
    if phrases < _MOSTLY * len(asked):
        return ""
    return (
        f"{phrases / len(asked):.0%} of the answers are phrases of their stories, and a list of answers would lack "
        f"about {unseen:.0%} of those to come"
    )


def run_pointer(
    parts: Parts,
    setup: PointerSetup,
    *,
    vectors: Path | None = None,
    about: Mapping[str, Any] | None = None,
    folder: Path | None = None,
    on_epoch: Callable[[int, float], None] | None = None,
) -> PointerModel:
    """Train on the training part, test once on the test part, and save both if there is a folder for it."""
    start = time.monotonic()
    words: tuple[str, ...] = ()
    table = None
    if vectors is not None:
        texts = {text for story in parts.train for text in (*story.sentences, *(q.text for q in story.questions))}
        words, table = read_vectors(vectors, {fold(word.text) for text in texts for word in words_of(text)})
    lexicon = Lexicon.learned(parts.train, point=setup.network.point, chain=setup.network.chain, vector_words=words)
    weights = train_pointer(parts.train, lexicon, setup.network, setup.recipe, table, on_epoch)
    card: dict[str, Any] = {
        "data": {**(about or {}), "sha256": parts.checksum()},
        "settings": {"network": asdict(setup.network), "recipe": asdict(setup.recipe)},
        "parameters": sum(weight.size for weight in weights.values()),
        **provenance(),
    }
    if vectors is not None:
        card["vectors"] = {"file": vectors.name, "sha256": hashlib.sha256(vectors.read_bytes()).hexdigest()}
    model = PointerModel(setup.network, lexicon, weights, table, card)
    for name, stories in (("dev", parts.dev), ("test", parts.test)):
        if any(story.questions for story in stories):
            card[f"{name}_error"] = round(model.evaluate(stories).error, 4)
    card["seconds"] = round(time.monotonic() - start, 1)
    if folder is not None:
        model.save(folder)
        write_atomically(folder / RESULT_FILE, json.dumps(card, ensure_ascii=False, indent=1) + "\n")
    return model
