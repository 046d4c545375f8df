"""Words of a command line become options; mistakes are one line, and help is made of docstrings."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.cli import main, options_of, verbs
from query_reduction.cli.arguments import POSITIONAL, Named, options_in, parse_arguments
from query_reduction.cli.reference import field_docs, help_text

OPTIONS = {verb: options_of(verb) for verb in verbs()}
MODEL = field_docs(OPTIONS["ask"])["model"]


@dataclass(frozen=True)
class Inner:
    """Sizes."""

    width: int = 3
    """How wide."""
    exact: bool = False
    """Or not."""


@dataclass(frozen=True)
class Everything:
    """One option of every kind."""

    first: Annotated[str, POSITIONAL]
    """The first."""
    rest: Annotated[tuple[str, ...], POSITIONAL] = ()
    """All others."""
    number: int = 1
    """A number."""
    share: float | None = None
    """A share."""
    path: Path | None = None
    """Where."""
    way: Literal["one", "other"] = "one"
    """Which way."""
    ways: tuple[Literal["one", "other"], ...] = ()
    """Several."""
    shown: bool = True
    """Whether it is shown."""
    from_here: Annotated[str, Named("from")] = ""
    """Whence."""
    inner: Inner = field(default_factory=Inner)
    """Sizes."""


def parse(*words: str) -> Everything:
    found = parse_arguments(Everything, words, "qrn")
    assert isinstance(found, Everything)
    return found


def test_every_kind_of_option() -> None:
    words = "a --number -3 --share 0.5 --path x/y --way other --ways one other --no-shown --from b --width 7 --exact"
    expected = Everything("a", (), -3, 0.5, Path("x/y"), "other", ("one", "other"), False, "b", Inner(7, True))
    assert parse(*words.split()) == expected
    assert parse("a") == Everything("a")


def test_options_stand_anywhere() -> None:
    expected = Everything("a", ("b", "c"), number=2, shown=False)
    assert parse("--number", "2", "a", "--no-shown", "b", "c") == expected
    assert parse("a", "b", "--number=2", "c", "--no-shown") == expected
    assert parse("--no_shown", "a", "b", "c", "--number", "2") == expected
    assert parse("-").first == "-"


@given(st.text(st.characters(exclude_characters="\0"), min_size=1), st.integers(), st.floats(allow_nan=False))
def test_values_come_through(text: str, number: int, share: float) -> None:
    # An equals sign keeps a value that looks like an option from being taken for one.
    found = parse("a", f"--from={text}", f"--number={number}", f"--share={share}")
    assert (found.from_here, found.number, found.share) == (text, number, share)


@given(st.sampled_from(sorted(set(OPTIONS) - {"train"})), st.lists(st.sampled_from(["x", "-", "3", "--json", "--a b"])))
def test_a_command_is_understood_or_answered_with_one_line(verb: str, words: list[str]) -> None:
    try:
        parse_arguments(OPTIONS[verb], words, f"qrn {verb}")
    except SystemExit as ended:
        assert ended.code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("task2 --stroy x", "no option --stroy; did you mean --story?"),
        ("task2 --no-gate", "no option --no-gate; did you mean --no-gates?"),
        ("task2 --zzz=3", "no option --zzz"),
        ("task2 Mary", "one argument too many: 'Mary'"),
        ("task2 --story", "--story needs a value"),
        ("task2 --story --json", "--story needs a value"),
        ("task2 --json=yes", "--json takes no value"),
        ("--story x --question y", f"MODEL is missing: {MODEL}"),
    ],
)
def test_a_mistake_is_one_line(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said_of("ask", arguments, capsys) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--split half", "--split must be one of question, story, not 'half'"),
        ("--learning-rate fast", "--learning-rate must be a number, not 'fast'"),
        ("--max-epochs 1.5", "--max-epochs must be a whole number, not '1.5'"),
        ("--vector-gates perhaps", "--vector-gates must be yes or no, not 'perhaps'"),
        ("--normalise perhaps", "--normalise must be yes, after, before or no, not 'perhaps'"),
        ("--restart 3", "no option --restart; did you mean --restarts?"),
        ("--set l2", "--set takes NAME=VALUE, not 'l2'"),
        ("--set l3=1", "--set: no setting 'l3'; did you mean l2?"),
        ("--set l2=much", "--set: l2 must be a number, not 'much'"),
        ("--set json=yes", "--set: no setting 'json'"),
        ("--max-epochs " + "9" * 5000, f"--max-epochs must be a whole number, not '{'9' * 56}..."),
    ],
)
def test_a_wrong_setting_is_said_in_plain_words(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_of("train", arguments, capsys) == message


def test_a_setting_is_given_by_its_option_or_its_name() -> None:
    def settings(*words: str) -> Any:
        return parse_arguments(OPTIONS["train"], words, "qrn train").settings

    assert settings() == {}
    assert settings("--max-epochs", "3", "--tied", "no", "--decode-questions") == {
        "max_epochs": 3,
        "tied": False,
        "decode_questions": True,
    }
    assert settings("--set", "max_epochs=3", "--set", "tied=no") == {"max_epochs": 3, "tied": False}
    assert settings("--normalise", "after") == {"normalise": "after"}
    assert settings("--set", "normalise=no", "--shut-below", "-3.5") == {"normalise": False, "shut_below": -3.5}


@pytest.mark.parametrize("verb", OPTIONS)
def test_help_has_an_example_and_speaks_of_no_types(verb: str) -> None:
    shown = help_text(OPTIONS[verb], f"qrn {verb}")
    assert f"\n    qrn {verb}" in shown
    assert "--json" in shown
    for word in ("None", "INT", "STR", "FLOAT"):
        assert not re.search(rf"\b{word}\b", shown)


def test_the_example_of_a_verb_is_a_command_of_it() -> None:
    for verb, options in OPTIONS.items():
        for line in help_text(options, f"qrn {verb}").splitlines():
            words = line.strip().partition("|")[0].split()
            if line.startswith("    qrn ") and words[1 : 1 + len(verb.split())] == verb.split():
                assert parse_arguments(
                    options, re.findall(r'"[^"]*"|\S+', " ".join(words))[1 + len(verb.split()) :], ""
                )


def test_help_on_training_fits_on_two_screens_and_loads_no_network() -> None:
    code = (
        "import sys; from query_reduction.cli import main\ntry: main(['train', '--help'])\n"
        "except SystemExit: pass\nprint([name for name in sys.modules if name == 'torch' or '.rivals.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"COLUMNS": "80"})
    *shown, loaded = done.stdout.splitlines()
    assert loaded == "[]"
    assert len(shown) <= 60
    assert sum(line.startswith("  --") for line in shown) <= 18


def test_help_on_everything_has_every_option_network_and_recipe() -> None:
    shown = help_text(OPTIONS["train"], "qrn train", everything=True)
    for option in options_in(OPTIONS["train"], everything=True):
        assert f"  {option.flag}" in shown
    for part in ("\nnetwork:", "\nreading:", "\ntraining:", "\nsettings of rivals:", "\n  memn2n: ", "\n  joint: "):
        assert part in shown


def test_what_may_be_left_out_is_in_brackets() -> None:
    assert help_text(Everything, "qrn").startswith("usage: qrn FIRST [REST ...] [options]\n")


def test_help_all_of_a_verb_without_settings_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--help", "--help-all", "-h"):
        with pytest.raises(SystemExit) as ended:
            main(["ask", option])
        assert ended.value.code == 0
        assert "usage: qrn ask MODEL [options]" in capsys.readouterr().out


def said_of(verb: str, arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a mistake, without the command's name and the hint at its help."""
    with pytest.raises(SystemExit) as ended:
        parse_arguments(OPTIONS[verb], arguments.split(), f"qrn {verb}")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    start, end = f"qrn {verb}: ", f" (see qrn {verb} --help)\n"
    assert said.startswith(start)
    assert said.endswith(end)
    return said.removeprefix(start).removesuffix(end)
