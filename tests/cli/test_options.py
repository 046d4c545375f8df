"""Plain commands are understood as tyro understands them."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.cli import VERBS, options_of
from query_reduction.cli.options import in_one_line, parse_by_tyro, parse_options, parse_plainly

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("task2 --stroy x", "unrecognized options: --stroy, x; did you mean --story?"),
        ("task2 Mary", "unrecognized options: Mary"),
        ("task2 --story", "missing value for argument '--story'. Expected 1 values"),
    ],
)
def test_a_mistake_is_one_line(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(options_of("ask"), arguments.split(), "qrn ask")
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"qrn ask: {message} (see qrn ask --help)\n"


def test_what_is_not_in_a_box_is_passed_on() -> None:
    assert in_one_line("something else\n") == "something else"
