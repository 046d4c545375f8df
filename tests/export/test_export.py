"""Targets of ``qrn export``: the page's size and safety, the folder for the Hub, and what cannot be exported."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from exported import TOLD, model_of_variant
from small_networks import story_model

import query_reduction as qr
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.export.page import page_of
from query_reduction.export.targets import export_model
from query_reduction.models import ready_models

STORY = ["Mary got the milk.", "Mary went to the garden."]


@pytest.mark.parametrize("name", [model.name for model in ready_models() if model.name != "dialog"])
def test_every_ready_model_fits_on_a_page(name: str, tmp_path: Path) -> None:
    (page,) = export_model(qr.load(name), tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) <= 500_000
    assert not re.search(r"(?:src|href)=|https?://|@import|url\(|\$[a-z_]+\b(?=<)", text), "it needs nothing else"
    example = json.loads(text.partition('id="model">')[2].partition("</script>")[0])["example"]
    assert example["sentences"] and example["question"].endswith("?")


def test_nothing_in_a_model_can_end_its_element() -> None:
    model = model_of_variant("2r8", {})
    page = page_of(model, "</title><script>", ["</script><script>alert(1)</script>"], "$title ${x}")
    assert page.count("<script") == page.count("</script>") == 2
    data = json.loads(page.partition('id="model">')[2].partition("</script>")[0])
    assert data["example"] == {"sentences": ["</script><script>alert(1)</script>"], "question": "$title ${x}"}


def test_the_page_opens_with_the_story_one_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "story.txt").write_text("\n".join(STORY))
    page = tmp_path / "page.html"
    options = ["--story", str(tmp_path / "story.txt"), "--question", "Where is the milk?"]
    assert main(["export", "task2", "--to", str(page), *options]) == 0
    said = "".join(capsys.readouterr().out.split())  # a long path may be broken anywhere, and before the size
    assert "page.html(" in said
    assert json.dumps(STORY)[1:-1].replace('", "', '","') in page.read_text()
    assert main(["export", "task2", "--to", str(page), *options[:2]]) == 1
    assert capsys.readouterr().err == "qrn export: --story and --question belong together\n"
    assert main(["export", "task2", "--to", str(tmp_path / "m.onnx"), *options]) == 1
    assert "have no effect on other targets" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["task2", "dialog"])
def test_a_folder_for_the_hub(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "hub"
    assert main(["export", name, "--to", f"{folder}/", "--json"]) == 0
    assert {Path(path).name for path in json.loads(capsys.readouterr().out)["files"]} == {
        "model.safetensors", "config.json", "README.md",
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == {"model.safetensors", "config.json", "README.md"}
    again, model = qr.load(folder), qr.load(name)
    assert isinstance(model, qr.StoryModel | qr.DialogModel)
    assert again.card == model.card
    if isinstance(again, qr.StoryModel) and isinstance(model, qr.StoryModel):
        assert again.answer(STORY, "Where is the milk?") == model.answer(STORY, "Where is the milk?")
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["QueryReductionNetwork"]
    assert config["network"]["layers"] == 2
    assert tuple(config["vocabulary"]["answers"]) == model.task.vocabulary.answers


def test_the_card_has_the_form_of_the_hub(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    export_model(qr.load("task2"), tmp_path / "hub")
    card = hub.ModelCard.load(tmp_path / "hub" / "README.md")
    assert card.data.library_name == "query-reduction"
    assert card.data.pipeline_tag == "question-answering"
    assert card.data.model_name == "hub"
    assert {result.metric_value for result in card.data.eval_results} == {0.0, 1.4}
    assert "# Two supporting facts" in card.text


def test_the_front_of_a_card_is_one_value_per_line(tmp_path: Path) -> None:
    export_model(story_model("gru", TOLD[:20]), tmp_path / "own")
    _, front, text = (tmp_path / "own" / "README.md").read_text().split("---\n", 2)
    values = dict(line.split(": ", 1) for line in front.splitlines())
    assert {name: json.loads(value) for name, value in values.items()} == {
        "library_name": "query-reduction",
        "pipeline_tag": "question-answering",
        "tags": ["query-reduction-network", "story-understanding", "babi"],
    }
    assert "(gru)" in text


@pytest.mark.parametrize("target", ["page.html", "model.onnx"])
def test_other_networks_say_so_in_one_line(target: str, tmp_path: Path) -> None:
    for model, named in (
        (story_model("gru", TOLD[:20]), "this is gru for stories"),
        (qr.load("dialog"), "2r for dialogs"),
    ):
        with pytest.raises(InputError, match=named) as caught:
            export_model(model, tmp_path / target)
        assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_targets_that_mean_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"page \(\.html\), to \.onnx, or to a folder"):
        export_model(qr.load("task1"), tmp_path / "model.pt")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make the folder"):
        export_model(qr.load("task1"), tmp_path / "file" / "hub")
