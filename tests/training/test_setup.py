"""From names to settings: what is chosen by name, by preset, by data, one by one; and what would have no effect."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError
from query_reduction.qrn.network import QRNConfig
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals import registry
from query_reduction.rivals.gru import GRUConfig
from query_reduction.rivals.lstm import LSTMConfig
from query_reduction.rivals.registry import kinds
from query_reduction.training.presets import PRESETS, NetworkChanges, ReadingChanges
from query_reduction.training.setup import options_of, own_setup, setup


@pytest.mark.parametrize("name", ["2r", "1v", "3d5", "6r200", "gru", "lstm", "dnc"])
@pytest.mark.parametrize("recipe", [name for name in PRESETS if name not in ("best", "joint", "long")])
@pytest.mark.parametrize("suffix", ["", "+", "c"])
def test_names_come_back(name: str, recipe: str, suffix: str) -> None:
    assert setup(name + suffix, recipe, kind="dialogs").name == name + suffix
    assert setup(name, recipe).name == name


def test_suffixes_are_for_dialogs() -> None:
    plain, match, copying = (setup(name, kind="dialogs").task for name in ("2r", "2r+", "2rc"))
    assert plain == DialogOptions()
    assert match == DialogOptions(match="original")
    assert copying == DialogOptions(copying=True)
    for name in ("2r+", "2rc", "gru+"):
        with pytest.raises(InputError, match=re.escape(f"{name[-1]!r} is for dialogs and has no effect on stories")):
            setup(name)


@pytest.mark.parametrize("name", ["", "+", "c", "grue", "2r++", "2r+c", "c2r"])
def test_wrong_names(name: str) -> None:
    with pytest.raises(InputError, match="no network"):
        setup(name, kind="dialogs")
    with pytest.raises(InputError, match="no recipe 'bets'; choose from original, paper, adam, best"):
        setup("2r", "bets")


def test_best_is_for_stories_and_knows_its_network() -> None:
    with pytest.raises(InputError, match="best, joint and long are for stories"):
        setup("2r", "best", kind="dialogs")
    tried = own_setup(None, "best", kind="stories", questions=1000)
    assert (tried.name, tried.recipe.copies, tried.recipe.split) == ("3rv100", 10, "story")
    assert own_setup(None, "original", kind="stories", questions=1000).name == "2r"


@pytest.mark.parametrize(("questions", "copies", "drawn"), [(2000, 18, 0), (20_000, 2, 0), (200_000, 1, 36_000)])
def test_several_tasks_get_as_many_stories_however_many_there_are(questions: int, copies: int, drawn: int) -> None:
    found = own_setup(None, "joint", kind="stories", questions=questions)
    assert (found.recipe.copies, found.recipe.focus_questions, found.recipe.restarts) == (copies, drawn, 1)
    assert isinstance(found.network, QRNConfig)
    assert found.network.position_length == "sentence"


def test_a_preset_changes_what_a_network_has() -> None:
    adam = setup("3r", "adam").network
    assert adam == QRNConfig(layers=3, init="open", forget_bias=0.0)
    assert setup("gru", "adam").network == GRUConfig()
    assert setup("lstm", "adam").network == LSTMConfig(forget_bias=0.0)
    paper = setup("2r", "paper")
    assert paper.network == QRNConfig(init="paper", position_length="sentence")
    assert paper.task == StoryOptions(memory=0)
    assert setup("2r", "paper", kind="dialogs").task == DialogOptions(memory=0)


@pytest.mark.parametrize("recipe", [name for name in PRESETS if name not in ("best", "joint", "long")])
@pytest.mark.parametrize("questions", [10, 4999, 5000, 10_000])
@pytest.mark.parametrize("kind", ["stories", "dialogs"])
def test_a_preset_knows_size_and_kind(recipe: str, questions: int, kind: str) -> None:
    found = setup("2r", recipe, kind=kind, questions=questions)
    assert found.recipe == PRESETS[recipe].recipe(questions, kind)
    assert isinstance(found.task, options_of(kind))


def test_what_a_preset_may_change_exists() -> None:
    def names(settings: type) -> set[str]:
        return {field.name for field in fields(settings)}

    assert names(NetworkChanges) <= names(QRNConfig)
    assert names(ReadingChanges) <= names(StoryOptions)


def test_a_misspelt_published_setting_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._KINDS, "gru", replace(kinds()["gru"], recipe={"lerning_rate": 0.1}))
    with pytest.raises(TypeError, match="network gru: its published recipe has 'lerning_rate', which is no setting"):
        setup("gru")


def test_single_settings_win() -> None:
    changes = {"dimension": 8, "memory": 7, "max_epochs": 3, "forget_bias": 1.0}
    found = setup("2r", "adam", changes=changes)
    assert (found.network.dimension, found.network.forget_bias) == (8, 1.0)
    assert found.task.memory == 7
    assert (found.recipe.max_epochs, found.recipe.optimiser) == (3, "adam")
    assert found.name == "2r8"


@pytest.mark.parametrize(
    ("network", "kind", "setting", "message"),
    [
        ("2r", "stories", "marks", "^marks has no effect on stories$"),
        ("2r", "stories", "copying", "^copying has no effect on stories$"),
        ("gru", "stories", "tied", "^tied has no effect on network gru; those that have it: qrn$"),
        (
            "2r",
            "dialogs",
            "reads",
            "^reads has no effect on network 2r; those that have it: gru, lstm, scrn, t-gru, t-lstm, t-rnn$",
        ),
        ("gru", "stories", "forget_bias", "^forget_bias has no effect on network gru; those that have it: lstm, qrn$"),
        ("2r", "stories", "epochs", "^no setting 'epochs'; choose from .*max_epochs"),
    ],
)
def test_settings_without_effect_are_errors(network: str, kind: str, setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        setup(network, kind=kind, changes={setting: 1})


def test_values_are_checked() -> None:
    with pytest.raises(InputError, match=r"^layers must be a whole number from 1 to 64, not 65$"):
        setup("65r")
    with pytest.raises(InputError, match=r"^restarts must be"):
        setup("2r", changes={"restarts": 0})
    with pytest.raises(InputError, match="match has no effect with copying"):
        setup("2rc", kind="dialogs", changes={"match": "paper"})
