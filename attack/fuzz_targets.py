"""What is fuzzed: each target turns bytes into a call that may succeed or raise ``InputError``, and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from query_reduction.data.knowledge import KnowledgeBase
from query_reduction.data.lines import Problem
from query_reduction.data.readers import read_file, scan_file
from query_reduction.errors import InputError
from query_reduction.experiments.store import ResultStore
from query_reduction.model import load, model_of
from query_reduction.networks.registry import resolve
from query_reduction.ready import find_model
from query_reduction.serve.app import create_app
from query_reduction.tasks.sources import load_parts
from query_reduction.tasks.stories import StoryOptions
from query_reduction.training import checkpoint, state
from query_reduction.training.checkpoint import load_model, load_tensors, save_tensors
from query_reduction.training.place import STATE_FILE, Place
from query_reduction.training.recipes import Recipe
from query_reduction.training.run import Run
from query_reduction.training.setup import Setup
from query_reduction.worlds import load_words

__all__ = ["TARGETS", "Target"]


@dataclass(frozen=True)
class Target:
    """Seeds, and what is done with an input made from them."""

    seeds: tuple[bytes, ...]
    attempt: Callable[[bytes], object]


def readers() -> Target:
    """Every format of stories, dialogs, knowledge bases and tables of words."""
    folder = Path(tempfile.mkdtemp())
    babi = b"1 Mary got the milk.\n2 Mary went home.\n3 Where is the milk?\thome\t1 2\n"
    turns = b"1 hi\thello\n2 <SILENCE>\tapi_call thai\n3 a_place R_cuisine thai\n4 bye\tbye\n\n1 hi\thello\n"
    line = b'{"sentences": ["Mary got the milk.", "Mary went home."], "questions": [{"question": "Where is the milk?", '
    lines = line + b'"answer": "home", "support": [0, 1], "after": 2}], "task": "2"}\n'
    rows = b'story,question,answer,support\n"Mary got it. She went.",Where?,home,"0 1"\n'
    squad = (
        b'{"data": [{"paragraphs": [{"context": "a. b.", "qas": [{"question": "q", "answers": [{"text": "b"}]}]}]}]}'
    )
    words = Path(str(load_words.__globals__["__file__"])).with_name("words.toml").read_bytes()[:3000]
    kinds = (
        ("a.txt", babi), ("dialog-babi-task1-API-calls-trn.txt", turns), ("a.jsonl", lines), ("a.csv", rows),
        ("a.tsv", rows.replace(b",", b"\t")), ("a.json", squad), ("a.json", b"[" + lines.strip() + b"]"),
        ("a", lines), ("a.jsonl.gz", gzip.compress(lines)), ("kb.txt", b"1 a_place R_cuisine thai\n"),
        ("kb.jsonl", b'{"name": "a", "cuisine": "thai"}\n'), ("words.toml", words),
    )  # fmt: skip

    def attempt(data: bytes) -> None:
        number, rest = data[0] % len(kinds), data[1:]
        path = folder / kinds[number][0]
        path.write_bytes(rest)
        if path.name.startswith("kb"):
            KnowledgeBase.read(path)
        elif path.suffix == ".toml":
            load_words(path)
        else:
            problems: list[Problem] = []
            list(scan_file(path, problems))
            read_file(path)

    return Target(tuple(bytes([number]) + content for number, (_, content) in enumerate(kinds)), attempt)


def _resigned(path: Path, kind: str) -> Target:
    """A file whose header is changed and signed again, and, every other time, one that is just changed."""
    tensors, metadata = load_tensors(path, kind)
    texts = {name: text for name, text in metadata.items() if name != "format"}
    if "task" in texts:
        texts["task"] = checkpoint._unsqueeze(texts["task"])
    names = sorted(texts)
    whole = path.read_bytes()

    def attempt(data: bytes) -> None:
        if data[:1] == b"\x00":
            path.write_bytes(data[1:])
            return
        forged = dict(texts)
        number = data[0] % len(names)
        text = data[1:].decode("utf-8", "replace")
        forged[names[number]] = checkpoint._squeeze(text) if names[number] == "task" else text
        save_tensors(path, kind, tensors, forged)

    seeds = [
        b"\x00" + whole[:20_000],
        *(bytes([number + len(names)]) + texts[name].encode() for number, name in enumerate(names)),
    ]
    return Target(tuple(seeds), attempt)


def models() -> Target:
    """Model files: their bytes, and headers with a fitting checksum."""
    path = Path(tempfile.mkdtemp()) / "model.safetensors"
    path.write_bytes(find_model("task1").read_bytes())
    made = _resigned(path, checkpoint._FORMAT)

    def attempt(data: bytes) -> None:
        made.attempt(data)
        model = model_of(load_model(path))
        model.answer(["Mary went home."], "Where is Mary?")  # type: ignore[union-attr]

    return Target(made.seeds, attempt)


def states() -> Target:
    """States of an interrupted training: their bytes, and headers with a fitting checksum."""
    folder = Path(tempfile.mkdtemp())
    parts = load_parts("generated", "1", questions=60)
    recipe = Recipe(restarts=2, max_epochs=3, evaluate_every=1)

    def make() -> Run:
        return Run(parts, Setup(resolve("1r4"), StoryOptions(), recipe), Place(folder))

    make().train(lambda run: run.request_stop())
    made = _resigned(folder / STATE_FILE, state._FORMAT)
    resuming = make()

    def attempt(data: bytes) -> None:
        made.attempt(data)
        resuming.resume()

    return Target(made.seeds, attempt)


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


def api() -> Target:
    """Requests to the server's application."""
    app = create_app({"task1": load("task1"), "dialog": load("dialog")})
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
    paths = ("/api/answer", "/api/trace", "/api/story", "/api/chat", "/api/models", "/api/knowledge/dialog")
    bodies: tuple[Any, ...] = (story, story, {"model": "task1", "seed": 7}, chat, None, None)
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
        status = loop.run_until_complete(ask(paths[data[0] % len(paths)], data[1:]))
        if status >= 500:
            raise RuntimeError(f"status {status}")
        if status >= 400:
            raise InputError("refused")

    seeds = [bytes([number]) + (json.dumps(body).encode() if body else b"") for number, body in enumerate(bodies)]
    return Target(tuple(seeds), attempt)


TARGETS: dict[str, tuple[Callable[[], Target], int]] = {
    "readers": (readers, 760_000),
    "stored results": (store, 60_000),
    "models": (models, 60_000),
    "resume states": (states, 60_000),
    "API": (api, 60_000),
}
"""Target → how to set it up, and the number of tries in a full run."""
