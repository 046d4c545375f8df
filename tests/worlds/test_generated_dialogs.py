from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import REAL_DATA

from query_reduction.errors import InputError
from query_reduction.heads.slots import cut
from query_reduction.text.formats.dialog import find_dialog_files, format_dialogs, read_dialogs, speakers
from query_reduction.text.stories import Story
from query_reduction.worlds.dialogs import DIALOG_TASKS, generate_dialogs, knowledge_rows

REAL = REAL_DATA / "dialog"


def rating(name: str) -> int:
    return next(
        int(value) for subject, relation, value in knowledge_rows() if (subject, relation) == (name, "R_rating")
    )


@pytest.mark.parametrize("task", DIALOG_TASKS)
def test_the_same_seed_tells_the_same(task: int) -> None:
    first = generate_dialogs(task, 20, seed=3)
    assert first == generate_dialogs(task, 20, seed=3)
    assert first != generate_dialogs(task, 20, seed=4)
    text = "".join(format_dialogs(first))
    assert text.count("\n\n") == 20


@pytest.mark.parametrize("task", DIALOG_TASKS)
def test_splits_share_no_dialog_and_unseen_no_name(task: int) -> None:
    told = {split: generate_dialogs(task, 60, split=split) for split in ("train", "valid", "test", "unseen")}
    texts = [frozenset("\n".join(dialog.sentences) for dialog in dialogs) for dialogs in told.values()]
    assert sum(map(len, texts)) == len(frozenset().union(*texts)) or task == 4
    for split in ("valid", "test", "unseen"):
        assert not texts[0] & texts[list(told).index(split)]
    names = {
        split: {word for d in dialogs for s in d.sentences for word in s.split() if word.startswith("resto_")}
        for split, dialogs in told.items()
    }
    assert not names["unseen"] & names["train"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_offers_go_from_the_best_rated_down_and_all_calls_are_justified(seed: int) -> None:
    (dialog,) = generate_dialogs(5, 1, seed=seed)
    offered = [q.answer.split()[-1] for q in dialog.questions if "option:" in q.answer]
    assert [rating(name) for name in offered] == sorted(map(rating, offered), reverse=True)
    said: set[str] = set()
    for question in dialog.questions:
        said.update(question.text.split())
        if question.answer.startswith("api_call"):
            assert set(question.answer.split()[1:]) <= said
    last = [word for q in dialog.questions if "here it is" in q.answer for word in q.answer.split()[-1:]]
    assert all(word.startswith(offered[-1]) for word in last)


@pytest.mark.skipif(not REAL.is_dir(), reason="the published dialogs are not here")
@pytest.mark.parametrize("task", DIALOG_TASKS)
def test_says_what_the_published_dialogs_say(task: int) -> None:
    def said(dialogs: list[Story]) -> set[str]:
        return {cut(question.answer)[0] for dialog in dialogs for question in dialog.questions}

    real = read_dialogs(find_dialog_files(REAL)[str(task)]["train"])[:300]
    told = generate_dialogs(task, 300)
    assert said(told) == said(real)
    relations = {
        sentence.split()[1]
        for dialog in (*told, *real)
        for sentence, speaker in zip(dialog.sentences, speakers(dialog), strict=True)
        if speaker == "row"
    }
    assert len(relations) in (0, 7)


def test_other_tasks_are_an_error() -> None:
    with pytest.raises(InputError, match="dialog task 6 cannot be generated"):
        generate_dialogs(6, 1)
