"""Worlds of chains: stories and their solvers agree, and sizes are as asked for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.errors import InputError
from query_reduction.text.formats.readers import read_file
from query_reduction.worlds.chains import CHAINS, ChainOptions, chain_stories, parse_hops, write_chains
from query_reduction.worlds.solver.chains import solve_chain


@pytest.mark.parametrize("world", CHAINS)
@given(hops=st.integers(2, 9), noise=st.integers(0, 4), seed=st.integers(0, 1000), plain=st.booleans())
def test_solvers_find_the_answer_from_the_text(world: str, hops: int, noise: int, seed: int, plain: bool) -> None:
    options = ChainOptions(str(hops), noise, "plain" if plain else "varied")
    for story in chain_stories(world, 3, seed=seed, options=options):
        (question,) = story.questions
        assert len(story.sentences) == hops + noise
        assert solve_chain(world, story.sentences, question.text) == question.answer
        # The facts alone are enough, and all are needed.
        facts = [story.sentences[place] for place in question.support]
        assert len(facts) == hops
        assert solve_chain(world, facts, question.text) == question.answer


@pytest.mark.parametrize("world", CHAINS)
def test_all_answers_occur(world: str) -> None:
    answers = {story.questions[0].answer for story in chain_stories(world, 400, options=ChainOptions(hops="2-4"))}
    assert len(answers) == {"space": 9, "kinship": 18, "order": 2, "containment": 3, "debts": 3}[world]


def test_splits_and_seeds_differ_and_repeat() -> None:
    one = chain_stories("space", 20)
    assert one == chain_stories("space", 20)
    assert one != chain_stories("space", 20, split="test") != chain_stories("space", 20, split="test", seed=1)
    assert [story.task for story in one[:6]] == ["1", "2", "3", "4", "5", "1"]


def test_letters_and_long_chains() -> None:
    (story,) = chain_stories("space", 1, options=ChainOptions(hops="20", letters=True))
    assert set(re.findall(r"\b[A-Z]\b", " ".join(story.sentences)))
    (long,) = chain_stories("order", 1, options=ChainOptions(hops="200"))
    assert len({name for text in long.sentences for name in re.findall(r"[A-Z]\w+", text)}) == 201
    with pytest.raises(InputError, match="26 letters"):
        chain_stories("space", 1, options=ChainOptions(hops="30", letters=True))


@pytest.mark.parametrize("text", ["", "0", "a", "1-", "5-4", "9999"])
def test_wrong_hops(text: str) -> None:
    with pytest.raises(InputError, match="hops"):
        parse_hops(text)


def test_unknown_world_and_short_kinship() -> None:
    with pytest.raises(InputError, match="no world 'moon'"):
        chain_stories("moon", 1)
    with pytest.raises(InputError, match="at least 2 hops"):
        chain_stories("kinship", 1, options=ChainOptions(hops="1"))


def test_written_files_are_read_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    paths = write_chains(tmp_path, ["space", "debts"], 6, held_out_questions=3)
    assert [path.relative_to(tmp_path).as_posix() for path in paths[:3]] == [
        "space/train.jsonl",
        "space/valid.jsonl",
        "space/test.jsonl",
    ]
    assert read_file(paths[0]) == chain_stories("space", 6)
    assert len(read_file(paths[-1])) == 3
