from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.names import Symmetries
from query_reduction.names.units import Units

WORD = st.text(st.characters(categories=["Ll", "Lo"]), min_size=1, max_size=5)


@st.composite
def symmetries(draw: st.DrawFn) -> Symmetries:
    words = draw(st.lists(WORD, min_size=10, max_size=10, unique=True))
    return Symmetries(
        kinds=(tuple(words[:2]), (words[2], f"{words[3]} {words[4]}")),
        tables=(((words[5], words[6]), (words[7], f"{words[7]}#2")),),
        couplings=(((words[8], words[9]),),),
        units=Units(frozenset({(words[3], words[4])}), {words[7]: {("sentence", words[0], ""): 1}}),
        contexts={f"@question {words[0]} @_": (0, 3)},
        written={words[0]: words[0].upper()},
        lending=((words[0], words[1], words[9]), (words[2],)),
    )


@given(symmetries())
def test_what_is_stored_is_read_again(found: Symmetries) -> None:
    assert Symmetries.from_json(json.loads(json.dumps(found.as_json()))) == found


def _empty(**changes: Any) -> dict[str, Any]:
    return {**Symmetries().as_json(), **changes}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        _empty(more=1),
        _empty(kinds="ab"),
        _empty(kinds=[["a", 1]]),
        _empty(kinds=[["a", "b"], ["b", "c"]]),
        _empty(kinds=[["a", ""]]),
        _empty(kinds=[["a" * 5000, "b"]]),
        _empty(kinds=[["a", "b"]] * 30_000),
        _empty(tables=[[["a", "b"], ["c"]]]),
        _empty(couplings=[[["a", "b"], ["b", "c"]]]),
        _empty(couplings=[[["a"]]]),
        _empty(couplings=[[]]),
        _empty(phrases=["one"]),
        _empty(columns={"a": [["elsewhere", "", "", 0]]}),
        _empty(columns={"a": [["sentence", "", "", -1]]}),
        _empty(contexts={"@_": [0]}),
        _empty(written={"a": ""}),
        _empty(lending=[["a", "b"], ["b"]]),
        _empty(lending=[["a", ""]]),
        _empty(told_of=[0]),
        _empty(names={"a": ""}),
        _empty(names={"a": 1}),
        _empty(rules=[["sentence\ta\t0", 0]]),
        _empty(rules=[["sentence\ta\t1", 0, {}]]),
        _empty(rules=[["sentence\ta\t0", 9, {}]]),
    ],
)
def test_anything_else_is_refused_in_one_line(data: object) -> None:
    with pytest.raises(InputError, match="symmetries cannot be read") as refused:
        Symmetries.from_json(data)
    assert "\n" not in str(refused.value)
