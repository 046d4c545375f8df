"""What is fuzzed: each target turns bytes into a call that may succeed or raise ``InputError``, and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from query_reduction.cli.story_input import lines_from, story_from
from query_reduction.dialog.knowledge import KnowledgeBase
from query_reduction.errors import InputError
from query_reduction.model import StoryModel, load
from query_reduction.predict_file import predict_file
from query_reduction.reading.predictions import AT_ONCE
from query_reduction.reading.question import ReadQuestion
from query_reduction.reading.stories import Answer
from query_reduction.serve.app import create_app
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.readers import read_file, scan_file
from query_reduction.text.haystack import hide, passage, read_haystack
from query_reduction.text.stories import Question, Story
from query_reduction.training.curves import CurveWriter
from query_reduction.worlds import load_words
from query_reduction_lab.attack.fuzz_models import Target, models, states
from query_reduction_lab.experiments.store import ResultStore

__all__ = ["TARGETS", "Target"]


def readers() -> Target:
    """Every format of stories, dialogs, knowledge bases, tables of words, books and plain texts."""
    folder = Path(tempfile.mkdtemp())
    babi = b"1 Mary got the milk.\n2 Mary went home.\n3 Where is the milk?\thome\t1 2\n"
    turns = b"1 hi\thello\n2 <SILENCE>\tapi_call thai\n3 a_place R_cuisine thai\n4 bye\tbye\n\n1 hi\thello\n"
    line = b'{"sentences": ["Mary got the milk.", "Mary went home."], "questions": [{"question": "Where is the milk?", '
    lines = line + b'"answer": "home", "support": [0, 1], "after": 2}], "task": "2"}\n'
    rows = b'story,question,answer,support\n"Mary got it. She went.",Where?,home,"0 1"\n'
    squad = (
        b'{"data": [{"paragraphs": [{"context": "a. b.", "qas": [{"question": "q", "answers": [{"text": "b"}]}]}]}]}'
    )
    book = "In the beginning. And so on, \u201cand so on\u201d.\n\n1 Mary went home.\n2 Mary got it.\n".encode()
    mary = Story(("Mary got the milk.", "Mary went home."), (Question("Where is Mary?", "home", 2, (1,)),))
    chance = random.Random(0)
    reader = load("task1")
    assert isinstance(reader, StoryModel)
    words = Path(str(load_words.__globals__["__file__"])).with_name("words.toml").read_bytes()[:3000]
    kinds = (
        ("a.txt", babi), ("dialog-babi-task1-API-calls-trn.txt", turns), ("a.jsonl", lines), ("a.csv", rows),
        ("a.tsv", rows.replace(b",", b"\t")), ("a.json", squad), ("a.json", b"[" + lines.strip() + b"]"),
        ("a", lines), ("a.jsonl.gz", gzip.compress(lines)), ("kb.txt", b"1 a_place R_cuisine thai\n"),
        ("kb.jsonl", b'{"name": "a", "cuisine": "thai"}\n'), ("words.toml", words), ("book.txt", book),
        ("told.txt", book), ("told.jsonl", lines), ("curves.jsonl", b'{"restart": 0, "epoch": 1, "loss": 0.5}\n' * 3),
    )  # fmt: skip

    def attempt(data: bytes) -> None:
        number, rest = data[0] % len(kinds), data[1:]
        path = folder / kinds[number][0]
        path.write_bytes(rest)
        if path.name.startswith("kb"):
            KnowledgeBase.read(path)
        elif path.suffix == ".toml":
            load_words(path)
        elif path.name == "book.txt":
            told = hide(mary, passage(read_haystack(path), 1, chance), chance)
            assert len(told.sentences) == len(mary.sentences) + 1
        elif path.stem == "told":
            story_from(str(path))
            with lines_from(str(path)) as read:
                reader.answer_from(read, "Where is Mary?")
        elif path.name == "curves.jsonl":
            CurveWriter(path, up_to_epoch=2)
        else:
            problems: list[Problem] = []
            list(scan_file(path, problems))
            read_file(path)

    return Target(tuple(bytes([number]) + content for number, (_, content) in enumerate(kinds)), attempt)


def store() -> Target:
    """Files of stored results."""
    folder = Path(tempfile.mkdtemp())
    path = folder / "qa-1k" / "1r.jsonl"
    path.parent.mkdir()
    kept = Path("results/store/qa-1k/6r200-joint.jsonl").read_bytes()

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        ResultStore(folder).settings("qa-1k", "1r")

    return Target((kept,), attempt)


def predictions() -> Target:
    """States of answers that were only half written."""
    folder = Path(tempfile.mkdtemp())
    asked, out = folder / "asked.jsonl", folder / "answers.jsonl"
    line = json.dumps({"story": "Mary went home.", "question": "Where is Mary?"}) + "\n"
    asked.write_text(line * (AT_ONCE + 1))
    model = load("task1")
    assert isinstance(model, StoryModel)
    steps = predict_file(model, asked, out)
    next(steps), next(steps)
    del steps
    part, kept = folder / "answers.jsonl.part", folder / "answers.jsonl.part.json"
    written, known = part.read_bytes(), kept.read_bytes()

    def attempt(data: bytes) -> None:
        part.write_bytes(written)
        kept.write_bytes(data[1:])
        if next(predict_file(model, asked, out)).before and json.loads(data[1:]) != json.loads(known):
            raise RuntimeError("a changed state was accepted")

    return Target((b"0" + known,), attempt)


def api() -> Target:
    """Requests to the server's application."""
    reader = load("task1")
    assert isinstance(reader, StoryModel)
    answer_read, failed = reader.answer_read, []

    def watched(asked: Sequence[ReadQuestion]) -> list[Answer]:
        try:
            return answer_read(asked)
        except Exception as error:
            failed.append(error)
            raise

    setattr(reader, answer_read.__name__, watched)
    app = create_app({"task1": reader, "dialog": load("dialog")})
    story = {
        "model": "task1",
        "sentences": ["Mary went home.", "John went to the garden."],
        "question": "Where is Mary?",
    }
    chat = {
        "model": "dialog",
        "text": "hi",
        "sentences": ["hi", "hello"],
        "turns": [{"text": "hi", "answer": "hello", "after": 0}],
    }
    texts = {"sentences": ["Mary went home. John went to the garden."]}
    asked: tuple[tuple[str, Any], ...] = (
        ("/api/answer", story), ("/api/trace", story | {"vectors": True}), ("/api/chat", chat),
        ("/api/sentences", texts), ("/api/story", {"model": "task1", "seed": 7}), ("/api/models", None),
        ("/api/knowledge/dialog", None),
    )  # fmt: skip
    loop = asyncio.new_event_loop()

    async def ask(path: str, body: bytes) -> int:
        status: list[int] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])

        headers = [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        scope = {
            "type": "http", "http_version": "1.1", "method": "POST" if body else "GET", "path": path,
            "raw_path": path.encode(), "query_string": b"", "headers": headers, "scheme": "http", "root_path": "",
            "client": ("127.0.0.1", 1),
        }  # fmt: skip
        await app(scope, receive, send)
        return status[0]

    def attempt(data: bytes) -> None:
        status = loop.run_until_complete(ask(asked[data[0] % len(asked)][0], data[1:]))
        if failed:
            raise RuntimeError("a batch failed: questions are to be refused before they get into one") from failed.pop()
        if status >= 500:
            raise RuntimeError(f"status {status}")
        if status >= 400:
            raise InputError("refused")

    seeds = [bytes([number]) + (json.dumps(body).encode() if body else b"") for number, (_, body) in enumerate(asked)]
    return Target(tuple(seeds), attempt)


TARGETS: dict[str, tuple[Callable[[], Target], int]] = {
    "readers": (readers, 740_000),
    "stored results": (store, 60_000),
    "models": (models, 70_000),
    "resume states": (states, 60_000),
    "half-written answers": (predictions, 10_000),
    "API": (api, 60_000),
}
"""Target → how to set it up, and the number of tries in a full run."""
