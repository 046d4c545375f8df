"""Models to export: every kind of Query-Reduction Network, and every way to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from small_networks import saved_story_model, variant, weights_of

from query_reduction import worlds
from query_reduction.model import StoryModel
from query_reduction.model_file import SavedModel
from query_reduction.names import Symmetries, SymmetriesByTask
from query_reduction.names.contexts import find_contexts
from query_reduction.names.units import Units
from query_reduction.reading.stories import StoryOptions, StoryTask
from query_reduction.rivals.registry import build_network
from query_reduction.text.stories import Question, Story
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.text.word_pairs import WordPairs

TOLD = worlds.generate(1, 300)

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("1", {}),
    ("2r", {}),
    ("3", {"forget_bias": 0.0}),
    ("2rv8", {"position_length": "sentence"}),
    ("3rv8", {"tied": False}),
    ("3r8", {"gate_stretch": 1.5, "forget_bias": 0.0}),
    ("4r8", {"tied": False, "init": "open"}),
    ("2r8", {"decode_questions": True}),
    ("1rv8", {}),
]


def model_of_variant(name: str, changes: dict[str, Any], memory: int = 0) -> StoryModel:
    """An untrained network, whose gates are neither open nor shut."""
    saved = saved_story_model(variant(name, **changes), TOLD[:40], memory=memory)
    assert isinstance(saved.task, StoryTask)
    return StoryModel(saved, saved.task)


def _model(task: StoryTask) -> StoryModel:
    config = variant("2r8", forget_bias=0.0)
    network = build_network(config, task.vocabulary, task.head)
    return StoryModel(SavedModel(config, task, weights_of(network)), task)


def model_that_knows_names() -> StoryModel:
    """People and places are interchangeable; "went back" is one word; names of two words occur."""
    kinds = (("mary", "john", "sandra", "daniel"), ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office"))
    units = Units(frozenset({("went", "back")}))
    # Of this one nobody can tell which kind it takes.
    contexts = {**find_contexts(TOLD, units, kinds), "@sentence where is @_": (0, 1)}
    symmetries = Symmetries(kinds, units=units, contexts=contexts, written={"mary": "Mary"})
    vocabulary = Vocabulary.from_stories(TOLD, "text", fold_case=True, phrases=units.phrases)
    # In another task people are exchanged, but places are not; where both have a place for a name, the first reads it.
    other = replace(symmetries, kinds=kinds[:1], contexts=find_contexts(TOLD, units, kinds[:1]))
    by_task = SymmetriesByTask({"2": other, "1": symmetries})
    pairs = WordPairs.of_stories(TOLD, vocabulary)
    return _model(StoryTask(vocabulary, StoryOptions(writing="any", memory=5), by_task, pairs=pairs))


def model_of_tables() -> StoryModel:
    """A word that is two units, told apart by its neighbours: the second column of a table."""
    stories = [
        Story((f"{who} saw the sheep.", f"{who} saw many sheep."), (Question(f"Who saw many {what}?", who, 2),))
        for who in ("Ann", "Bob", "Cid")
        for what in ("sheep", "mice", "cats")
        for _ in range(4)
    ]
    units = Units(columns={"sheep": {("sentence", "many", ""): 1, ("question", "many", ""): 1}})
    tables = ((("sheep", "sheep#2"), ("mouse", "mice"), ("cat", "cats")),)
    found = Symmetries((("ann", "bob", "cid"),), tables=tables, units=units)
    found = replace(found, contexts=find_contexts(stories, units, found.fillers))
    return _model(StoryTask(Vocabulary.from_stories(stories), StoryOptions(), SymmetriesByTask({"": found})))


def model_of_prose(stories: Sequence[str]) -> StoryModel:
    """All words of some texts, with case, symbols and languages as they come; some are new to it."""
    told = [Story((text,), (Question("Who is it?", "Zoë", 1),)) for text in stories[::2]]
    vocabulary = Vocabulary.from_stories(told, "text", fold_case=True)
    return _model(StoryTask(vocabulary, StoryOptions(writing="any", memory=3), None, unseen_share=0.1))
