"""Training that goes on from a trained model: its weights, its settings, and new words and answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_networks import saved_story_model
from story_writers import write_file

import query_reduction as qr
from query_reduction import worlds
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.model_file import SavedModel
from query_reduction.rivals.registry import build_network, kinds
from query_reduction.stacked.network import Seeds, StackedNetwork, take_weights
from query_reduction.stacked.tensors import TensorBatch
from query_reduction.text.vocabulary import Vocabulary
from query_reduction.worlds.dialogs import generate_dialogs

TOLD = worlds.generate(1, 60)
NEW = [
    qr.Story(
        tuple(f"{word.replace('Mary', 'Zelda').replace('garden', 'attic')}" for word in story.sentences),
        tuple(
            replace(q, text=q.text.replace("Mary", "Zelda"), answer=q.answer.replace("garden", "attic"))
            for q in story.questions
        ),
    )
    for story in worlds.generate(1, 100, seed=3)
]
NO_STEPS: dict[str, Any] = {"learning_rate": 1e-9, "l2": 0.0, "max_epochs": 1, "evaluate_every": 1, "progress": False}


@pytest.fixture(scope="module")
def task1() -> qr.StoryModel:
    """Unlike the ready model, it takes no unknown name for a known one."""
    told = worlds.generate(1, 500)
    model = qr.train(told, recipe="adam", writing="any", restarts=1, max_epochs=20, learning_rate=0.01, progress=False)
    assert isinstance(model, qr.StoryModel)
    return model


def go_on(model: Any, **options: Any) -> qr.StoryModel:
    further = qr.train(NEW, start_from=model, **{**NO_STEPS, **options})
    assert isinstance(further, qr.StoryModel)
    return further


def test_it_begins_with_what_the_model_knows(task1: qr.StoryModel) -> None:
    further = go_on(task1)
    known, more = task1.task.vocabulary, further.task.vocabulary
    assert more.words == (*known.words, "attic", "zelda")
    assert more.answers == (*known.answers, "attic")
    assert (more.longest_sentence, more.longest_story) == (known.longest_sentence, known.longest_story)
    assert further.saved.config == task1.saved.config
    assert further.task.options == task1.task.options
    for name, weight in task1.saved.weights.items():
        kept = further.saved.weights[name][tuple(slice(size) for size in weight.shape)]
        torch.testing.assert_close(kept, weight, rtol=0, atol=1e-6)
    story = ["John went to the office.", "Mary went to the kitchen."]
    assert further.answer(story, "Where is John?").text == "office"
    assert further.answer(["Zelda went to the attic."], "Where is Zelda?").unknown_words == ()
    assert task1.answer(["Zelda went to the attic."], "Where is Zelda?").unknown_words == ("Zelda", "attic")


def test_it_learns_the_new_and_says_where_it_comes_from(task1: qr.StoryModel) -> None:
    further = go_on(task1, recipe="adam", max_epochs=20, learning_rate=0.01, l2=1e-4)
    assert further.evaluate(NEW).error < task1.evaluate(NEW).error - 10
    assert further.evaluate(NEW).error < 8
    assert len(further.card["settings"]["from"]) == 64
    assert "from" not in qr.train(TOLD, restarts=1, **NO_STEPS).card["settings"]


GROWING = [name for name, kind in kinds().items() if kind.parse is None and name not in ("dnc", "follow")]


@pytest.mark.parametrize("network", [*GROWING, "3rv8", "1"])
def test_any_network_keeps_its_scores(network: str) -> None:
    """Before the first step the old answers have the old scores: new words and answers come after the others."""
    saved = saved_story_model(network, TOLD)
    grown = begun(saved)
    batch = saved.task.encode(TOLD).batch(np.arange(20))
    before = saved.network().scores(batch)
    with torch.inference_mode():
        after = grown.eval().scores(TensorBatch.of(batch))[0].numpy()
    np.testing.assert_allclose(after[:, : before.shape[1]], before, rtol=1e-4, atol=1e-5)


def test_a_network_whose_weights_have_another_order_says_so() -> None:
    saved = saved_story_model("dnc", TOLD)
    with pytest.raises(InputError, match="cannot go on with new words or answers"):
        begun(saved)


def begun(saved: SavedModel) -> StackedNetwork:
    """A network with the weights of a model and the words of new stories."""
    before, now = saved.task.vocabulary, (task := saved.task.extended(NEW)).vocabulary
    network = build_network(saved.config, now, task.head, Seeds([0], 5))
    take_weights(network, saved.weights, {(before.size, now.size), (len(before.answers), len(now.answers))})
    return network


def test_words_that_differ_by_case_are_not_new() -> None:
    folding = Vocabulary(("garden", "mary"), ("garden",), 5, "text", fold_case=True)
    told = [
        qr.Story(("MARY left the Garden, Zoë.",), (qr.Question("Mary?", "Garden", 1), qr.Question("Zoë?", "Zoë", 1)))
    ]
    assert folding.extended(told).words == ("garden", "mary", "left", "the", "zoë")
    assert folding.extended(told).answers == ("garden", "Zoë")
    assert folding.extended([]) == folding


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"network": "2r"}, "network comes from the model"),
        ({"dimension": 20}, "dimension comes from the model"),
        ({"memory": 3}, "memory comes from the model"),
        ({"restarts": 4}, "restarts has no effect: all of them would start from the same weights"),
        ({"copies": 3, "split": "story"}, "copies has no effect without symmetries"),
        ({"kind": "dialogs"}, "holds dialogs, but the model to fine-tune was trained on stories"),
    ],
)
def test_conflicts_are_one_line(task1: qr.StoryModel, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        go_on(task1, **options)
    assert "\n" not in str(caught.value)


def test_dialog_models_cannot_go_on() -> None:
    with pytest.raises(InputError, match="possible with stories only"):
        qr.train(generate_dialogs(1, 4), kind="dialogs", start_from="dialog", progress=False)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_file(tmp_path / "new.csv", NEW)
    run = tmp_path / "run"
    options = ["--data", str(tmp_path / "new.csv"), "--max-epochs", "2", "--evaluate-every", "1"]
    assert main(["train", "--from", "task1", *options, "--out", str(run), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["network"], len(result["restarts"])) == ("2r", 1)
    again = qr.load(run)
    assert isinstance(again, qr.StoryModel)
    assert again.answer(["Zelda went to the attic."], "Where is Zelda?").unknown_words == ()
    assert main(["train", "--from", "task1", "--network", "3r", *options, "--out", str(tmp_path / "other")]) == 1
    assert capsys.readouterr().err == ("qrn train: network comes from the model that is fine-tuned; leave it out\n")
