"""The paper's gate figures, read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from query_reduction_lab.experiments import figures
from query_reduction_lab.experiments.plan import Variation
from query_reduction_lab.experiments.published import FigureSource, PublishedFigure, published
from query_reduction_lab.experiments.table_recipes import RECIPES

from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.text.formats.babi import format_stories

WHOLE = [figure for figure in published().figures if figure.source is None]
EXCERPTS = [figure for figure in published().figures if figure.source is not None]


@pytest.fixture
def small_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "babi" / "en"
    folder.mkdir(parents=True)
    for task in (2, 15):
        for part, questions in (("train", 40), ("test", 10)):
            lines = "".join(format_stories(worlds.generate(task, questions, split=part)))  # type: ignore[arg-type]
            (folder / f"qa{task}_small_{part}.txt").write_text(lines)
    monkeypatch.setenv("QRN_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("small_data")
def test_the_command_reads_the_paper_s_own_stories(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(
        RECIPES, "original", Variation("quick", changes={"batch": 8, "max_epochs": 2, "evaluate_every": 2})
    )
    monkeypatch.setattr(figures, "published", lambda: replace(published(), figures=tuple(WHOLE)))
    command = ["reproduce", "figures", "--restarts", "1", "--data", "data", "--json"]
    assert main(command) == 0
    drawn = json.loads(capsys.readouterr().out)["figures"]
    assert [figure["task"] for figure in drawn] == ["2", "15"]
    for figure, paper in zip(drawn, WHOLE, strict=True):
        assert [(row["sentence"], tuple(row["paper"])) for row in figure["excerpt"]] == list(paper.excerpt)
        assert all(0 <= gate <= 1 and len(row["ours"]) == 4 for row in figure["excerpt"] for gate in row["ours"])
        assert Path(f"results/figures/{figure['name']}.html").is_file()
        assert figure["network"]["restarts"] == 1
    assert "Daniel went to the hallway." in Path("results/figures/figures.md").read_text()
    assert main(command) == 0
    assert "training" not in capsys.readouterr().err


@pytest.mark.usefixtures("small_data")
def test_other_data_than_the_published_is_said() -> None:
    missing = replace(WHOLE[0], question="Where is the moon?", source=FigureSource("test", 0, 0))
    with pytest.raises(InputError, match="babi task 2 is not as published"):
        figures.story_of(missing)
    with pytest.raises(InputError, match="babi task 2 is not as published"):
        figures.places_of(missing, ["Mary went to the garden."])


@pytest.mark.parametrize("figure", EXCERPTS, ids=lambda figure: figure.name)
def test_excerpts_are_in_the_published_data(
    figure: PublishedFigure, real_babi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QRN_DATA", str(real_babi.parent))
    story = figures.story_of(figure)
    assert (story.questions[-1].text, story.questions[-1].answer) == (figure.question, figure.answer)
    places = figures.places_of(figure, story.sentences)
    assert places == sorted(set(places))
    assert [story.sentences[place] for place in places] == [sentence for sentence, _ in figure.excerpt]


def test_repeated_sentences_are_the_latest_that_fit() -> None:
    figure = replace(WHOLE[0], excerpt=(("a", (0.0,)), ("b", (0.0,)), ("a", (0.0,))))
    assert figures.places_of(figure, ["a", "b", "a", "c", "b", "b", "a"]) == [2, 5, 6]
