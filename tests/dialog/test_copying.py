from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import REAL_DATA

from query_reduction.dialog.copying import Copying
from query_reduction.dialog.dialogs import DialogOptions, DialogParts, DialogTask
from query_reduction.dialog.knowledge import NO_RESULT, KnowledgeBase, partly_known
from query_reduction.dialog.responses import same
from query_reduction.errors import InputError
from query_reduction.sources.named import load_parts
from query_reduction.text.formats.dialog import find_dialog_files, read_dialogs, speakers
from query_reduction.text.stories import Question, Story
from query_reduction.worlds.dialogs import generate_dialogs, knowledge_rows

REAL = REAL_DATA / "dialog"


def filled_with_right_templates(copying: Copying, dialogs: list[Story]) -> list[bool]:
    """Whether each response is right if what is said is right: what the ranking alone can do."""
    right = []
    for dialog in dialogs:
        templates = [question.answer for question in copying.read(dialog)[0].questions]
        for template, (question, log) in zip(templates, copying.follow(dialog), strict=True):
            filled = copying.fill(template, log)
            right.append(filled is not None and same(filled, question.answer))
    return right


@pytest.mark.parametrize("task", [1, 2, 3, 4, 5])
def test_names_never_seen_are_named_right(task: int) -> None:
    copying = Copying.learn(generate_dialogs(task, 150), knowledge_rows())
    assert all(filled_with_right_templates(copying, generate_dialogs(task, 60, split="unseen")))


def test_the_order_of_offers_is_learned_not_written_down() -> None:
    """Trained on dialogs that offer the worst place first, it does so, too."""

    def upside_down(dialog: Story) -> Story:
        worse = {f"R_rating {n}": f"R_rating {9 - n}" for n in range(1, 9)}
        sentences = []
        for sentence, speaker in zip(dialog.sentences, speakers(dialog), strict=True):
            subject, _, rest = sentence.partition(" ")
            sentences.append(f"{subject} {worse[rest]}" if speaker == "row" and rest in worse else sentence)
        return Story(tuple(sentences), dialog.questions, dialog.task)

    copying = Copying.learn([upside_down(dialog) for dialog in generate_dialogs(3, 150)])
    assert all(filled_with_right_templates(copying, [upside_down(d) for d in generate_dialogs(3, 40, split="unseen")]))
    assert not all(filled_with_right_templates(copying, generate_dialogs(3, 40, split="unseen")))


def test_the_network_reads_kinds_and_each_row_of_a_block_once() -> None:
    copying = Copying.learn(generate_dialogs(5, 60), knowledge_rows())
    (dialog,) = generate_dialogs(5, 1, split="unseen")
    story, _ = copying.read(dialog)
    assert len(story.questions) == len(dialog.questions)
    assert not any("resto_" in sentence for sentence in story.sentences)
    assert sum(sentence.startswith("<name> r_") for sentence in story.sentences) == 7
    calls = {question.answer for question in story.questions if question.answer.startswith("api_call")}
    assert calls == {"api_call <r_cuisine> <r_location> <r_number> <r_price>"}
    for question in story.questions:
        if question.after < len(story.sentences):
            assert story.sentences[question.after] == question.text


def test_other_words_and_kinds_of_words_in_no_row_are_found() -> None:
    def dialog(said: str, called: str) -> Story:
        rows = ("a_place R_price cheap", "b_place R_price moderate")
        question = Question(f"something {said} please", f"api_call {called}", 2)
        return Story((*rows, question.text, question.answer), (question,))

    dialogs = [dialog("cheap", "cheap"), dialog("posh", "posh"), dialog("moderate", "moderate")] * 10
    unnamed = Question("something moderately priced", "api_call moderate", 0)
    dialogs += [Story((unnamed.text, unnamed.answer), (unnamed,))] * 10
    copying = Copying.learn(dialogs)
    assert copying.lexicon.kinds["posh"] == "<r_price>"
    assert set(copying.lexicon.aliases.values()) == {"moderate"}
    assert set(copying.lexicon.aliases) <= {"moderately", "priced"}


def test_what_was_learned_survives_saving() -> None:
    parts = DialogParts("generated", generate_dialogs(5, 40), knowledge=knowledge_rows())
    task = parts.learn(DialogOptions(copying=True, marks="speaker"), parts.train)
    again = DialogTask.from_json(json.loads(json.dumps(task.as_json())), task.vocabulary)
    assert again == task
    assert again.goes_on_after("i'm on it", rows=False)
    assert again.goes_on_after("api_call thai hanoi two cheap", rows=True)
    assert not again.goes_on_after("api_call thai hanoi two cheap", rows=False)


@pytest.mark.skipif(not REAL.is_dir(), reason="the published dialogs are not here")
def test_real_dialogs_with_unseen_names() -> None:
    files = find_dialog_files(REAL)["3"]
    knowledge = KnowledgeBase.read(REAL / "dialog-babi-kb-all.txt")
    copying = Copying.learn(read_dialogs(files["train"])[:200], knowledge.rows)
    assert all(filled_with_right_templates(copying, read_dialogs(files["unseen"])[:100]))


def test_half_of_a_knowledge_base_leaves_names_unknown() -> None:
    rows = tuple((f"place{number}", "R_city", f"city{number % 40}") for number in range(400))
    half = partly_known(rows, 0.5, {"city1", "place1"})
    names = {name for row in half for name in (row[0], row[2])}
    assert ("place1", "R_city", "city1") in half
    assert 10 < len({name for name in names if name.startswith("city")}) < 30
    assert partly_known(rows, 1.0, set()) == rows
    assert partly_known(rows, 0.5, set()) == partly_known(rows[::-1], 0.5, set())[::-1]
    with pytest.raises(InputError, match="knowledge has no effect without copying"):
        DialogOptions(knowledge=0.5)


@pytest.mark.skipif(not REAL.is_dir(), reason="the published dialogs are not here")
def test_what_the_training_dialogs_mention_stays_known() -> None:
    parts = load_parts(str(REAL), "1", questions=0, seed=0)
    assert isinstance(parts, DialogParts)
    whole, half = (parts.learn(DialogOptions(copying=True, knowledge=share), parts.train) for share in (1.0, 0.5))
    assert whole.copying is not None
    assert half.copying is not None
    kinds = half.copying.lexicon.kinds
    assert {"paris", "rome", "italian"} <= set(kinds)
    unseen = {"hanoi", "tokyo", "bangkok", "seoul", "beijing"} & set(whole.copying.lexicon.kinds)
    assert len(unseen) == 5
    assert 0 < len(unseen & set(kinds)) < 5
    assert whole.vocabulary.answers == half.vocabulary.answers


def test_queries_of_a_knowledge_base(tmp_path: Path) -> None:
    text = tmp_path / "kb.txt"
    text.write_text("1 a R_cuisine\tthai\n1 a R_price cheap\n1 b R_cuisine\tthai\n1 b R_price dear\n")
    lines = tmp_path / "kb.jsonl"
    lines.write_text(
        '{"name": "a", "R_cuisine": "thai", "R_price": "cheap"}\n'
        '{"name": "b", "R_cuisine": "thai", "R_price": "dear"}\n'
    )
    base = KnowledgeBase.read(text)
    assert base == KnowledgeBase.read(lines)
    assert base.query("api_call thai cheap") == ["a R_cuisine thai", "a R_price cheap"]
    assert len(base.query("api_call thai R_price")) == 4
    assert base.query("api_call french cheap") == [NO_RESULT]
    text.write_text("1 a R_cuisine\n")
    with pytest.raises(InputError, match=r"kb\.txt:1: expected"):
        KnowledgeBase.read(text)
