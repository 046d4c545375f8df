"""Plain commands are understood as tyro understands them."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.cli import VERBS, options_of
from query_reduction.cli.options import parse_by_tyro, parse_options, parse_plainly

OPTIONS = {verb: options_of(verb) for verb in VERBS}
WORDS = ["task2", "-", "a b", "3", "-3", "None", "", "--", "yes", "x=y", "~/story.txt", "Wo ist Mary?", "٣"]


@st.composite
def commands(draw: st.DrawFn) -> tuple[str, list[str]]:
    verb = draw(st.sampled_from(sorted(OPTIONS)))
    names = [field.name.replace("_", "-") for field in fields(OPTIONS[verb])]
    word = st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from([f"--{name}" for name in names] + [f"--no-{name}" for name in names]),
    )
    return verb, draw(st.lists(word, max_size=7))


@given(commands())
def test_what_is_plain_means_the_same_to_tyro(command: tuple[str, list[str]]) -> None:
    verb, arguments = command
    found = parse_plainly(options_of(verb), arguments)
    if found is not None:
        assert found == parse_by_tyro(options_of(verb), arguments, "qrn")


@pytest.mark.parametrize(
    "command",
    [
        "ask task2 --story story.txt --question why",
        "ask --question why --story - task2 --no-gates --json",
        "explain task2 --question why --story story.txt --sentences 3 --html page.html",
        "predict task2 questions.csv --out answers.jsonl --threads 2",
        "chat dialog --kb places.txt",
        "chat dialog",
    ],
)
def test_usual_commands_are_plain(command: str) -> None:
    verb, *arguments = command.split()
    assert parse_plainly(options_of(verb), arguments) is not None


def test_help_comes_from_tyro(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_options(options_of("ask"), ["--help"], "qrn ask")
    assert "usage: qrn ask" in capsys.readouterr().out
