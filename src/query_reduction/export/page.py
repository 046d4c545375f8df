"""A model as one HTML file that answers and shows its gates in any browser, without a server.

The scripts of ``web/`` compute in plain JavaScript what ``reading.reading`` and ``qrn.network`` do; the tests compare
them in node and in a real browser.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from query_reduction._version import __version__
from query_reduction.errors import InputError
from query_reduction.explain.html import style
from query_reduction.export.exportable import network_of, weights_of
from query_reduction.model import DialogModel, StoryModel
from query_reduction.names import Symmetries

__all__ = ["SCRIPTS", "model_values", "page_of"]

SCRIPTS = ("sentences", "vocabulary", "names", "reading", "network", "calibration", "answer", "view")
"""In the order in which the page has them; all but the last compute."""


def page_of(model: StoryModel | DialogModel, title: str, sentences: Sequence[str], question: str) -> str:
    """The page of a model, which opens with this story and question."""
    values = model_values(model) | {"example": {"sentences": list(sentences), "question": question}}
    script = "\n".join(["'use strict';", "(() => {", *(_file(f"{name}.js") for name in SCRIPTS), "})();"])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_file("page.html")).substitute(
        title=escape(title),
        about=escape(f"Network {model.network_name}, exported by query-reduction {__version__}."),
        style=style() + _file("page.css"),
        script_hash=f"sha256-{digest}",
        script=script,
        # Nothing in the data can end the element it is in.
        model=json.dumps(values, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    )


def model_values(model: StoryModel | DialogModel) -> dict[str, Any]:
    """The model as the page's scripts take it."""
    model, config = network_of(model, "a page")
    if model.task.coreference is not None or model.task.meanings is not None:
        raise InputError("a page does not read pronouns or new words as known ones; train with --no-prose")
    task = model.task
    symmetries = None
    # A page does not write names in forms: it reads unknown ones only where names have one form.
    reads_all = task.reader.reads_all
    if task.symmetries is not None and not reads_all and not task.symmetries.has_forms:
        symmetries = [_names(found) for found in task.symmetries.of_task.values()]
    return {
        "network": asdict(config),
        "vocabulary": asdict(task.vocabulary),
        "memory": task.options.memory,
        "reads_all": reads_all,
        "unseen_share": task.unseen_share,
        "pairs": task.pairs.as_json() if task.pairs else None,
        "symmetries": symmetries,
        "calibration": task.calibration.as_json(),
        "weights": {
            name: base64.b64encode(weight.astype("<f4").tobytes()).decode()
            for name, weight in weights_of(model).items()
        },
    }


def _names(symmetries: Symmetries) -> dict[str, Any]:
    """What reading unknown names needs of a task's symmetries."""
    found = symmetries.as_json()
    kept = {name: found[name] for name in ("phrases", "columns", "contexts", "written")}
    return kept | {
        "lending": [list(one) for one in symmetries.lending_kinds],
        "fillers": [list(one) for one in symmetries.fillers],
    }


def _file(name: str) -> str:
    return files(__package__).joinpath("web", name).read_text(encoding="utf-8")
