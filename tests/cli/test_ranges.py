"""Every number on the command line has a range, and outside of it is one line."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

from query_reduction.cli import VERBS, main, options_of
from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals.registry import kinds
from query_reduction.settings import Between
from query_reduction.training.recipes import Recipe

NETWORKS = [kind.config for kind in kinds().values()]


def numbers_without_range(options: Any) -> list[str]:
    found = []
    for name, kind in get_type_hints(options, include_extras=True).items():
        base = get_args(kind)[0] if get_origin(kind) is Annotated else kind
        ranged = any(isinstance(entry, Between) for entry in getattr(kind, "__metadata__", ()))
        if not ranged and {int, float} & {base, *get_args(base)}:
            found.append(name)
        if is_dataclass(base):
            found += numbers_without_range(base)
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_numbers_of_a_verb_have_a_range(verb: str) -> None:
    assert not numbers_without_range(options_of(verb))


@pytest.mark.parametrize("settings", [Recipe, StoryOptions, DialogOptions, *NETWORKS])
def test_numbers_of_settings_have_a_range(settings: Any) -> None:
    assert not numbers_without_range(settings)


@pytest.mark.parametrize(
    "command",
    [
        "train --threads -1", "train --threads 257", "train --save-every nan", "train --save-every -1",
        "train --questions 0", "train --questions 99999999999", "train --seed -1", "train --l2 nan", "train --l2 -5",
        "train --forget-bias nan", "train --halve-every -3", "train --learning-rate 1e30", "train --gate-stretch nan",
        "train --gate-stretch 0.5", "train --plain-epochs -1", "train --stretch-epochs -1", "train --hidden -1",
        "train --decoys 2", "train --hidden-growth -1", "predict task1 x --out y.csv --threads -7",
        "data generate --out x --seed -1", "data generate --out x --questions -1",
        "data generate --out x --sentences 0",
        "data generate --out x --distractors nan", "data symmetries x --seed -1", "evaluate task1 --mistakes -1",
        "explain task1 --question a --sentences 0", "serve task1 --port 65536", "serve task1 --refused-seconds nan",
        "reproduce qa-1k --workers 0", "reproduce qa-1k --stack -1", "demo --seed -1",
    ],
)  # fmt: skip
def test_a_number_outside_is_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "must be a" in line
