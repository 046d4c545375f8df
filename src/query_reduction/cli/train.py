"""qrn train"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from query_reduction.cli.arguments import RARE, Groups, Named, Settings
from query_reduction.cli.interrupt import loss_shown, train_with_progress
from query_reduction.cli.output import console, notes, print_json
from query_reduction.cli.scores import score_table
from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError, needs
from query_reduction.model_file import MODEL_FILE, save_model
from query_reduction.native.threads import MOST_THREADS, available_cores, use_threads
from query_reduction.pointing.config import PointerConfig, PointerRecipe
from query_reduction.qrn.variants import QRNConfig
from query_reduction.reading.stories import StoryOptions
from query_reduction.settings import Between
from query_reduction.training.recipes import FAMILIES, Recipe

if TYPE_CHECKING:
    from query_reduction.reading.protocol import Parts
    from query_reduction.training.results import RunResult
    from query_reduction.training.run import Run

__all__ = ["Train"]

_READING: Groups = {"reading": {"stories": StoryOptions, "dialogs": DialogOptions}, "training": {"": Recipe}}


def _rivals() -> Groups:
    """The settings of every network; loads all of them, and PyTorch."""
    from query_reduction.rivals.registry import kinds

    rivals = {name: kind.config for name, kind in kinds().items() if kind.config is not QRNConfig}
    span = {"--head span": PointerConfig, "training with --head span": PointerRecipe}
    return {"network": {"qrn": QRNConfig}, **_READING, "settings of rivals": rivals, "settings of --head span": span}


def _choices() -> Mapping[str, Mapping[str, str]]:
    from query_reduction.rivals.registry import kinds

    networks = {
        "2r, 2rv, 6r200 …": "a Query-Reduction Network by the paper's name: layers, r for reset gates, v for vector "
        "gates, dimension; for dialogs, + adds match and c copying",
        **{kind.name: kind.about for kind in kinds().values() if kind.parse is None},
    }
    return {"networks": networks, "recipes": {name: family.about for name, family in FAMILIES.items()}}


_SETTINGS = Settings(
    groups={"network": {"": QRNConfig}, **_READING},
    more=_rivals,
    usual=("symmetries", "copies", "restarts", "max_epochs", "seed"),
    choices=_choices,
)


@dataclass(frozen=True)
class Train:
    """Train a network on stories or dialogs.

    Restarts from different initial weights train together; the one that does best on held-out development
    questions is chosen, and its error on the test questions is the result. Nothing is ever chosen on the test.

        qrn train --data stories.jsonl --recipe best --out runs/mine
        qrn train --data babi --task 2 --network 3r --restarts 5
        qrn train --data propara --vectors glove.6B.50d.txt
        qrn ask runs/mine --story story.txt --question "Where is the milk?"
    """

    data: str = "generated"
    """Your file or folder; or generated, generated-dialog, babi, babi/en-10k, dialog, propara."""
    task: str | None = None
    """The bAbI task: a number, or several (1-5,19 or all) for one network that learns all of them."""
    network: str | None = None
    """A Query-Reduction Network such as 2r or 3rv100, or a rival such as gru or memn2n. Default: the recipe's, mostly
    2r."""
    recipe: str = "original"
    """Settings that belong together: original, paper, adam, best (least data), joint (several tasks), long (a whole
    book)."""
    head: Literal["auto", "list", "span", "responses", "slots"] = "auto"
    """What an answer is: one of a list of those seen in training, or a phrase of the story (span); auto points at the
    text where things are tracked, and where answers are phrases that a list would lack. For dialogs: word by word among
    the candidates (responses), or independent fixed slots."""
    vectors: Path | None = None
    """With --head span, vectors of words from elsewhere: a text file in the format of GloVe or word2vec."""
    from_model: Annotated[str | None, Named("from")] = None
    """Fine-tune this model (a file, the folder of a run, or a ready model) on the data; new words and answers are
    added."""
    haystack: Annotated[Path | None, RARE] = None
    """A text in which training stories are hidden (--recipe long), so that the network learns to find facts in it; the
    last tenth of its lines is kept for development."""
    questions: Annotated[int, Between(1, 10_000_000)] = 1000
    """Training questions per task, or training dialogs, for generated data."""
    out: Path | None = None
    """The folder for model, result and curves; by default a new one under runs/."""
    resume: bool = False
    """Resume an interrupted run that had the same options."""
    save_every: Annotated[float, RARE, Between(0, 1e9)] = 5.0
    """Seconds between two saves of the state that --resume needs."""
    threads: Annotated[int, Between(0, MOST_THREADS)] = 0
    """Number of threads; 0 means one per core."""
    json: bool = False
    """Print the result as one JSON object."""
    settings: Annotated[Mapping[str, Any], _SETTINGS] = field(default_factory=dict)

    def run(self) -> int:
        """Train, choose, test, report."""
        with needs("train", "training"):
            from query_reduction.training.api import setup_for
        from query_reduction.sources.named import load_parts
        from query_reduction.text.haystack import read_haystack
        from query_reduction.training.run import Run
        from query_reduction.training.run_folder import Place

        use_threads(self.threads or available_cores())
        parts = load_parts(self.data, self.task, questions=self.questions, seed=self.settings.get("seed", 0))
        if why := self._why_pointing(parts):
            notes.print(f"answers are pointed at in the text: {why}", markup=False, soft_wrap=True)
            return self._train_pointer(parts)
        if self.vectors is not None:
            raise InputError("--vectors has no effect on answers from a list: add --head span")
        if self.haystack is not None:
            parts = parts.hidden_in(read_haystack(self.haystack))
        settings = {**self.settings, **({"head": self.head} if self.head in ("responses", "slots") else {})}
        setup, start = setup_for(self.network, self.recipe, parts, settings, self.from_model)
        folder = self._folder(parts.name, parts.kind, setup.name)
        about = f"{self.data} task {self.task}" if self.task else self.data
        source = {"source": self.data} | ({"task": self.task} if self.task else {})
        place = Place(folder, self.save_every, about, source)
        with place.owned():
            self._check_unused(folder)
            run = Run(parts, setup, place, start=start)
            if not self._to_the_end(run, folder):
                return 130
            result = run.finish()
        if self.json:
            print_json(result.as_json() | {"folder": str(folder)})
        else:
            report(result, folder, parts.kind)
        return 0

    def _why_pointing(self, parts: Parts) -> str:
        """Why the head is one that points; empty if it is not."""
        from query_reduction.training.pointing_run import why_pointing

        chosen = self.network is not None or self.from_model is not None or self.haystack is not None
        if self.head == "span":
            if chosen or parts.kind != "stories":
                raise InputError(
                    "--head span is for stories, and --network, --from and --haystack have no effect on it"
                )
            return "--head span"
        return why_pointing(parts.train) if self.head == "auto" and not chosen and parts.kind == "stories" else ""

    def _train_pointer(self, parts: Parts) -> int:
        from query_reduction.training.pointing_run import pointer_setup, run_pointer
        from query_reduction.training.run_folder import Place

        setup = pointer_setup(self.settings)
        folder = self._folder(parts.name, parts.kind, "span")
        with Place(folder).owned():
            self._check_unused(folder)
            source = {"source": self.data} | ({"task": self.task} if self.task else {})
            with loss_shown(setup.recipe.max_epochs) as show:
                model = run_pointer(parts, setup, vectors=self.vectors, about=source, folder=folder, on_epoch=show)
        if self.json:
            print_json(dict(model.card) | {"folder": str(folder)})
            return 0
        named = (("development", "dev_error"), ("test", "test_error"))
        errors = [f"{name} error {model.card[key]:.1f}%" for name, key in named if key in model.card]
        console.print(f"{', '.join(errors) or 'trained'}; {model.card['seconds']:.0f} s", markup=False)
        rest = "qrn track {} --story FILE --things …" if model.tracks else 'qrn ask {} --story FILE --question "…"'
        console.print(f"model in {folder}: try  {rest.format(folder)}", markup=False)
        return 0

    def _to_the_end(self, run: Run, folder: Path) -> bool:
        """Train; False if it was interrupted."""
        resumed = self.resume and run.resume()
        for line in run.task.describe():
            notes.print(line, markup=False, soft_wrap=True)
        if resumed:
            notes.print(f"resuming {folder} at epoch {run.trainer.epoch}", markup=False)
        if train_with_progress(run):
            return True
        if run.best().weights:
            save_model(folder / MODEL_FILE, run.model(run.best(), {"finished": False}))
        notes.print(
            f"stopped at epoch {run.trainer.epoch}; to resume, use the same command with --resume --out {folder}",
            markup=False,
        )
        return False

    def _folder(self, data_name: str, kind: str, network: str) -> Path:
        """The folder of this run: the one given, the interrupted run to resume, or a new one."""
        from query_reduction.training.run_folder import is_unfinished

        if self.out is not None:
            return self.out
        task = f"{'dialog' if kind == 'dialogs' else 'qa'}{self.task}" if self.task else data_name
        stem = f"{task}-{network}"
        number = 1
        while True:
            folder = Path("runs") / (stem if number == 1 else f"{stem}.{number}")
            if not folder.exists() or (self.resume and is_unfinished(folder)):
                return folder
            number += 1

    def _check_unused(self, folder: Path) -> None:
        from query_reduction.training.run_folder import is_finished, is_unfinished

        if is_finished(folder):
            raise InputError(f"{folder} holds a finished run; choose another --out")
        if is_unfinished(folder) and not self.resume:
            raise InputError(f"{folder} holds an unfinished run; add --resume to continue it, or choose another --out")


def report(result: RunResult, folder: Path | None, kind: str) -> None:
    """The result of a run, as text."""
    chosen = result.chosen
    if chosen.test_error is None:
        console.print(f"development error [bold]{chosen.dev_error:.1f}%[/] (no test questions)")
    else:
        spread: dict[str, Any] = result.as_json()
        over = ""
        if len(result.restarts) > 1:
            over = (
                f" (restart {chosen.restart}, chosen on development); over {len(result.restarts)} restarts "
                f"{spread['test_error_mean']:.1f} ± {spread['test_error_std']:.1f}%"
            )
        console.print(f"test error [bold]{chosen.test_error:.1f}%[/]{over}; {result.seconds:.0f} s")
    if result.diverged:
        console.print(
            f"{len(result.diverged)} of {len(result.restarts)} restarts diverged and were stopped; try a smaller "
            "--learning-rate",
            style="yellow",
        )
    if sum(map(len, chosen.errors.values())) > 1:
        console.print(score_table(chosen.errors))
    verb = "chat" if kind == "dialogs" else "ask"
    rest = "" if kind == "dialogs" else ' --story FILE --question "…"'
    if folder:
        console.print(f"model in {folder}: try  qrn {verb} {folder}{rest}", markup=False)
