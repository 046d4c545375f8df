"""Settings: a value of the wrong type, out of range or of no known name is refused, by the setting's name."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals.registry import kinds
from query_reduction.settings import Between, changed, check, defaults, from_json
from query_reduction.training.recipes import Recipe


@dataclass(frozen=True, slots=True)
class Example:
    count: Annotated[int, Between(1, 10)] = 2
    rate: Annotated[float, Between(0, 1)] = 0.5
    free: float = 0.0
    tied: bool = True
    kind: Literal["a", "b"] = "a"
    name: str = ""

    def __post_init__(self) -> None:
        check(self)


REAL = [Recipe, StoryOptions, DialogOptions, *(kind.config for kind in kinds().values())]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("count", 0, "count must be a whole number from 1 to 10, not 0"),
        ("count", 11, "count must be a whole number from 1 to 10, not 11"),
        ("count", 2.0, "count must be a whole number from 1 to 10, not 2.0"),
        ("count", "2", "count must be a whole number from 1 to 10, not '2'"),
        ("count", True, "count must be a whole number from 1 to 10, not True"),
        ("count", None, "count must be a whole number from 1 to 10, not None"),
        ("rate", 1.5, "rate must be a number from 0 to 1, not 1.5"),
        ("rate", False, "rate must be a number from 0 to 1, not False"),
        ("rate", math.nan, "rate must be a number from 0 to 1, not nan"),
        ("free", math.nan, "free must be a number, not nan"),
        ("free", -math.inf, "free must be a number, not -inf"),
        ("tied", 1, "tied must be true or false, not 1"),
        ("tied", "yes", "tied must be true or false, not 'yes'"),
        ("kind", "c", "kind must be one of a, b, not 'c'"),
        ("kind", ["a"], "kind must be one of a, b, not ['a']"),
        ("kind", {}, "kind must be one of a, b, not {}"),
        ("name", 3, "name must be a text, not 3"),
        ("count", "x" * 1000, f"count must be a whole number from 1 to 10, not '{'x' * 56}..."),
    ],
)
def test_bad_values_are_named(name: str, value: Any, message: str) -> None:
    with pytest.raises(InputError) as made:
        Example(**{name: value})
    with pytest.raises(InputError) as altered:
        changed(Example(), {name: value})
    assert str(made.value) == str(altered.value) == message


@pytest.mark.parametrize("name", ["count", "rate", "free"])
@pytest.mark.parametrize("digits", [400, 5000])
def test_huge_numbers_are_not_spelled_out(name: str, digits: int) -> None:
    for value in (10**digits, -(10**digits)):
        with pytest.raises(InputError, match=f"{name} must be .* not a number of more than 60 digits"):
            changed(Example(), {name: value})


@given(st.integers(1, 10), st.floats(0, 1) | st.integers(0, 1), st.booleans(), st.sampled_from("ab"), st.text())
def test_good_values_survive_json(count: int, rate: float, tied: bool, kind: Any, name: str) -> None:
    settings = Example(count, rate, rate, tied, kind, name)
    assert from_json(Example, asdict(settings)) == settings


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("kind", REAL, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_whatever_a_file_says_is_taken_or_refused(kind: type, data: st.DataObject) -> None:
    known = list(asdict(defaults(kind)))
    names = (st.sampled_from(known) if known else st.nothing()) | st.text()
    values: Any = data.draw(st.dictionaries(names, _values, max_size=3) | _values)
    try:
        settings: Any = from_json(kind, values)
    except InputError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1000
    else:
        assert asdict(settings) == asdict(defaults(kind)) | values


@pytest.mark.parametrize("kind", REAL, ids=lambda kind: kind.__name__)
def test_defaults_survive_json(kind: type) -> None:
    assert from_json(kind, asdict(defaults(kind))) == defaults(kind) == from_json(kind, {})


def test_unknown_names_list_the_known_ones() -> None:
    message = "Example has no setting 'cuont'; it has count, rate, free, tied, kind, name"
    with pytest.raises(InputError, match=message):
        changed(Example(), {"cuont": 1})
    with pytest.raises(InputError, match=message):
        from_json(Example, {"cuont": 1})
    with pytest.raises(InputError, match="Example must be an object with named settings, not 3"):
        from_json(Example, 3)


def test_settings_of_earlier_versions() -> None:
    old = asdict(DialogOptions()) | {"head": "responses"}
    assert from_json(DialogOptions, old) == DialogOptions()
    with pytest.raises(InputError, match="head 'slots' is no longer supported"):
        from_json(DialogOptions, old | {"head": "slots"})
    with pytest.raises(InputError, match="has no setting 'head'"):
        changed(DialogOptions(), {"head": "responses"})


def test_what_is_not_changed_stays() -> None:
    assert changed(Example(count=7), {"kind": "b"}) == Example(count=7, kind="b")
