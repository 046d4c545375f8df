"""Answers about texts that are read line by line."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import query_reduction as qr
from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.model import StoryModel, model_of
from query_reduction.qrn import streaming

STORY = ["Mary went to the garden. John went to the office.", "", "Mary moved to the kitchen."]
QUESTION = "Where is Mary?"


@pytest.fixture(scope="module")
def model() -> StoryModel:
    found = qr.load("task1")
    assert isinstance(found, StoryModel)
    return found


def reading_all(model: StoryModel, unreadable: str = "left-out") -> StoryModel:
    """The same model without an end to its memory."""
    options = replace(model.task.options, memory=0, unreadable=unreadable)  # type: ignore[arg-type]
    made = model_of(replace(model.saved, task=replace(model.task, options=options)))
    assert isinstance(made, StoryModel)
    return made


@pytest.mark.parametrize("memory", [0, 50])
def test_the_same_answer_as_from_a_list(model: StoryModel, memory: int) -> None:
    asked = model if memory else reading_all(model)
    streamed, listed = asked.answer_from(iter(STORY), QUESTION), asked.answer(STORY, QUESTION)
    assert (streamed.text, streamed.sentence_count) == (listed.text, listed.sentence_count) == ("kitchen", 3)
    assert streamed.confidence == pytest.approx(listed.confidence, abs=1e-5)
    assert [text for text, _ in streamed.runners_up] == [text for text, _ in listed.runners_up]


def test_only_the_last_sentences_of_a_model_with_a_memory(model: StoryModel) -> None:
    lines = ["Mary went to the garden.", *["John went to the office."] * 70]
    streamed, listed = model.answer_from(iter(lines), QUESTION), model.answer(lines, QUESTION)
    assert (streamed.text, streamed.sentence_count, streamed.beyond_memory) == (
        listed.text,
        listed.sentence_count,
        listed.beyond_memory,
    )


def test_names_never_heard_are_read(model: StoryModel) -> None:
    lines = ["Zoë went to the loading dock.", "Whatever may be, may be.", *["Mr Okafor went to pier 4."] * 3]
    streamed, listed = model.answer_from(iter(lines), "Where is Zoë?"), model.answer(lines, "Where is Zoë?")
    assert streamed.text == listed.text == "loading dock"
    assert (streamed.sentence_count, streamed.substituted) == (5, listed.substituted)


def test_sentences_that_cannot_be_read_are_left_out_or_read(model: StoryModel) -> None:
    lines = [*STORY, "Thou shalt not covet thy neighbour's ox."]
    assert reading_all(model).answer_from(lines, QUESTION).text == "kitchen"
    assert not reading_all(model, "read").answer(lines, QUESTION).omitted


def test_memory_does_not_grow_with_the_text(model: StoryModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_IN_MEMORY", 1 << 16)
    asked = reading_all(model, "read")

    def lines(count: int) -> Iterator[str]:
        yield "Mary went to the garden."
        for _ in range(count):
            yield "This line says nothing of it whatsoever."

    def peak(count: int) -> int:
        tracemalloc.start()
        asked.answer_from(lines(count), QUESTION)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    few = peak(10_000)
    assert peak(30_000) < 1.2 * few


def test_a_long_sentence_does_not_make_others_as_long(model: StoryModel) -> None:
    long, short = "garden " * 100_000, "Mary went to the garden."
    tracemalloc.start()
    found = reading_all(model, "read").answer_from([long, *[short] * 2000], QUESTION)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.sentence_count == 2001
    assert peak < 200_000_000


@pytest.mark.parametrize(("data", "said"), [(b"a b.\n\xff\n", "not UTF-8"), (b"a b.\n\0\n", "binary")])
def test_what_is_piped_is_checked_like_a_file(
    data: bytes, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
    assert main(["ask", "task1", "--story", "-", "--stream", "--question", QUESTION]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"standard input:2: {said}" in line


def test_progress_is_told(model: StoryModel) -> None:
    seen: list[int] = []
    reading_all(model).answer_from(["John went to the office."] * 5000, "Where is John?", progress=seen.append)
    assert seen == [2048, 4096]


@pytest.mark.parametrize(("lines", "question", "message"), [([], QUESTION, "no sentences"), (STORY, " ", "empty")])
def test_nothing_to_read_or_to_answer(model: StoryModel, lines: list[str], question: str, message: str) -> None:
    for asked in (model, reading_all(model)):
        with pytest.raises(InputError, match=message):
            asked.answer_from(lines, question)


def test_the_answer_comes_after_the_progress_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def shown(story: str | None) -> Iterator[Iterator[str]]:
        yield iter(STORY)
        print("the bar is gone")

    monkeypatch.setattr("query_reduction.cli.ask.lines_from", shown)
    assert main(["ask", "task1", "--stream", "--story", "book.txt", "--question", QUESTION]) == 0
    assert capsys.readouterr().out.startswith("the bar is gone\nkitchen")


def test_the_command_streams_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = tmp_path / "book.txt"
    book.write_text("\n".join([*STORY, *["This line says nothing of it whatsoever."] * 30_000]), encoding="utf-8")
    assert book.stat().st_size > 1024 * 1024
    assert main(["ask", "task1", "--story", str(book), "--question", QUESTION]) == 0
    assert capsys.readouterr().out.startswith("kitchen")
    assert main(["ask", "task1", "--stream", "--story", str(tmp_path / "none"), "--question", QUESTION]) == 1
    assert "no such file" in capsys.readouterr().err
    book.write_bytes(b"Mary went to the garden.\n\xff\xfe\n")
    assert main(["ask", "task1", "--stream", "--story", str(book), "--question", QUESTION]) == 1
    assert "not UTF-8" in capsys.readouterr().err
