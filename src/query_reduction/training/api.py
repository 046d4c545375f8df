"""Training from Python: stories in, a model out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from query_reduction.checked import checked
from query_reduction.dialog.dialogs import DialogParts
from query_reduction.errors import InputError
from query_reduction.model import DialogModel, Model, StoryModel, load_listed, model_of
from query_reduction.model_file import SavedModel
from query_reduction.native.threads import use_threads
from query_reduction.reading.protocol import Parts
from query_reduction.reading.stories import StoryParts
from query_reduction.sources.named import question_count
from query_reduction.text.stories import Story
from query_reduction.text.vectors import WordVectors
from query_reduction.training.harm import without_harm
from query_reduction.training.progress import progress_bar, search_bar
from query_reduction.training.restarts import Epoch, epochs
from query_reduction.training.run import Run, best_restart, run_result, trained_model
from query_reduction.training.run_folder import RunFolder
from query_reduction.training.setup import Setup, continued, own_recipe, own_setup

__all__ = ["Epoch", "setup_for", "train"]


@checked
def train(
    stories: Sequence[Story],
    *,
    network: str | None = None,
    recipe: str | None = None,
    restarts: int | None = None,
    start_from: StoryModel | str | Path | None = None,
    dev: Sequence[Story] = (),
    test: Sequence[Story] = (),
    kind: Literal["stories", "dialogs"] = "stories",
    knowledge: Sequence[tuple[str, str, str]] = (),
    haystack: Sequence[str] = (),
    vectors: str | Path | None = None,
    vectors_nearest: int = 0,
    progress: bool = True,
    on_epoch: Callable[[Epoch], None] | None = None,
    folder: str | Path | None = None,
    threads: int | None = None,
    **settings: Any,
) -> StoryModel | DialogModel:
    """Train a network on stories or dialogs and return the model that does best on development questions.

    Restarts from different initial weights train together. Development questions come from ``dev``, or a tenth of
    ``stories`` is held out for them. If ``test`` stories are given, the model's card records its error on them;
    nothing is ever chosen on the test. ``recipe`` names settings that belong together (``original``, ``paper``,
    ``adam``, ``best``, ``joint``, ``long``); by default it is ``best`` for twenty stories of one's own or more, and
    ``original`` for fewer, for dialogs, for numbered tasks and for a ``network`` that is named. Single settings are
    changed by name (``max_epochs=60``, ``dimension=100``). Without ``network`` the recipe's default is trained: 2r, or
    3rv100 for ``best``, ``joint`` and ``long``. ``start_from`` is a model to fine-tune, or where it is saved: its
    network and how it reads stories stay, new words and answers are added. ``knowledge`` are the rows of a dialog's
    knowledge base, ``haystack`` the sentences in which ``recipe="long"`` hides stories. ``vectors`` is a file of word
    vectors to be read beside the learned ones; of its words the ``vectors_nearest`` nearest to each known word are read
    as that word. With ``folder`` the model, its result and its learning curves are also saved there.
    """
    parts = _parts(kind, list(stories), list(dev), list(test), tuple(knowledge))
    if haystack:
        parts = parts.hidden_in(haystack)
    if vectors is not None:
        parts = parts.with_vectors(WordVectors(Path(vectors)), vectors_nearest)
    changes = settings if restarts is None else {"restarts": restarts, **settings}
    setup, start = setup_for(network, recipe, parts, changes, start_from)
    if threads is not None:
        use_threads(threads)
    run_folder = RunFolder(Path(folder) if folder is not None else None)
    with run_folder.owned():
        with search_bar(shown=progress) as searching:
            run = Run(parts, setup, start=start, progress=searching)
        with progress_bar(run, shown=progress) as show, run_folder.kept(run) as keep:
            for epoch in epochs(run.trainer):
                keep(epoch)
                show(epoch)
                if on_epoch is not None:
                    on_epoch(epoch)
        run = without_harm(run, lambda line: print(line, file=sys.stderr) if progress else None)
        result = run_result(run)
        run_folder.save(run, result)
    return model_of(trained_model(run, best_restart(run), result.as_json()))


def setup_for(
    network: str | None,
    recipe: str | None,
    parts: Parts,
    changes: Mapping[str, Any],
    start_from: Model | str | Path | None = None,
) -> tuple[Setup, SavedModel | None]:
    """What is to be trained on some parts, and the model to fine-tune, if any."""
    questions = question_count(parts.train)
    if recipe is None:
        recipe = "original" if start_from is not None else own_recipe(network, parts.kind, parts.train)[0]
    if parts.vectors is not None:
        changes = {**changes, "vectors": parts.vectors.dimension}
    if start_from is None:
        return own_setup(network, recipe, kind=parts.kind, questions=questions, changes=changes), None
    if network is not None:
        raise InputError("network comes from the model that is fine-tuned; leave it out")
    start = (start_from if isinstance(start_from, Model) else load_listed(start_from)).saved
    setup = continued(
        start.config, start.task.options, recipe, kind=start.task.kind, questions=questions, changes=changes
    )
    return setup, start


def _parts(
    kind: str, train: list[Story], dev: list[Story], test: list[Story], knowledge: tuple[tuple[str, str, str], ...]
) -> Parts:
    if kind == "dialogs":
        return DialogParts("dialogs", train, dev, test, knowledge=knowledge)
    if knowledge:
        raise InputError("knowledge: it has no effect on stories")
    return StoryParts("stories", train, dev, test)
