"""Networks that point: arrays, equations, answers and tracks."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from query_reduction.errors import InputError
from query_reduction.heads.operations import ArrayOperations
from query_reduction.model import load
from query_reduction.pointing.collate import collate
from query_reduction.pointing.config import PointerConfig, PointerRecipe, shapes
from query_reduction.pointing.examples import examples_of
from query_reduction.pointing.lexicon import Lexicon
from query_reduction.pointing.model import PhraseAnswer, PointerModel
from query_reduction.pointing.network import read
from query_reduction.pointing.texts import Text
from query_reduction.pointing.vectors import read_vectors
from query_reduction.reading.stories import StoryParts
from query_reduction.text.stories import Question, Story
from query_reduction.text.tracks import is_tracked, story_of_tracks, tracks_of
from query_reduction.training.pointing import TensorOperations, losses, train_pointer
from query_reduction.training.pointing_run import pointer_setup, run_pointer, why_pointing

_LETTERS = "bdfglmnprstvz"


def _name(chance: random.Random) -> str:
    return "".join(chance.choice(_LETTERS) + chance.choice("aeiou") for _ in range(3))


def _walks(count: int, seed: int) -> list[Story]:
    """Stories of somebody who goes to places with new names in every story."""
    chance = random.Random(seed)
    stories = []
    for _ in range(count):
        who, other = _name(chance), _name(chance)
        where, states = "?", ["?"]
        sentences = []
        for _ in range(4):
            walker = chance.choice([who, other])
            place = _name(chance)
            sentences.append(f"{walker} went to the {place}.")
            where = place if walker == who else where
            states.append(where)
        stories.append(story_of_tracks(sentences, [(who, states)]))
    return stories


@pytest.fixture(scope="module")
def walker() -> PointerModel:
    setup = pointer_setup({"dimension": 16, "phrase_dimension": 16, "max_epochs": 15, "dropout": 0.0})
    return run_pointer(StoryParts("walks", _walks(80, 0)), setup)


def test_places_never_met_in_training_are_pointed_at(walker: PointerModel) -> None:
    assert walker.evaluate(_walks(20, 1)).error < 10


def test_a_track_as_a_table(walker: PointerModel, tmp_path: Path) -> None:
    story = ["Kuku went to the bazaar.", "Lulu went to the cellar.", "Kuku went to the attic."]
    track = walker.track(story, "Kuku")
    assert [state.text for state in track.of("Kuku")] == ["?", "bazaar", "bazaar", "attic"]
    place = track.of("Kuku")[3].place
    assert place is not None and (place.sentence, place.words, place.characters) == (2, (4, 5), (17, 22))
    assert track.as_csv().splitlines()[:2] == ["number,sentence,Kuku", "0,,?"]
    assert json.loads(json.dumps(track.as_json()))["things"]["Kuku"][1]["place"]["text"] == "bazaar"
    track.save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().endswith("3,Kuku went to the attic.,attic\n")
    with pytest.raises(InputError, match=r"\.csv or \.json"):
        track.save(tmp_path / "t.txt")
    with pytest.raises(InputError, match="was not tracked"):
        track.of("Lulu")
    assert "bazaar" in str(track)


def test_the_state_at_the_end_is_the_answer(walker: PointerModel) -> None:
    answer = walker.answer("Kuku went to the bazaar. Lulu went to the cellar.", "Kuku")
    assert isinstance(answer, PhraseAnswer) and answer.text == "bazaar" and answer.place is not None
    assert len(answer.gates) == 2 and len(answer.gates[0]) == 2


def test_right_to_left_text_is_tracked(walker: PointerModel) -> None:
    states = walker.track("אבא went to the מטבח. גד went to the חצר.", "אבא").of("אבא")
    assert [state.text for state in states] == ["?", "מטבח", "מטבח"]


def test_what_is_wrong_is_said(walker: PointerModel) -> None:
    with pytest.raises(InputError, match="no sentences"):
        walker.track("", "Kuku")
    with pytest.raises(InputError, match="named by a word"):
        walker.track("Kuku went to the bazaar.", " ; ")
    with pytest.raises(InputError, match="named by a word"):
        walker.track("Kuku went to the bazaar.", [])
    assert walker.track("Kuku went to the bazaar.", "Lulu").notes[0].startswith("Lulu is in no sentence")


def test_ten_thousand_sentences(walker: PointerModel) -> None:
    chance = random.Random(5)
    story = [f"{_name(chance)} went to the {_name(chance)}." for _ in range(9_999)] + ["Kuku went to the bazaar."]
    track = walker.track(story, "Kuku")
    assert len(track.of("Kuku")) == 10_001
    assert any("phrases were not considered" in note for note in track.notes)


def test_a_model_is_saved_and_opened(walker: PointerModel, tmp_path: Path) -> None:
    file = walker.save(tmp_path / "run")
    opened = load(tmp_path / "run")
    assert isinstance(opened, PointerModel)
    story = ["Kuku went to the bazaar.", "Kuku went to the attic."]
    assert opened.track(story, "Kuku") == walker.track(story, "Kuku")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="damaged"):
        load(file)


@pytest.mark.parametrize("reader", ["scan", "gru", "bag"])
@pytest.mark.parametrize("tracked", [True, False])
def test_arrays_and_tensors_agree(reader: str, tracked: bool) -> None:
    stories = _walks(3, 0) if tracked else [_asked(story) for story in _walks(3, 0)]
    lexicon = Lexicon.learned(stories, vector_words=("went",))
    assert lexicon.tracked is tracked
    table = np.random.default_rng(1).normal(size=(2, 4)).astype(np.float32)
    config = PointerConfig(dimension=5, phrase_dimension=6, reader=reader)  # type: ignore[arg-type]
    wanted = shapes(config, words=lexicon.size, vectors=4, classes=len(lexicon.classes), actions=6 * tracked)
    chance = np.random.default_rng(0)
    weights = {name: chance.normal(size=shape).astype(np.float32) for name, shape in wanted.items()}
    examples = [example for story in stories for example in examples_of(story, lexicon)]
    together = collate(examples, lexicon)
    found = read(ArrayOperations(), config, weights, table, together)
    tensors = {name: torch.from_numpy(weight) for name, weight in weights.items()}
    other = read(TensorOperations(), config, tensors, torch.from_numpy(table), together.converted(torch.from_numpy))
    np.testing.assert_allclose(found.points, other.points.numpy(), atol=1e-4)
    if tracked:
        assert found.actions is not None and other.actions is not None
        np.testing.assert_allclose(found.actions, other.actions.numpy(), atol=1e-4)
    # A question is read alike, whatever it shares its batch with.
    for row, example in enumerate(examples):
        alone = read(ArrayOperations(), config, weights, table, collate([example], lexicon)).points[0]
        np.testing.assert_allclose(found.points[row, : len(alone), : alone.shape[1]], alone, atol=1e-4)


def _asked(story: Story) -> Story:
    last = story.questions[-1]
    return Story(story.sentences, (Question(f"Where is {last.text}?", last.answer, last.after),))


def test_the_loss_counts_all_places_of_an_answer() -> None:
    story = Story(("The cat sat on the mat.", "The mat was red."), (Question("Where is the cat?", "mat", 2),))
    lexicon = Lexicon.learned([story] * 2)
    (example,) = examples_of(story, lexicon, taught=True)
    keys = [example.text.phrases[number - len(lexicon.classes)] for number in example.right[0]]
    assert keys == [("mat",), ("mat",)]
    batch = collate([example], lexicon, taught=True)
    config = PointerConfig(dimension=4, phrase_dimension=4)
    wanted = shapes(config, words=lexicon.size, vectors=0, classes=len(lexicon.classes), actions=0)
    weights = {name: torch.randn(shape, generator=torch.Generator().manual_seed(0)) for name, shape in wanted.items()}
    tensors = batch.converted(torch.from_numpy)
    found = read(TensorOperations(), config, weights, None, tensors)
    shares = torch.softmax(found.points[0, 0], 0)[example.right[0]].sum()
    torch.testing.assert_close(losses(weights, found, tensors)[0], -shares.log())


def test_a_known_place_is_the_only_right_one() -> None:
    sentences = ("The cat sat on the mat.", "The mat was red.")
    story = Story(sentences, (Question("Where is the cat?", "mat", 2, span=(0, 19, 22)),))
    lexicon = Lexicon.learned([story] * 2)
    (example,) = examples_of(story, lexicon, taught=True)
    (number,) = example.right[0]
    assert example.text.phrase(example.text.spans_of[number - len(lexicon.classes)][0]).sentence == 0


def test_answers_that_occur_nowhere_teach_nothing() -> None:
    stories = [
        Story(("The cat sat on the mat.",), (Question("Where is the cat?", answer, 1),)) for answer in ("mat", "moon")
    ]
    lexicon = Lexicon.learned(stories)
    taught = [example.right for story in stories for example in examples_of(story, lexicon, taught=True)]
    assert taught[0] and not taught[1]
    with pytest.raises(InputError, match="no question has an answer"):
        train_pointer(stories[1:], lexicon, PointerConfig(), PointerRecipe())


def test_overlapping_phrases_are_told_apart() -> None:
    cities = [story_of_tracks(["He is in Old York.", "York is old."], [("he", ["?", "Old York", "Old York"])])] * 2
    lexicon = Lexicon.learned(cities)
    text = Text.of(["New York City is big."], lexicon, 2)
    assert {("new",), ("york",), ("new", "york"), ("york", "city")} <= set(text.phrases)
    assert text.phrase(text.spans_of[text.phrases.index(("york", "city"))][0]).text == "York City"


def test_cells_name_the_mention_here_the_last_and_the_next() -> None:
    stories = [story_of_tracks(["a mug", "a cup", "the mug"], [("x", ["?", "mug", "cup", "mug"])])]
    lexicon = Lexicon.learned(stories)
    text = Text.of(stories[0].sentences, lexicon, 4)
    cells = text.mentions.cells(np.arange(4), 3)
    mug, cup = text.phrases.index(("mug",)), text.phrases.index(("cup",))
    assert cells[:, :, mug].tolist() == [[0, 1, 0, 2], [0, 1, 1, 2], [1, 2, 2, 0]]
    assert cells[:, :, cup].tolist() == [[0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]]


def test_when_a_list_will_not_do() -> None:
    walks = _walks(80, 0)
    assert is_tracked(walks) and "tracked" in why_pointing(walks)
    new_places = [_asked(story) for story in walks if story.questions[-1].answer != "?"]
    assert "phrases of their stories" in why_pointing(new_places)
    rooms = [Story(("Mary is in the hall.",), (Question("Where is Mary?", "hall", 1),))] * 60
    assert not is_tracked(rooms) and why_pointing(rooms) == "" and why_pointing([]) == ""


def test_tracks_are_questions_asked_again() -> None:
    story = story_of_tracks(["a", "b"], [("x", ["1", "2"]), ("y", ["0", "1", "2"])])
    assert tracks_of(story) == {"x": {1: "1", 2: "2"}, "y": {0: "0", 1: "1", 2: "2"}}


def test_vectors_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("3 2\nthe 1 2\ncat 3 4\nzebra 5 6\n")
    words, table = read_vectors(path, {"zebra"}, most=2)
    assert words == ("the", "zebra") and table.tolist() == [[0, 0], [1, 2], [5, 6]]
    path.write_text("the 1 2\ncat 3\n")
    with pytest.raises(InputError, match="same number"):
        read_vectors(path, set())
    path.write_text("the 1 x\n")
    with pytest.raises(InputError, match="line 1"):
        read_vectors(path, set())
    with pytest.raises(InputError, match="No such file"):
        read_vectors(tmp_path / "none", set())


def test_a_setting_of_another_network_is_refused() -> None:
    assert pointer_setup({"layers": 0, "seed": 3}).recipe.seed == 3
    with pytest.raises(InputError, match="restarts has no effect"):
        pointer_setup({"restarts": 3})
    with pytest.raises(InputError, match="layers must be"):
        pointer_setup({"layers": 99})
