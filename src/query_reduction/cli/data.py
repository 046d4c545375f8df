"""qrn data list, fetch, check, generate"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from query_reduction import worlds
from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError
from query_reduction.names.discovery.discover import discover
from query_reduction.settings import Between
from query_reduction.sources.fetch import DATASETS, cache_folder, fetch
from query_reduction.sources.numbers import parse_tasks
from query_reduction.sources.part_files import data_files
from query_reduction.text.formats.lines import Problem
from query_reduction.text.formats.readers import SUFFIXES, read_file, scan_file
from query_reduction.text.haystack import read_haystack
from query_reduction.text.stories import Story

__all__ = ["CheckData", "DataSymmetries", "FetchData", "GenerateData", "ListData"]

_PROBLEMS_SHOWN = 50


@dataclass(frozen=True)
class ListData:
    """List the available data and where it is stored."""

    json: bool = False
    """Print as one JSON object."""

    def run(self) -> int:
        """List."""
        root = cache_folder()
        rows = [
            {"name": "generated", "what": "20 story tasks, generated on the fly", "here": True},
            *(
                {"name": d.name, "what": d.what, "here": (root / d.name).is_dir(), "address": d.address}
                for d in DATASETS.values()
            ),
        ]
        if self.json:
            print_json({"folder": str(root), "datasets": rows})
            return 0
        for row in rows:
            state = "here" if row["here"] else f"not here: qrn data fetch {row['name']}"
            console.print(f"{row['name']:<10} {row['what']} ({state})", markup=False)
        console.print(f"looked for under {root} (set QRN_DATA to change it)", markup=False)
        return 0


@dataclass(frozen=True)
class FetchData:
    """Download a published dataset, check it and unpack it; an interrupted download is resumed."""

    name: Annotated[str, POSITIONAL]
    """babi or dialog."""
    json: bool = False
    """Print as one JSON object."""

    def run(self) -> int:
        """Fetch."""
        if self.name not in DATASETS:
            raise InputError(f"no dataset {self.name!r}; choose from {', '.join(DATASETS)}")
        folder = fetch(DATASETS[self.name])
        if self.json:
            print_json({"name": self.name, "folder": str(folder)})
        else:
            console.print(f"{self.name} is in {folder}", markup=False)
        return 0


@dataclass(frozen=True)
class CheckData:
    """Count the contents of a file or folder of stories, and list its problems with file and line."""

    path: Annotated[Path, POSITIONAL]
    """A file of any format that is read (.txt, .jsonl, .json, .csv, .tsv, each also with .gz), or a folder of them."""
    json: bool = False
    """Print as one JSON object."""

    def run(self) -> int:
        """Check; exit code 1 if there are problems."""
        if not self.path.exists():
            raise InputError(f"no file or folder {self.path}")
        files = [self.path]
        if self.path.is_dir():
            files = data_files(self.path)
        if not files:
            raise InputError(f"{self.path}: no {', '.join(SUFFIXES)} files here")
        problems: list[Problem] = []
        rows = [_count(path, list(scan_file(path, problems)), problems) for path in files]
        if self.json:
            shown = [{"file": str(p.path), "line": p.line, "what": p.what} for p in problems]
            print_json({"files": rows, "problems": shown})
            return 1 if problems else 0
        for row in rows:
            console.print(
                f"{row['file']}: {row['stories']} stories, {row['sentences']} sentences ({row['distinct_sentences']} "
                f"distinct, longest story {row['longest_story']}), {row['questions']} questions, "
                f"{row['answers']} answers",
                markup=False,
            )
        for problem in problems[:_PROBLEMS_SHOWN]:
            notes.print(str(problem), markup=False)
        if problems:
            notes.print(f"{len(problems)} problem{'s' * (len(problems) != 1)} found")
        return 1 if problems else 0


def _count(path: Path, stories: list[Story], problems: list[Problem]) -> dict[str, Any]:
    answers = Counter(question.answer for story in stories for question in story.questions)
    if not answers and not any(problem.path == path for problem in problems):
        problems.append(Problem(path, 0, "no questions in this file"))
    return {
        "file": str(path),
        "stories": len(stories),
        "sentences": sum(len(story.sentences) for story in stories),
        "distinct_sentences": len({sentence for story in stories for sentence in story.sentences}),
        "longest_story": max((len(story.sentences) for story in stories), default=0),
        "questions": answers.total(),
        "answers": len(answers),
        "most_common_answers": dict(answers.most_common(5)),
    }


@dataclass(frozen=True)
class DataSymmetries:
    """Discover which words of some stories are interchangeable without making an answer false.

    No word list and no knowledge of a language is used; the stories may be in any script. 'qrn train --symmetries
    --copies 20' trains on stories retold in words found this way.
    """

    path: Annotated[Path, POSITIONAL]
    """A file of stories."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Seed of the random numbers in the tests behind each finding."""
    json: bool = False
    """Print as one JSON object."""

    def run(self) -> int:
        """Discover and describe."""
        stories = read_file(self.path)
        with notes.status("looking for interchangeable words"):
            found = discover(stories, seed=self.seed)
        if self.json:
            print_json(found.as_json())
            return 0
        lines = found.describe() or ["no interchangeable words were found"]
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)
        return 0


@dataclass(frozen=True)
class GenerateData:
    """Write generated stories as bAbI files, for training, validation and test.

    The same seed gives the same bytes on every machine, and the parts never share a story.
    """

    out: Path
    """The folder to write to."""
    tasks: str = "1-20"
    """Which tasks: a number, a range, a list, or all."""
    questions: Annotated[int, Between(1, 10_000_000)] = 10000
    """Training questions per task."""
    held_out_questions: Annotated[int, Between(1, 10_000_000)] = 1000
    """Validation and test questions per task."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """A different seed gives different stories."""
    unseen_names: bool = False
    """The test part uses names the other parts never mention."""
    mixed: bool = False
    """One file for all tasks, stories shuffled, instead of one per task."""
    haystack: Path | None = None
    """Hide the stories in the lines of this text, --sentences in all: training and validation in its first half,
    test in its second (in all of it, if more are needed)."""
    words: Path | None = None
    """A table of words to use instead of the built-in one, e.g. for another language."""
    json: bool = False
    """Print as one JSON object."""
    options: worlds.WorldOptions = field(default_factory=worlds.WorldOptions)

    def run(self) -> int:
        """Generate."""
        paths = worlds.write(
            self.out,
            parse_tasks(self.tasks),
            self.questions,
            self.seed,
            held_out_questions=self.held_out_questions,
            options=self.options,
            words=worlds.load_words(self.words) if self.words else None,
            unseen_names=self.unseen_names,
            mixed=self.mixed,
            haystack=read_haystack(self.haystack) if self.haystack else (),
        )
        if self.json:
            print_json({"files": [str(path) for path in paths], "options": asdict(self.options), "seed": self.seed})
        else:
            console.print(f"{len(paths)} files in {self.out}", markup=False)
        return 0
