"""Plain commands are understood as tyro understands them."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.cli import VERBS, options_of
from query_reduction.cli.mistakes import in_one_line
from query_reduction.cli.options import parse_by_tyro, parse_options, parse_plainly
from query_reduction.cli.settings import field_docs

OPTIONS = {verb: options_of(verb) for verb in VERBS}
MODEL = field_docs(OPTIONS["ask"])["model"]
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
        ("task2 --story", "--story needs a value"),
        ("--story x --question y", f"MODEL is missing: {MODEL}"),
    ],
)
def test_a_mistake_is_one_line(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said_of("ask", arguments, capsys) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--split half", "--split must be one of 'question', 'story', not 'half'"),
        ("--learning-rate fast", "--learning-rate must be a number, not 'fast'"),
        ("--max-epochs 1.5", "--max-epochs must be a whole number, not '1.5'"),
        ("--vector-gates perhaps", "--vector-gates must be yes or no, not perhaps"),
    ],
)
def test_a_wrong_setting_is_said_in_plain_words(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_of("train", arguments, capsys) == message


@pytest.mark.parametrize("verb", OPTIONS)
def test_help_speaks_of_no_types(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_options(options_of(verb), ["--help"], f"qrn {verb}")
    shown = capsys.readouterr().out
    for word in ("None", "INT", "STR", "FLOAT"):
        assert not re.search(rf"\b{word}\b", shown)


def test_what_may_be_left_out_is_in_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_options(options_of("reproduce"), ["--help"], "qrn reproduce")
    assert "usage: qrn reproduce [-h] [OPTIONS] TABLE [CELLS]\n" in capsys.readouterr().out


def said_of(verb: str, arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a mistake, without the command's name and the hint at its help."""
    with pytest.raises(SystemExit) as ended:
        parse_options(options_of(verb), arguments.split(), f"qrn {verb}")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    start, end = f"qrn {verb}: ", f" (see qrn {verb} --help)\n"
    assert said.startswith(start)
    assert said.endswith(end)
    return said.removeprefix(start).removesuffix(end)


def test_what_is_not_in_a_box_is_passed_on() -> None:
    assert in_one_line("something else\n") == "something else"
