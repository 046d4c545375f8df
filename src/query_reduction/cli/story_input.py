"""Where a verb's story comes from: a file, standard input, the command itself, or the keyboard."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from query_reduction.cli.output import notes
from query_reduction.errors import InputError

__all__ = ["is_large", "is_piped", "lines_from", "prompt", "story_from"]

_MOST_BYTES = 50 * 1024 * 1024
_LARGE = 1024 * 1024
_SHOWN_EVERY = 500
"""Lines between two steps of the progress bar."""
_STANDARD_INPUT = Path("standard input")
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "؟", "।")


def is_piped(story: str | None) -> bool:
    """Whether the story comes from standard input, which then cannot be used for questions."""
    return story == "-" or (story is None and not sys.stdin.isatty())


def story_from(story: str | None) -> str | list[str]:
    """The story as text, or its sentences: of the named file, of standard input (-), given in quotes, or typed."""
    if is_piped(story):
        text = _told(sys.stdin.read(_MOST_BYTES))
        if not text:
            raise InputError("no sentences on standard input")
        return text
    if story is not None:
        return _of_file(_file(story)) if not _is_text(story) else _told(story)
    notes.print("Type the story; an empty line ends it.")
    sentences = []
    while sentence := prompt("> "):
        sentences.append(sentence)
    return sentences


def is_large(story: str | None) -> bool:
    """Whether a story is a text that had better be read line by line."""
    path = Path(story or "-")
    return _exists(path) and path.is_file() and path.suffix != ".jsonl" and path.stat().st_size > _LARGE


@contextmanager
def lines_from(story: str | None) -> Iterator[Iterator[str]]:
    """The lines of a file or of standard input (-), one at a time, under a progress bar."""
    if story is None and sys.stdin.isatty():
        raise InputError("--stream needs a story: a file, or - for standard input")
    if story is not None and _is_text(story):
        yield iter(story.splitlines())
        return
    piped = is_piped(story)
    path = Path("-") if story is None or piped else _file(story)
    # Long texts alone need these.
    from rich.progress import Progress

    from query_reduction.text.formats.lines import Problem, lines_of, text_lines

    problems: list[Problem] = []
    lines = lines_of(sys.stdin, _STANDARD_INPUT, problems) if piped else text_lines(path, problems)
    columns = Progress.get_default_columns()
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task("reading", total=None if piped else path.stat().st_size)

        def shown() -> Iterator[str]:
            read = 0
            for number, line in enumerate(lines):
                read += len(line) + 1
                if number % _SHOWN_EVERY == 0:
                    bar.update(task, completed=read)
                yield line
            if problems:
                raise InputError(str(problems[0]))

        yield shown()


def prompt(text: str) -> str:
    """A line from the keyboard; empty at the end of input."""
    try:
        return input(text).strip()
    except EOFError:
        return ""


def _is_text(story: str) -> bool:
    """Whether this is a story rather than a file's name: several words that end like a sentence, or several lines."""
    looks_told = " " in story.strip() and story.rstrip(" \n\"'”’»)").endswith(_SENTENCE_ENDS)
    return (looks_told or "\n" in story.strip()) and not _exists(Path(story))


def _file(story: str) -> Path:
    path = Path(story)
    if not _exists(path):
        raise InputError(
            f"--story {_shown(story)}: no such file; give a file, - for standard input, or whole sentences in quotes, "
            "each with its full stop"
        )
    return path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # longer than a file's name can be, or with a NUL character
        return False


def _shown(story: str) -> str:
    return repr(story if len(story) <= 60 else f"{story[:57]}...")


def _of_file(path: Path) -> str | list[str]:
    if path.suffix == ".jsonl":
        from query_reduction.text.formats.readers import read_file

        return list(read_file(path)[0].sentences)
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = _told(file.read(_MOST_BYTES))
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if not text:
        raise InputError(f"{path}: no sentences in this file")
    return text


def _told(text: str) -> str | list[str]:
    """A text without questions (bAbI has them after a tab). Numbered lines are the sentences of its first story."""
    lines = [line.strip() for line in text.splitlines()]
    filled = [line for line in lines if line]
    split = [line.partition(" ") for line in filled]
    if not all(number.isdecimal() and rest for number, _, rest in split):
        return "\n".join([line for line in lines if "\t" not in line]).strip()
    ends = (place for place, (number, _, _) in enumerate(split) if place and int(number[:12]) == 1)
    return [rest for _, _, rest in split[: next(ends, len(split))] if "\t" not in rest]
