"""qrn data list, fetch, symmetries, generate"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

from query_reduction import worlds
from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.check import data_path
from query_reduction.cli.output import console, notes, print_json
from query_reduction.errors import InputError
from query_reduction.names.discovery.discover import SECONDS, discover
from query_reduction.settings import Between
from query_reduction.sources.fetch import DATASETS, cache_folder, fetch
from query_reduction.sources.numbers import parse_tasks
from query_reduction.sources.part_files import data_files, part_of
from query_reduction.text.formats.readers import read_file
from query_reduction.text.haystack import read_haystack
from query_reduction.text.stories import Story

__all__ = ["DataSymmetries", "FetchData", "GenerateData", "ListData"]


@dataclass(frozen=True)
class ListData:
    """List the available data and where it is stored.

    The names are those that --data takes.

        qrn data list
    """

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
    """Download a published dataset.

    It is checked and unpacked; an interrupted download is resumed.

        qrn data fetch babi
    """

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
class DataSymmetries:
    """Discover which words of some stories are interchangeable without making an answer false.

    No word list and no knowledge of a language is used; the stories may be in any script. 'qrn train --symmetries
    --copies 20' trains on stories retold in words found this way.

        qrn data symmetries stories.jsonl
    """

    path: Annotated[str, POSITIONAL]
    """A file of stories, or a folder: its training part."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Seed of the random numbers in the tests behind each finding."""
    seconds: Annotated[float, Between(1, 1e6)] = SECONDS
    """Seconds of computing that may be spent; what was not looked at is said."""
    json: bool = False
    """Print as one JSON object."""

    def run(self) -> int:
        """Discover and describe."""
        stories = _training_stories(self.path)
        with notes.status("looking for interchangeable words") as status:

            def searching(what: str, part: float) -> None:
                status.update(f"looking for interchangeable words: {what} ({part:.0%})")

            found = discover(stories, seed=self.seed, seconds=self.seconds, progress=searching)
        if self.json:
            print_json(found.as_json())
            return 0
        lines = found.describe() or ["no interchangeable words were found"]
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)
        for line in found.not_examined():
            notes.print(line, markup=False, soft_wrap=True)
        return 0


def _training_stories(name: str) -> list[Story]:
    """The stories of a file, or of the training files of a folder."""
    path = data_path(name)
    if not path.is_dir():
        return read_file(path)
    files = data_files(path)
    training = [file for file in files if part_of(file) == "train"]
    if not training and len(files) == 1:
        training = files
    if not training:
        raise InputError(f"{path}: no file here is named as a training part (train.jsonl, qa1_…_train.txt)")
    return [story for file in training for story in read_file(file)]


@dataclass(frozen=True)
class GenerateData:
    """Write generated stories as bAbI files, for training, validation and test.

    The same seed gives the same bytes on every machine, and the parts never share a story.

        qrn data generate --out my-stories --tasks 1-3 --questions 1000
    """

    out: Path
    """The folder to write to."""
    tasks: str = "1-20"
    """Which tasks: a number, a range, a list, or all; or worlds of chains, several separated by commas: space, kinship,
    order, containment, debts. These are written as JSON lines, a folder for each."""
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
    """A table of words of your own to use instead of the built-in one."""
    language: str = "english"
    """The language of the stories: chinese, english, german, latin, russian or turkish."""
    json: bool = False
    """Print as one JSON object."""
    options: worlds.WorldOptions = field(default_factory=worlds.WorldOptions)
    chains: worlds.ChainOptions = field(default_factory=worlds.ChainOptions)

    def run(self) -> int:
        """Generate."""
        if self.words and self.language != "english":
            raise InputError("give --words or --language, not both: a table of words has its own language")
        chosen = [name.strip() for name in self.tasks.split(",")]
        options = self.chains if set(chosen) <= worlds.CHAINS.keys() else self.options
        counts = {"held_out_questions": self.held_out_questions}
        if isinstance(options, worlds.ChainOptions):
            if self.unseen_names or self.mixed or self.haystack or self.words or self.options != worlds.WorldOptions():
                raise InputError(
                    "worlds of chains have --hops, --noise, --phrasing and --letters, and no other options"
                )
            paths = worlds.write_chains(self.out, chosen, self.questions, self.seed, options=options, **counts)
        else:
            if self.chains != worlds.ChainOptions():
                raise InputError("hops, noise, phrasing and letters are for worlds of chains: use --tasks space")
            paths = worlds.write(
                self.out,
                parse_tasks(self.tasks),
                self.questions,
                self.seed,
                options=options,
                words=worlds.load_words(self.words) if self.words else worlds.load_language(self.language),
                unseen_names=self.unseen_names,
                mixed=self.mixed,
                haystack=read_haystack(self.haystack) if self.haystack else (),
                **counts,
            )
        if self.json:
            print_json({"files": [str(path) for path in paths], "options": asdict(options), "seed": self.seed})
        else:
            console.print(f"{len(paths)} files in {self.out}", markup=False)
        return 0
