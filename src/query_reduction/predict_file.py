"""Answers to all questions of a file, into a file: of any size, and goes on where it was stopped.

Until all questions are answered, the answers are in a file with ``.part`` after its name, and a small file beside it
says how far they go and what they belong to. Whatever was written after that is cut off and answered again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from query_reduction.errors import InputError
from query_reduction.files import lock, rename, write_atomically
from query_reduction.model import Model
from query_reduction.model_file import fingerprint
from query_reduction.pointing.model import PointerModel
from query_reduction.reading.predictions import AT_ONCE, Asked, Prediction, in_chunks, questions_of
from query_reduction.text.formats.dialog import scan_dialogs
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.opening import first_characters, watched_reading
from query_reduction.text.formats.readers import holds_dialogs, record_scanner, scan_file
from query_reduction.text.stories import Story

__all__ = ["Progress", "predict_file"]

_FIELDS = (
    *("number", "id", "question", "answer", "confidence", "declined"),
    *("support", "sentences", "unknown_words", "notes"),
)
"""The columns of a table of answers."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file of answers has come."""

    questions: int
    """Answered so far, those of an earlier run included."""
    share: float
    """How much of the file has been read, from 0 to 1."""
    finished: bool = False
    before: int = 0
    """Answered by an earlier run that was stopped."""


def predict_file(model: Model | PointerModel, path: Path, out: Path) -> Iterator[Progress]:
    """Answer all questions of ``path`` into ``out`` (.jsonl or .csv); yields after every few thousand.

    One may stop anywhere: the same call goes on from there, to the same bytes.
    """
    write = _writer(out)
    if out.exists():
        raise InputError(f"{out} is there already; delete it, or choose another name")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    kind = "dialogs" if holds_dialogs(path) else "stories"
    trained = model.task.kind if isinstance(model, Model) else "stories"
    if kind != trained and (kind == "dialogs" or record_scanner(path)):
        raise InputError(f"{path} holds {kind}, but the model was trained on {trained}")
    identity = fingerprint(model.saved) if isinstance(model, Model) else model.fingerprint()
    part = _Part(out, {"model": identity, "questions": _identity(path), "at once": AT_ONCE})
    size = max(path.stat().st_size, 1)
    with watched_reading() as bytes_read, part.open() as file:
        done = before = part.resume(file)
        if not before:
            file.write(write.header)
        yield Progress(done, 0.0, before=before)
        for chunk in in_chunks(_after(before, _stories(path, trained))):
            asked = questions_of(chunk)
            file.write(write.rows(done + 1, asked, model.predict_together(chunk)).encode())
            done += len(asked)
            part.keep(file, done)
            yield Progress(done, min(bytes_read() / size, 1.0), before=before)
        if not done:
            part.discard()
            raise InputError(f"{path}: no questions in this file; 'qrn data check' says what it holds")
        part.finish()
    yield Progress(done, 1.0, finished=True, before=before)


def _stories(path: Path, kind: str) -> Iterator[Story]:
    problems: list[Problem] = []
    scan = scan_dialogs if kind == "dialogs" else scan_file
    yield from scan(path, problems, stop_at_first=True, unanswered=True)
    if problems:
        raise InputError(f"{problems[0]} ('qrn data check' lists all problems)")


def _after(questions: int, stories: Iterable[Story]) -> Iterator[Story]:
    """The stories after so many questions, which are those of whole stories."""
    for story in stories:
        if questions > 0:
            questions -= len(story.questions)
        else:
            yield story


def _identity(path: Path) -> dict[str, Any]:
    """What tells whether a file is still the same, without reading all of it."""
    found = path.stat()
    beginning = hashlib.sha256(first_characters(path).encode("utf-8", "surrogatepass")).hexdigest()
    return {"name": path.name, "bytes": found.st_size, "changed": found.st_mtime_ns, "beginning": beginning}


