"""Questions that share a story are found, whatever the order they stand in."""

from __future__ import annotations

import network_checks as checks
import torch
from hypothesis import given
from hypothesis import strategies as st
from query_reduction_lab.rivals.dnc import DNCConfig
from query_reduction_lab.rivals.shared_stories import story_lines

from query_reduction.stacked.tensors import TensorBatch

stories = st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=8)


def batch_of(told: list[list[int]]) -> TensorBatch:
    """Stories over three sentences; what stands past a story's end must not matter."""
    lengths = torch.tensor([len(story) for story in told])
    rows = torch.tensor([[*story, *[1] * (4 - len(story))] for story in told])
    return TensorBatch(
        words=torch.tensor([[2, 0], [3, 4], [2, 4], [5, 0]]),
        stories=rows,
        lengths=lengths,
        questions=torch.full((len(told),), 3),
        answers=torch.zeros(len(told), dtype=torch.int64),
    )


@given(stories)
def test_every_story_begins_its_line(told: list[list[int]]) -> None:
    whole, begins = story_lines(batch_of(told))
    lines = [told[number] for number in whole.tolist()]
    for story, line in zip(told, begins.tolist(), strict=True):
        assert lines[line][: len(story)] == story


@given(stories)
def test_no_line_begins_another(told: list[list[int]]) -> None:
    whole, _ = story_lines(batch_of(told))
    lines = [told[number] for number in whole.tolist()]
    for number, line in enumerate(lines):
        assert not any(other[: len(line)] == line for other in lines[:number] + lines[number + 1 :])


@given(stories)
def test_a_story_read_once_gives_the_same_as_one_read_for_each_question(told: list[list[int]]) -> None:
    network = checks.build(DNCConfig(dimension=5, word_dimension=4, slots=4, width=3))
    checks.scramble(network)
    together = network.scores(batch_of(told))
    apart = torch.cat([network.scores(batch_of([story])) for story in told], dim=1)
    torch.testing.assert_close(together, apart)
