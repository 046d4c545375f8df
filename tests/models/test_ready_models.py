"""Models that come with the package: found by name, small, with a card that says where they come from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from small_networks import saved_story_model

import query_reduction
from query_reduction import models as models
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.model import StoryModel
from query_reduction.model_file import load_model, save_model
from query_reduction.models import ReadyModel, find_model, ready_models, size_limit
from query_reduction.worlds import TASKS, generate

from .own_stories import OWN_STORIES


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of ready models with three tiny ones."""
    folder = tmp_path / "shelf"
    card = {"title": "Single supporting fact", "network": "1r4", "errors": {"generated": 1.5}}
    model = saved_story_model("1r4", generate(1, 20), card=card)
    for name in ("task10", "task2", "joint"):
        save_model(folder / f"{name}.safetensors", model)
    monkeypatch.setattr(models, "FOLDER", folder)
    return folder


def test_found_by_name(shelf: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_model("task2") == shelf / "task2.safetensors"
    assert story_model("task2").answer(["Mary went to the office."], "Where is Mary?").text
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task2").mkdir()
    assert find_model("task2") == Path("task2")  # what is there comes before what came with the package


@pytest.mark.parametrize("name", ["task99", "./task2", "task2.safetensors"])
def test_other_names_are_not_found(shelf: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="task2, task10, joint"):
        find_model(name)


def test_listed_in_order(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [model.name for model in ready_models()] == ["task2", "task10", "joint"]
    assert main(["models", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["models"]
    assert listed[0]["card"]["errors"] == {"generated": 1.5}
    assert listed[0]["bytes"] == (shelf / "task2.safetensors").stat().st_size
    assert main(["models"]) == 0
    assert "task10" in capsys.readouterr().out


SHIPPED = ready_models()


@pytest.mark.parametrize("model", SHIPPED, ids=[model.name for model in SHIPPED])
def test_what_ships_is_small_and_says_where_it_comes_from(model: ReadyModel) -> None:
    assert model.size <= size_limit(model.name)
    assert model.card["title"]
    assert model.card["command"]
    assert model.card["commit"]
    assert len(model.card["data"]["sha256"]) == 64
    assert 0 <= model.card["errors"]["generated"] <= 100
    assert "/" not in model.card["command"].split()[0]
    saved = load_model(model.path)
    if saved.task.kind == "stories":
        tasks = [int(task) for task in model.card["test_errors"]["answer"]]
        assert all(task in TASKS for task in tasks)
        story = generate(tasks[-1], 5, split="test")[0]
        question = story.questions[-1]
        assert not saved.task.vocabulary.unknown_words([*story.sentences, question.text])


def test_all_were_made_by_clean_commits_and_those_of_single_tasks_by_one() -> None:
    commits = {model.name: model.card["commit"] for model in SHIPPED}
    assert all(re.fullmatch("[0-9a-f]{40}", commit) for commit in commits.values())
    del commits["joint"]  # its recipe was found after the others were made
    assert len(set(commits.values())) == 1


def test_the_model_of_all_tasks_has_solved_them_all() -> None:
    card = next(model.card for model in SHIPPED if model.name == "joint")
    assert card["errors"]["published"] <= 0.5
    assert max(card["published_error_by_task"].values()) <= 5


@pytest.mark.parametrize(
    "model",
    [pytest.param(model, id=model.name, marks=pytest.mark.slow if model.name == "joint" else ()) for model in SHIPPED],
)
def test_evaluating_one_gives_the_error_of_its_card(model: ReadyModel, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", model.name, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["error"] == pytest.approx(model.card["errors"]["generated"], abs=0.05)


@pytest.mark.parametrize(("name", "story", "question", "answer"), OWN_STORIES)
def test_short_stories_of_ones_own(name: str, story: str, question: str, answer: str) -> None:
    """Shorter than any published one: what people type first."""
    assert story_model(name).answer(_sentences(story), question).text == answer


def test_the_model_of_all_tasks_answers_nearly_all_of_them() -> None:
    joint = story_model("joint")
    asked = [(_sentences(story), question) for _, story, question, _ in OWN_STORIES]
    given = [answer.text for answer in joint.answer_many(asked)]
    wrong = [question for (_, _, question, answer), text in zip(OWN_STORIES, given, strict=True) if text != answer]
    assert len(wrong) <= 1, wrong


def story_model(name: str) -> StoryModel:
    model = query_reduction.load(name)
    assert isinstance(model, StoryModel)
    return model


def _sentences(story: str) -> list[str]:
    return [f"{sentence}." for sentence in story.removesuffix(".").split(". ")]


def test_a_model_of_two_tasks_reads_new_names_by_the_one_they_fit() -> None:
    """In task 1 only people are asked for, so "the kimono" could be one: but nobody there gets anything."""
    story = ["Mrs Brown got the kimono there.", "Mrs Brown moved to the loading dock.", "Zoë went to the boathouse."]
    answer = story_model("task2").answer(story, "Where is the kimono?")
    assert answer.text == "loading dock" and not answer.omitted and not answer.unmentioned
    assert story_model("task2").answer(story, "Where is Zoë?").text == "boathouse"


@pytest.mark.parametrize(
    ("name", "story", "question", "answer", "left_out"),
    [
        ("task2", "The nurse went to ward 3. Then she went to ward 5.", "Where is the nurse?", "ward 3", (1,)),
        ("task2", "Zoë went to the office. Then Zoë went to ward 5.", "Where is Zoë?", "ward 5", ()),
        ("task5", "Bill gave the milk to Fred. Bill gave the milk to him.", "Who received the milk?", "Fred", (1,)),
        ("task11", "Mary went to the office. Later she went to ward 5.", "Where is Mary?", "ward 5", ()),
        ("task13", "Mary and John went to the office. Soon they went to ward 5.", "Where is John?", "ward 5", ()),
        (
            "task13",
            "Mary and John went to the office. Then they went to ward 5. Then she went to the park.",
            "Where is John?",
            "ward 5",
            (2,),
        ),
        ("joint", "Mary went to the office. Later she went to ward 5.", "Where is Mary?", "ward 5", ()),
    ],
)
def test_pronouns_are_read_by_those_that_know_them(
    name: str, story: str, question: str, answer: str, left_out: tuple[int, ...]
) -> None:
    found = story_model(name).answer(story, question)
    assert found.text == answer and found.omitted == left_out and not found.is_guess
    assert not any(word in read.lower().split() for read, _ in found.substituted for word in ("she", "him"))
