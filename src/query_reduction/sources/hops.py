"""Benchmarks of long chains: StepGame (space, 1 to 10 hops) and CLUTRR (kinship, 2 to 10 hops).

Both are read as others read them, with the number of hops as the task of a story, so that tables have a row per hop.

StepGame (Shi, Zhang and Lipani, AAAI 2022): trained on clean stories of 1 to 5 hops, developed on clean ones, tested on
stories with noise. The published tests beyond 3 hops are larger files; here they are the noisy validation files.

CLUTRR (Sinha and others, EMNLP 2019): trained on chains of 2 and 3 relations, tested on 2 to 10. The questions of the
tests with 2 and 3 relations occur word for word in training: only names that are symbols say anything there. A model is
given the story and the two names, and never the relations that the sentences were written from, unless ``edges`` asks
for these instead of the text, to see what composition alone can do.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.reading.stories import StoryParts
from query_reduction.sources.fetch import cache_folder
from query_reduction.text.formats.opening import open_text
from query_reduction.text.sentences import split_sentences
from query_reduction.text.stories import Question, Story

__all__ = ["clutrr", "find_hops", "is_clutrr", "is_stepgame", "stepgame"]

_STEPGAME = re.compile(r"(?P<noise>clean|noise)_k(?P<hops>\d+)_(?P<part>train|valid|test)\.json(?:\.gz)?")
_CLUTRR = re.compile(r"1\.(?P<hops>\d+)(?:-1\.\d+)*_(?P<part>train|test)\.csv(?:\.gz)?")


def is_stepgame(folder: Path) -> bool:
    """Whether a folder has files of StepGame."""
    return any(_STEPGAME.fullmatch(path.name) for path in folder.iterdir())


def is_clutrr(folder: Path) -> bool:
    """Whether a folder has files of CLUTRR."""
    return any(_CLUTRR.fullmatch(path.name) for path in folder.iterdir())


def find_hops(name: str) -> Path:
    """The folder of a benchmark, ``stepgame`` or ``clutrr``, among the places where it may be."""
    root = cache_folder()
    has_files = is_stepgame if name == "stepgame" else is_clutrr
    for folder in (root / name, root / name / "train-2-3", root):
        if folder.is_dir() and has_files(folder):
            return folder
    raise InputError(f"{name} is not under {root}: set QRN_DATA to the folder that holds the folder {name}")


def stepgame(folder: Path) -> StoryParts:
    """StepGame in parts."""
    train: list[Story] = []
    dev: list[Story] = []
    test: list[Story] = []
    for path, says in _files(folder, _STEPGAME):
        stories = _stepgame_stories(path, says["hops"])
        tests = says["noise"] == "noise" or says["part"] == "test"
        (test if tests else train if says["part"] == "train" else dev).extend(stories)
    return StoryParts("stepgame", train, dev, test)


def clutrr(folder: Path, *, edges: bool = False) -> StoryParts:
    """CLUTRR in parts; with ``edges`` the true relations are told instead of the text."""
    train: list[Story] = []
    test: list[Story] = []
    for path, says in _files(folder, _CLUTRR):
        (train if says["part"] == "train" else test).extend(_clutrr_stories(path, edges))
    return StoryParts("clutrr edges" if edges else "clutrr", train, test=test)


def _files(folder: Path, pattern: re.Pattern[str]) -> list[tuple[Path, dict[str, str]]]:
    """The files of a benchmark and what their names say, in order of hops."""
    found = [(path, match.groupdict()) for path in folder.iterdir() if (match := pattern.fullmatch(path.name))]
    return sorted(found, key=lambda file: (int(file[1]["hops"]), file[0].name))


def _stepgame_stories(path: Path, hops: str) -> Iterator[Story]:
    with open_text(path) as file:
        records = json.load(file)
    for number, record in records.items():
        try:
            sentences, question, answer = tuple(record["story"]), record["question"], record["label"]
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: record {number} lacks a story, a question or a label") from error
        yield Story(sentences, (Question(question, answer, len(sentences)),), hops)


def _clutrr_stories(path: Path, edges: bool) -> Iterator[Story]:
    with open_text(path) as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                sentences, (a, c) = (_edges if edges else _text)(row)
                hops, answer = row["task_name"].rpartition(".")[2], row["target"]
            except (KeyError, SyntaxError, TypeError, ValueError) as error:
                raise InputError(f"{path}:{number}: this is not a row of CLUTRR") from error
            question = f"How is [{c}] related to [{a}]?"
            yield Story(sentences, (Question(question, answer, len(sentences)),), hops)


def _text(row: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, str]]:
    return tuple(split_sentences(row["story"])), ast.literal_eval(row["query"])


def _edges(row: dict[str, str]) -> tuple[tuple[str, ...], tuple[str, str]]:
    relations, pairs = ast.literal_eval(row["edge_types"]), ast.literal_eval(row["story_edges"])
    asked = ast.literal_eval(row["query_edge"])
    told = tuple(f"[P{c}] is the {relation} of [P{a}]." for relation, (a, c) in zip(relations, pairs, strict=True))
    return told, (f"P{asked[0]}", f"P{asked[1]}")
