"""Facts hidden in a book: what is asked, who answers, and the command from training to report."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT
from query_reduction_lab.experiments import long
from query_reduction_lab.experiments.long_report import long_markdown, long_picture, long_summary
from query_reduction_lab.experiments.long_results import LongResults
from query_reduction_lab.experiments.long_test import LENGTHS, WHOLE, BookReader, hidden, sampled

from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.model import StoryModel, load
from query_reduction.rivals.registry import config_to_json
from query_reduction.text.formats.babi import format_stories
from query_reduction.text.haystack import halves

BOOK = [f"And on day {number} they said nothing of it. Selah." for number in range(800)]
STORIES = worlds.generate(1, 20)
PUBLISHED = json.loads((ROOT / "results" / "long.json").read_text())


@given(words=st.sampled_from([0, 1, 9, 10, 95, 500, 100_000]), task=st.sampled_from(["1", "2"]))
def test_facts_are_hidden_in_the_half_that_no_training_saw(words: int, task: str) -> None:
    first, second = (set(half) for half in halves(BOOK))
    total = sum(len(text.split()) for text in second)
    asked = sampled(STORIES, task)
    for story, found in zip(asked, hidden(asked, BOOK, words, task), strict=True):
        added = [text for text in found.sentences if text in first | second]
        assert not first & set(added)
        assert [text for text in found.sentences if text not in second] == list(story.sentences)
        count = sum(len(text.split()) for text in added)
        assert words <= count < words + 10 if words < total else count == total
        assert found.questions[0].after == len(found.sentences)
        assert found.questions[0].answer == story.questions[0].answer


def test_the_longest_text_is_the_whole_book() -> None:
    for found in hidden(sampled(STORIES, "1"), BOOK, WHOLE, "1"):
        assert [text for text in found.sentences if text in set(BOOK)] == BOOK


def test_the_sample_is_of_single_questions_and_always_the_same() -> None:
    many = worlds.generate(1, 300)
    asked = sampled(many, "1")
    assert len(asked) == 200
    assert asked == sampled(many, "1")
    assert all(len(story.questions) == 1 and story.questions[0].after == len(story.sentences) for story in asked)


@pytest.mark.parametrize("reads_all", [True, False])
def test_a_book_reader_answers_as_the_model_does(reads_all: bool) -> None:
    model = load("task1")
    assert isinstance(model, StoryModel)
    options = replace(model.task.options, memory=0, unreadable="read" if reads_all else "left-out")
    model = StoryModel(model.saved, replace(model.task, options=options))
    stories = list(hidden(sampled(STORIES, "1"), BOOK, 200, "1"))
    reader = BookReader(model, [text for story in stories for text in story.sentences], reads_all=reads_all)
    for story in stories:
        asked = story.questions[0].text
        assert reader.answer(story.sentences, asked) == model.answer_from(story.sentences, asked).text


@pytest.fixture
def small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "babi" / "en"
    folder.mkdir(parents=True)
    for part, questions in (("train", 100), ("test", 10)):
        lines = "".join(format_stories(worlds.generate(1, questions, split=part)))  # type: ignore[arg-type]
        (folder / f"qa1_small_{part}.txt").write_text(lines)
    (tmp_path / "data" / "text").mkdir()
    (tmp_path / "data" / "text" / "king-james-bible.txt").write_text("\n".join(BOOK))
    monkeypatch.setenv("QRN_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    quick = {"max_epochs": 2, "plain_epochs": 0, "stretch_epochs": 0, "hidden": 1, "hidden_after": 1, "copies": 1}
    for name, column in long.COLUMNS.items():
        own = {"max_epochs": 1, "copies": 1} if column.recipe == "best" else quick
        monkeypatch.setitem(long.COLUMNS, name, replace(column, changes=column.changes | own, questions=3))
    monkeypatch.setattr(long, "_NETWORKS", {"1": "2r8"})
    for module in ("long", "long_report"):
        monkeypatch.setattr(f"query_reduction_lab.experiments.{module}.TASKS", ("1",))
    monkeypatch.setattr("query_reduction_lab.cli.reproduce_long.TASKS", ("1",))


@pytest.mark.usefixtures("small_data")
def test_the_command_trains_asks_measures_and_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "long", "--data", "data", "--variants", "long"]) == 0
    first = json.loads(Path("results/long.json").read_text())
    assert {(cell["words"], cell["asked"]) for cell in first["cells"]} == {(words, 3) for words in LENGTHS}
    assert first["networks"]["long 1"]["settings"]["recipe"]["hidden"] == 1
    capsys.readouterr()
    assert main(["reproduce", "long", "--data", "data", "--time"]) == 0
    captured = capsys.readouterr()
    assert "long-1" not in captured.err
    stored = json.loads(Path("results/long.json").read_text())
    assert stored["cells"][: len(LENGTHS)] == first["cells"]
    assert len(stored["cells"]) == 4 * len(LENGTHS)
    assert stored["times"][0]["seconds"] > 0
    assert stored["times"][0]["megabytes"] > 10
    assert stored["book"]["lines"] == len(BOOK)
    assert "| long | " in captured.out
    assert "at most 300 MB" in Path("results/long.md").read_text()
    assert Path("results/long.svg").read_text().count("<polyline") == 4
    assert main(["reproduce", "long", "--report-only", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == stored["cells"]


@pytest.mark.usefixtures("small_data")
def test_another_book_is_refused_and_another_network_measures_again() -> None:
    assert main(["reproduce", "long", "--data", "data", "--variants", "long"]) == 0
    path = Path("results/long.json")
    stored = json.loads(path.read_text())
    stored["code"] = {"a.py": "0"}  # as earlier versions wrote
    for cell in stored["cells"]:
        cell["model"] = "0"
    path.write_text(json.dumps(stored))
    results = LongResults.load(path)
    assert len(results.cells) == len(LENGTHS)
    results.use_book(BOOK)
    with pytest.raises(InputError, match="measured with another book"):
        results.use_book(BOOK[:-1])
    assert main(["reproduce", "long", "--data", "data", "--variants", "long"]) == 0
    again = LongResults.load(path).cells
    assert {cell.words for cell in again} == set(LENGTHS)
    assert len(again) == len(LENGTHS)
    assert "0" not in {cell.model for cell in again}


def test_a_report_keeps_every_stored_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Loading needs neither the book nor the networks, and asks no source file."""
    (tmp_path / "long.json").write_text(json.dumps(PUBLISHED))
    assert main(["reproduce", "long", "--report-only", "--out", str(tmp_path)]) == 0
    for name in ("long.md", "long.svg"):
        assert (tmp_path / name).read_text() == (ROOT / "results" / name).read_text()
    assert main(["reproduce", "long", "--report-only", "--out", str(tmp_path / "empty")]) == 1
    assert "nothing was measured yet" in capsys.readouterr().err


