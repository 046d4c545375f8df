"""qrn ask"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from query_reduction.cli.output import console, notes, print_json
from query_reduction.data.readers import read_file
from query_reduction.errors import InputError
from query_reduction.interpret.terminal import gate_table
from query_reduction.reader import Reader, load

__all__ = ["Ask"]

_MOST_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True)
class Ask:
    """Ask a trained model about a story.

    The story comes from a file, from standard input, or, when neither is given, from the keyboard.
    """

    model: Annotated[Path, tyro.conf.Positional]
    """A model file, or the folder of a training run."""
    story: str | None = None
    """A text file with one sentence a line (or a bAbI or .jsonl file: its first story); - reads standard input."""
    question: str | None = None
    """The question; without one (and with the story in a file) questions are read from the keyboard."""
    gates: bool = True
    """Show the gates behind the answer."""
    json: bool = False
    """Print the answer as one JSON object."""

    def run(self) -> int:
        """Answer one question, or hold a session."""
        reader = load(self.model)
        piped = self.story == "-" or (self.story is None and not sys.stdin.isatty())
        if piped and self.question is None:
            raise InputError("a story on standard input needs --question")
        if piped:
            sentences = _sentences(sys.stdin.read(_MOST_BYTES))
        elif self.story is not None:
            sentences = _read_story(Path(self.story))
        else:
            sentences = _type_story()
        if self.question is not None:
            self._answer(reader, sentences, self.question)
            return 0
        while question := _prompt("question (empty line to end): "):
            self._answer(reader, sentences, question)
        return 0

    def _answer(self, reader: Reader, sentences: list[str], question: str) -> None:
        answer = reader.answer(sentences, question)
        trace = reader.trace(sentences, question) if self.gates else None
        if self.json:
            value: dict[str, Any] = {"question": question, **asdict(answer)}
            if trace:
                value["trace"] = trace.as_json()
            print_json(value)
            return
        console.print(f"[bold]{answer.text}[/]  ({answer.confidence:.0%} sure)")
        if answer.runners_up:
            others = ", ".join(f"{text} {probability:.1%}" for text, probability in answer.runners_up)
            console.print(f"then: {others}", style="dim", markup=False)
        if answer.unknown_words:
            console.print(f"unknown words, read as nothing: {', '.join(answer.unknown_words)}", style="yellow", markup=False)
        if trace:
            console.print(gate_table(trace))


def _sentences(text: str) -> list[str]:
    """One sentence a line; the numbers of bAbI lines are not part of the sentence, questions with answers no sentences."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "\t" not in line]
    numbered = all(line.split(" ", 1)[0].isdecimal() and " " in line for line in lines)
    return [line.split(" ", 1)[1] for line in lines] if numbered else lines


def _read_story(path: Path) -> list[str]:
    if path.suffix == ".jsonl":
        return list(read_file(path)[0].sentences)
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MOST_BYTES)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    sentences = _sentences(text)
    if not sentences:
        raise InputError(f"{path}: no sentences in this file; write one a line")
    return sentences


def _type_story() -> list[str]:
    notes.print("Tell the story, one sentence a line; an empty line ends it.")
    sentences = []
    while sentence := _prompt("> "):
        sentences.append(sentence)
    return sentences


def _prompt(text: str) -> str:
    try:
        return input(text).strip()
    except EOFError:
        return ""