class _Part:
    """The unfinished file of answers."""

    def __init__(self, out: Path, about: dict[str, Any]) -> None:
        self._out = out
        self._about = about
        self._file = out.with_name(f"{out.name}.part")
        self._state = out.with_name(f"{out.name}.part.json")

    def open(self) -> IO[bytes]:
        """The file, to be written at its end; nobody else may write to it until it is closed."""
        try:
            self._out.parent.mkdir(parents=True, exist_ok=True)
            file = self._file.open("ab")
        except OSError as error:
            raise InputError(f"cannot write {self._file}: {error.strerror}") from error
        if not lock(file, self._file):
            file.close()
            raise InputError(f"another process is writing {self._file}; wait for it, or choose another name")
        return file

    def resume(self, file: IO[bytes]) -> int:
        """How many questions an earlier run has answered, if any; whatever it wrote after that is cut off."""
        written = file.tell()
        questions, length = self._kept() if written and self._state.exists() else (0, 0)
        if written < length:
            questions, length = 0, 0
        file.truncate(length)
        file.seek(length)
        return questions

    def _kept(self) -> tuple[int, int]:
        """Questions answered, and bytes written, when the state was written."""
        try:
            state = json.loads(self._state.read_bytes())
            about, questions, length, said = (state.pop(name) for name in ("about", "questions", "bytes", "sha256"))
            whole = type(questions) is int and type(length) is int
            if state or not whole or said != _checksum(about, questions, length):
                raise ValueError("it was changed")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"{self._state} cannot be read; delete it to begin again") from error
        if about != self._about:
            raise InputError(
                f"{self._file} has answers of another model, or to questions that changed; delete it to begin again"
            )
        return questions, length

    def keep(self, file: IO[bytes], questions: int) -> None:
        """Make sure that what was written so far survives."""
        file.flush()
        os.fsync(file.fileno())
        length = file.tell()
        state = {"about": self._about, "questions": questions, "bytes": length}
        state["sha256"] = _checksum(self._about, questions, length)
        write_atomically(self._state, json.dumps(state) + "\n")

    def finish(self) -> None:
        """Give the file its name; the state goes first, so that nothing is left beside a finished file."""
        self._state.unlink(missing_ok=True)
        rename(self._file, self._out)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)


def _checksum(about: object, questions: object, length: object) -> str:
    """So that a state that was damaged or changed is noticed."""
    return hashlib.sha256(json.dumps([about, questions, length], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Writer:
    """One format of answers."""

    header: bytes
    format: Callable[[Iterable[dict[str, Any]]], str]

    def rows(self, first: int, asked: Iterable[Asked], predictions: Iterable[Prediction]) -> str:
        """The text of some answers, whose questions are counted from ``first``."""
        numbered = enumerate(zip(asked, predictions, strict=True), start=first)
        return self.format(_row(number, one, prediction) for number, (one, prediction) in numbered)


def _row(number: int, asked: Asked, prediction: Prediction) -> dict[str, Any]:
    sentences, question = asked
    return {
        "number": number,
        "id": question.id,
        "question": question.text,
        "answer": prediction.text,
        "confidence": round(prediction.confidence, 6),
        "declined": prediction.declined,
        "support": list(prediction.support),
        "sentences": [sentences[place] for place in prediction.support],
        "unknown_words": list(prediction.unknown_words),
        "notes": prediction.notes(),
    }


def _json_lines(rows: Iterable[dict[str, Any]]) -> str:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return "".join(f"{encode(row)}\n" for row in rows)


def _table(rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    for row in rows:
        lists = {
            "support": " ".join(map(str, row["support"])),
            "sentences": "\n".join(row["sentences"]),
            "unknown_words": " ".join(row["unknown_words"]),
            "notes": "; ".join(row["notes"]),
        }
        table.writerow([lists.get(name, row[name]) for name in _FIELDS])
    return text.getvalue()


def _writer(out: Path) -> _Writer:
    suffix = out.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return _Writer(b"", _json_lines)
    if suffix == ".csv":
        return _Writer(",".join(_FIELDS).encode() + b"\n", _table)
    raise InputError(f"{out}: answers are written as .jsonl or .csv")