@pytest.mark.usefixtures("small_data")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--haystack", "none.txt"], "no book at none.txt"),
        (["--variants", "short"], "not 'short'"),
        (["--tasks", "9"], "not 9"),
        (["--time"], "only long takes"),
    ],
)
def test_wrong_names_are_one_line(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", *(["qa-1k"] if "--time" in options else ["long"]), *options]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.usefixtures("small_data")
def test_a_damaged_file_of_results_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results").mkdir()
    Path("results/long.json").write_text("{")
    assert main(["reproduce", "long", "--report-only"]) == 1
    assert re.search(r"long\.json: not a file of results", capsys.readouterr().err)


@pytest.mark.parametrize("name", PUBLISHED["networks"])
def test_published_networks_were_trained_by_the_recipe_of_today(name: str) -> None:
    stored = PUBLISHED["networks"][name]["settings"]
    column, task = name.rsplit(" ", 1)
    made = long.setup_of(long.COLUMNS[column], task)
    # A setting that was added since has the value it had before there was one: its default.
    added = {each.name: each.default for each in fields(made.recipe) if each.name not in stored["recipe"]}
    assert stored["recipe"] | added == asdict(made.recipe)
    assert stored["network"] == config_to_json(made.network)


def test_the_report_and_the_readme_say_what_was_measured() -> None:
    results = LongResults.load(ROOT / "results" / "long.json")
    assert (ROOT / "results" / "long.md").read_text() == long_markdown(results)
    assert (ROOT / "results" / "long.svg").read_text() == long_picture(results)
    assert long_summary(results) in (ROOT / "README.md").read_text()
