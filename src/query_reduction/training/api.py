"""Training from Python: stories in, a model out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from query_reduction.dialog.dialogs import DialogParts
from query_reduction.errors import InputError
from query_reduction.model import DialogModel, Model, StoryModel, load_listed, model_of
from query_reduction.model_file import SavedModel
from query_reduction.native.threads import use_threads
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryParts
from query_reduction.sources.named import question_count
from query_reduction.text.stories import Story
from query_reduction.training.progress import progress_bar
from query_reduction.training.run import Run
from query_reduction.training.run_folder import Place
from query_reduction.training.setup import Setup, continued, own_setup

__all__ = ["Epoch", "setup_for", "train"]


@dataclass(frozen=True, slots=True)
class Epoch:
    """The progress of a training run, for ``on_epoch``."""

    epoch: int
    of: int
    """The maximum number of epochs."""
    training: int
    """The number of restarts still training."""
    dev_error: float | None
    """The best error on development questions so far, in percent; None before the first evaluation."""


def train(
    stories: Sequence[Story],
    *,
    network: str | None = None,
    recipe: str = "original",
    restarts: int | None = None,
    start_from: StoryModel | str | Path | None = None,
    dev: Sequence[Story] = (),
    test: Sequence[Story] = (),
    kind: Literal["stories", "dialogs"] = "stories",
    knowledge: Sequence[tuple[str, str, str]] = (),
    haystack: Sequence[str] = (),
    progress: bool = True,
    on_epoch: Callable[[Epoch], None] | None = None,
    folder: str | Path | None = None,
    threads: int | None = None,
    **settings: Any,
) -> StoryModel | DialogModel:
    """Train a network on stories or dialogs and return the model that does best on development questions.

    Restarts from different initial weights train together. Development questions come from ``dev``, or a tenth of
    ``stories`` is held out for them. If ``test`` stories are given, the model's card records its error on them;
    nothing is ever chosen on the test. ``recipe`` is a family of settings (``original``, ``paper``, ``adam``,
    ``best``, ``long``); single settings are changed by name (``max_epochs=60``, ``dimension=100``). Without ``network``
    the recipe's own is trained: 2r, except for ``best`` and ``long``. With ``start_from``, a model or where one is,
    training goes on from its weights; its network and how it reads stories stay, new words and answers are added.
    ``knowledge`` are the rows of a dialog's knowledge base, ``haystack`` the sentences in which ``recipe="long"`` hides
    stories. With ``folder`` the model, its result and its learning
    curves are also saved there.
    """
    if isinstance(stories, str | Path):
        raise InputError("stories: a list of stories is needed, not a path; use read(path)")
    parts = _parts(kind, list(stories), list(dev), list(test), tuple(knowledge))
    if haystack:
        parts = parts.hidden_in(haystack)
    changes = settings if restarts is None else {"restarts": restarts, **settings}
    setup, start = setup_for(network, recipe, parts, changes, start_from)
    if threads is not None:
        use_threads(threads)
    place = Place(folder=Path(folder) if folder is not None else None)
    with place.owned():
        run = Run(parts, setup, place, start=start)
        with progress_bar(run, shown=progress) as show:

            def after_epoch(run: Run) -> None:
                show(run)
                if on_epoch is not None:
                    on_epoch(_epoch(run))

            run.train(after_epoch)
        result = run.finish()
    return model_of(run.model(run.best(), result.as_json()))


def setup_for(
    network: str | None,
    recipe: str,
    parts: Parts,
    changes: Mapping[str, Any],
    start_from: Model | str | Path | None = None,
) -> tuple[Setup, SavedModel | None]:
    """What is to be trained on some parts, and the model to go on from, if any."""
    questions = question_count(parts.train)
    if start_from is None:
        return own_setup(network, recipe, kind=parts.kind, questions=questions, changes=changes), None
    if network is not None:
        raise InputError("network comes from the model that training goes on from; leave it out")
    start = (start_from if isinstance(start_from, Model) else load_listed(start_from)).saved
    own = continued(
        start.config, start.task.options, recipe, kind=start.task.kind, questions=questions, changes=changes
    )
    return own, start


def _parts(
    kind: str, train: list[Story], dev: list[Story], test: list[Story], knowledge: tuple[tuple[str, str, str], ...]
) -> Parts:
    if kind == "dialogs":
        return DialogParts("dialogs", train, dev, test, knowledge=knowledge)
    if kind != "stories":
        raise InputError(f"kind: it must be stories or dialogs, not {kind!r}")
    if knowledge:
        raise InputError("knowledge: it has no effect on stories")
    return StoryParts("stories", train, dev, test)


def _epoch(run: Run) -> Epoch:
    best = min((restart.dev_error for restart in run.trainer.restarts), default=float("inf"))
    return Epoch(run.trainer.epoch, run.setup.recipe.max_epochs, run.trainer.active, best if best <= 100 else None)
