"""Training and using models from Python: what README and notebooks do."""

from __future__ import annotations

import inspect
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import query_reduction as qr
from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.reading.stories import StoryParts
from query_reduction.text.formats.jsonl import format_stories
from query_reduction.training.progress import progress_bar
from query_reduction.training.restarts import epochs
from query_reduction.training.run import Run
from query_reduction.training.setup import setup
from query_reduction.worlds.dialogs import generate_dialogs, knowledge_rows

STORY = ["Mary went to the garden.", "John moved to the office."]
QUESTION = "Where is Mary?"


@pytest.fixture(scope="module")
def stories() -> list[qr.Story]:
    return worlds.generate(1, 300)


@pytest.fixture(scope="module")
def unseen() -> list[qr.Story]:
    return worlds.generate(1, 100, split="test")


def train(stories: list[qr.Story], **options: Any) -> qr.StoryModel:
    model = qr.train(stories, **{"restarts": 2, "max_epochs": 40, "dimension": 20, "progress": False, **options})
    assert isinstance(model, qr.StoryModel)
    return model


@pytest.fixture(scope="module")
def model(stories: list[qr.Story], unseen: list[qr.Story]) -> qr.StoryModel:
    return train(stories, test=unseen)


@pytest.fixture(scope="module")
def gru(stories: list[qr.Story], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained GRU, saved."""
    model = train(stories, network="gru", recipe="adam", learning_rate=0.02)
    return model.save(tmp_path_factory.mktemp("models") / "gru.safetensors")


@pytest.fixture
def story_path(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text("\n".join(STORY))
    return path


def test_what_is_read_is_what_was_written(tmp_path: Path, stories: list[qr.Story]) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(format_stories(stories)))
    assert qr.read(path) == qr.read(str(path)) == stories
    with pytest.raises(InputError, match=r"absent\.jsonl"):
        qr.read(tmp_path / "absent.jsonl")


def test_a_trained_model_answers(model: qr.StoryModel, unseen: list[qr.Story]) -> None:
    assert repr(model) == "<StoryModel 2r20, 6 answers>"
    assert model.answer(STORY, QUESTION).text == "garden"
    asked = [(STORY, QUESTION), (STORY[1:], "Where is John?")]
    assert [answer.text for answer in model.answer_many(asked)] == ["garden", "office"]
    scores = model.evaluate(unseen)
    assert scores.error < 10
    assert scores.questions == 100
    assert scores.errors == {"answer": {"1": scores.error}}
    assert model.card["test_error"] == scores.error
    assert model.card["test_errors"] == scores.errors


def test_an_explanation_shows_itself(model: qr.StoryModel) -> None:
    trace = model.explain(STORY, QUESTION)
    assert isinstance(trace, qr.Trace)
    answer = model.answer(STORY, QUESTION)
    same = trace.result
    assert (same.text, same.unknown_words) == (answer.text, answer.unknown_words)
    assert same.confidence == pytest.approx(answer.confidence, abs=1e-5)
    assert [text for text, _ in same.runners_up] == [text for text, _ in answer.runners_up]
    assert "Mary went to the garden." in trace._repr_html_()
    assert trace.ranking()[0] == 0
    assert trace.ending_here is not None
    quick = model.explain(STORY, "Where is Zaphod?", endings=False)
    assert quick.ending_here is None
    assert quick.unknown_words == ("Zaphod",)


@pytest.mark.parametrize("name", ["model.safetensors", "folder"])
def test_saved_and_loaded(model: qr.StoryModel, tmp_path: Path, name: str) -> None:
    file = model.save(tmp_path / name)
    assert file.suffix == ".safetensors"
    for place in (tmp_path / name, str(tmp_path / name)):
        again = qr.load(place)
        assert isinstance(again, qr.StoryModel)
        assert again.answer(STORY, QUESTION) == model.answer(STORY, QUESTION)
        assert again.card == json.loads(json.dumps(model.card))
    with pytest.raises(InputError, match="cannot write"):
        model.save(file / "below")


def test_each_epoch_can_be_watched(stories: list[qr.Story], capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[qr.Epoch] = []
    train(stories, max_epochs=5, evaluate_every=2, on_epoch=seen.append)
    assert [(epoch.epoch, epoch.of, epoch.training) for epoch in seen] == [(n, 5, 2) for n in range(1, 6)]
    assert [epoch.dev_error is None for epoch in seen] == [True, False, False, False, False]
    assert "".join(capsys.readouterr()) == ""
    train(stories, max_epochs=2, progress=True)
    assert "".join(capsys.readouterr()) == ""  # a bar is only drawn where it can be redrawn


@pytest.mark.parametrize(("terminal", "shown"), [(True, True), (True, False), (False, True)])
def test_the_bar_is_drawn_on_terminals(stories: list[qr.Story], terminal: bool, shown: bool) -> None:
    run = Run(StoryParts("few", stories), setup("2r4", changes={"restarts": 2, "max_epochs": 2, "evaluate_every": 1}))
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    with progress_bar(run, shown=shown, console=console) as show:
        for epoch in epochs(run.trainer):
            show(epoch)
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert ("training 2 restarts" in drawn and "epoch 2/2, 2 training" in drawn) == (terminal and shown)
    assert bool(drawn) == (terminal and shown)


def test_a_folder_keeps_what_was_made(stories: list[qr.Story], tmp_path: Path) -> None:
    model = train(stories, max_epochs=2, evaluate_every=1, folder=tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"model.safetensors", "result.json", "curves.jsonl"}
    assert json.loads((tmp_path / "run" / "result.json").read_text())["chosen_restart"] == model.card["chosen_restart"]
    again = qr.load(tmp_path / "run")
    assert isinstance(again, qr.StoryModel)
    assert again.answer(STORY, QUESTION) == model.answer(STORY, QUESTION)


def test_same_seed_same_model(stories: list[qr.Story]) -> None:
    one, other = (train(stories, max_epochs=3, seed=4).answer(STORY, QUESTION) for _ in range(2))
    assert one == other


def test_development_stories_are_not_trained_on(stories: list[qr.Story]) -> None:
    card = train(stories, dev=worlds.generate(1, 50, split="valid"), max_epochs=1).card
    assert card["questions"] == {"train": 300, "dev": 50, "test": 0}
    # The example with which the page opens is one the network was not trained on.
    held_out = worlds.generate(1, 50, split="valid")[0]
    assert card["example"]["sentences"] == list(held_out.sentences[: held_out.questions[-1].after])
    assert card["example"]["answer"] == held_out.questions[-1].answer
    assert card["test_error"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"network": "2x"}, "no network '2x'"),
        ({"network": "2rc"}, "'c' is for dialogs and has no effect on stories"),
        ({"recipe": "bets"}, "no recipe 'bets'"),
        ({"restarts": 0}, "restarts must be a whole number from 1 to 10000, not 0"),
        ({"max_epoch": 3}, "no setting 'max_epoch'; choose from"),
        ({"marks": "speaker"}, "marks has no effect on stories"),
        ({"network": "gru", "tied": False}, "tied has no effect on network gru"),
        ({"kind": "riddles"}, "kind: it must be stories or dialogs, not 'riddles'"),
        ({"knowledge": [("a", "b", "c")]}, "knowledge: it has no effect on stories"),
    ],
)
def test_errors_name_arguments(stories: list[qr.Story], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        train(stories, **options)
    assert message in str(caught.value)
    assert "--" not in str(caught.value)


def test_errors_about_stories(model: qr.StoryModel) -> None:
    with pytest.raises(InputError, match=r"stories: it must be a list of Story objects, not 'stories.jsonl'; use read"):
        qr.train("stories.jsonl", progress=False)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 training questions are too few"):
        qr.train([], progress=False)
    with pytest.raises(InputError, match="stories: there are no questions"):
        model.evaluate([])
    with pytest.raises(InputError, match=r"^question: it is empty"):
        model.explain(STORY, "")


def test_every_argument_is_documented() -> None:
    text = inspect.getdoc(qr.train) or ""
    for name in ("dev", "stories", "test", "recipe", "knowledge", "folder"):
        assert f"``{name}``" in text


def test_a_dialog_model_responds() -> None:
    dialogs = generate_dialogs(1, 60)
    model = qr.train(
        dialogs, network="2rc", kind="dialogs", knowledge=knowledge_rows(), restarts=1, max_epochs=12, progress=False
    )
    assert isinstance(model, qr.DialogModel)
    hello = model.respond([], "hi")
    assert isinstance(hello, qr.Response)
    assert hello.text == "hello what can i help you with today"
    asked = model.respond(["hi", hello.text], "may i have a table")
    assert asked.text == "i'm on it"
    assert 0 < asked.confidence <= 1
    scores = model.evaluate(generate_dialogs(1, 20, split="unseen"))
    assert set(scores.errors) == {"exact match", "per slot", "per dialog"}
    with pytest.raises(InputError, match=r"^history: user and system take turns"):
        model.respond(["hi"], "hello")
    with pytest.raises(InputError, match=r"^history: it must be a list of texts"):
        model.respond("hi", "hello")


def test_a_gru_is_trained_saved_and_asked(
    gru: Path, unseen: list[qr.Story], story_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = qr.load(gru)
    assert isinstance(model, qr.StoryModel)
    assert model.network_name == "gru"
    assert model.evaluate(unseen).error < 65  # by chance it is 83
    given = model.answer(STORY, QUESTION)
    assert main(["ask", str(gru), "--story", str(story_path), "--question", QUESTION, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["text"] == given.text
    assert "trace" not in said
    assert main(["ask", str(gru), "--story", str(story_path), "--question", QUESTION]) == 0
    assert given.text in capsys.readouterr().out


def test_a_gru_has_nothing_to_explain(gru: Path, story_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = qr.load(gru)
    assert isinstance(model, qr.StoryModel)
    nothing = "nothing to show: it does not record how much it reads of each sentence"
    with pytest.raises(InputError, match=nothing):
        model.explain(STORY, QUESTION)
    assert main(["explain", str(gru), "--story", str(story_path), "--question", QUESTION]) == 1
    error = capsys.readouterr().err
    assert nothing in error
    assert error.count("\n") == 1


def test_a_gru_is_trained_and_evaluated_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--restarts", "1", "--max-epochs", "2", "--evaluate-every", "1", "--questions", "50", "--json"]
    run = str(tmp_path / "run")
    assert main(["train", "--task", "1", "--network", "gru", "--reads", "words", "--out", run, *options]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["network"] == "gru"
    assert result["settings"]["network"] == {"network": "gru", "layers": 1, "dimension": 50, "reads": "words"}
    assert main(["evaluate", run, "--task", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] == result["test_error"]
    assert main(["evaluate", run, "--task", "1", "--explanations"]) == 1
    assert "nothing to score" in capsys.readouterr().err
