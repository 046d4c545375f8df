"""What can be chosen: the network and the recipe it is trained by.

The paper and the authors' published code differ in places; each difference is a named option here, and the
presets ``original`` (the code) and ``paper`` set all of them at once. The docstring under each field is the
command line's help.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from query_reduction.errors import InputError

__all__ = ["PRESETS", "ModelConfig", "Recipe", "parse_variant", "preset", "variant_name"]

_VARIANT = re.compile(
    r"(?P<layers>[1-9]\d?)(?P<reset>r?)(?P<vector>v?)(?:(?:d|(?<=[rv]))(?P<dimension>[1-9]\d{0,3}))?(?P<names>[+c]?)"
)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The network."""

    layers: int = 2
    """Number of stacked layers K."""
    dimension: int = 50
    """Size d of sentence and query vectors."""
    reset_gate: bool = True
    """Reset gates in all layers but the last (equation 5)."""
    vector_gates: bool = False
    """One gate per unit instead of one per sentence."""
    tied: bool = True
    """Share the weights of all layers, as the paper does."""
    forget_bias: float = 2.5
    """Subtracted inside the update gate, so that it starts mostly closed."""
    init: Literal["original", "paper", "open"] = "original"
    """Initial weights: original = embeddings and gates uniform with standard deviation 1; paper = embeddings
    normal with standard deviation 1/sqrt(d), unit weights by Glorot and Bengio; open = as original, but embeddings
    with 0.5, gates with 1/sqrt(d) and the query's part of a candidate with 2/sqrt(d), so that gates do not start shut
    or wide open and the question is not lost on its way through many layers."""
    position_length: Literal["task", "sentence"] = "task"
    """The J of the position encoder: the longest sentence of the task (original) or the sentence's own length."""
    memory: int = 50
    """Read only the last so many sentences of a story; 0 reads all."""
    decode_questions: bool = False
    """Also learn to say a question from its vector, so that reduced queries can be put into words (stories)."""
    head: Literal["answers", "responses", "slots"] = "answers"
    """The output: one classifier of whole answers (stories); word after word among the candidates (dialogs, paper);
    independent fixed slots (dialogs, original)."""
    match: Literal["none", "paper", "original"] = "none"
    """Dialogs: two features of a candidate word. paper = found in the context, found in the question; original =
    found in either, mentioned last of its kind."""
    copying: bool = False
    """Dialogs: the network reads and says kinds of names (a place, a cuisine); which name is meant is chosen by a
    ranking learned from the training dialogs, so that names never seen can be read and said."""
    marks: Literal["none", "speaker", "speaker+time"] = "none"
    """Dialogs: add words to each utterance that say who speaks, and in which turn."""

    def __post_init__(self) -> None:
        if self.layers < 1 or self.dimension < 1 or self.memory < 0:
            raise InputError("layers and dimension must be at least 1, memory at least 0")
        if self.match != "none" and self.head == "answers":
            raise InputError("match needs --head responses or --head slots")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How it is trained."""

    batch: int = 32
    """Questions in a step; a last batch that is not full is left out, as in the original."""
    optimiser: Literal["adagrad", "adam"] = "adagrad"
    """How weights follow their gradients; the paper and the original take adagrad."""
    learning_rate: float = 0.5
    """The learning rate at the start."""
    accumulator: float = 0.1
    """Adagrad's sum of squared gradients at the start."""
    halve_every: int = 100
    """Halve the learning rate every so many epochs (original: 100); 0 never does (paper)."""
    l2: float = 0.001
    """Weight decay: l2/2 times the squared norm is added to the loss."""
    l2_counting: Literal["per-use", "once"] = "per-use"
    """Count a weight shared by several layers once per layer (original) or once."""
    batch_loss: Literal["mean", "sum"] = "mean"
    """The loss of a step is the mean over its questions (stories) or their sum (the original's dialogs, where
    weight decay therefore counts so much less)."""
    max_epochs: int = 500
    """Stop after so many epochs at the latest."""
    evaluate_every: int = 10
    """Look at the development questions every so many epochs."""
    patience: int = 50
    """Stop a restart after so many epochs without improvement; 0 trains to the end and keeps the last weights."""
    solved_epochs: int = 0
    """Stop a restart so many epochs after its first look without a wrong development question; 0 lets it go on while
    the loss on them falls."""
    keep: Literal["accuracy", "loss"] = "accuracy"
    """What counts as improvement on the development questions: accuracy, ties by loss (original), or loss (paper)."""
    dev_fraction: float = 0.1
    """Share of the training questions held out for development, where the data has no own part for it."""
    vocabulary: Literal["train", "all"] = "train"
    """Words from the training part only, or from all parts as in the original."""
    restarts: int = 10
    """Trainings from new initial weights; the best on the development questions is chosen."""
    seed: int = 0
    """Decides the held-out questions, the order of batches and, with a restart's number, its initial weights."""

    def __post_init__(self) -> None:
        positive = {
            "batch": self.batch,
            "learning-rate": self.learning_rate,
            "max-epochs": self.max_epochs,
            "evaluate-every": self.evaluate_every,
            "restarts": self.restarts,
        }
        for name, value in positive.items():
            if not value > 0:
                raise InputError(f"--{name} must be above 0, not {value}")
        if self.patience < 0 or self.solved_epochs < 0:
            raise InputError("--patience and --solved-epochs must be at least 0")
        if not 0 < self.dev_fraction < 1:
            raise InputError(f"--dev-fraction must lie between 0 and 1, not {self.dev_fraction}")


_ORIGINAL = (ModelConfig(), Recipe())
_PAPER = (
    ModelConfig(init="paper", position_length="sentence", memory=0),
    Recipe(l2_counting="once", halve_every=0, evaluate_every=1, keep="loss"),
)
_ORIGINAL_10K = (_ORIGINAL[0], replace(_ORIGINAL[1], batch=128, learning_rate=0.1, l2=0.0005))
_OPEN = replace(_ORIGINAL[0], forget_bias=0.0, init="open")
_ADAM_10K = replace(
    _ORIGINAL_10K[1],
    optimiser="adam",
    learning_rate=0.005,
    halve_every=20,
    l2=0.0001,
    l2_counting="once",
    max_epochs=100,
    evaluate_every=5,
    solved_epochs=20,
)
_ADAM = replace(_ADAM_10K, batch=32, l2=0.001)
_WIDE_10K = replace(_ADAM_10K, learning_rate=0.001, l2=0.0003, solved_epochs=10, restarts=1)

PRESETS: dict[str, tuple[ModelConfig, Recipe]] = {
    "original": _ORIGINAL,
    "one-layer": (_ORIGINAL[0], replace(_ORIGINAL[1], l2=0.0005)),
    "deep": (_ORIGINAL[0], replace(_ORIGINAL[1], l2_counting="once")),
    "original-10k": _ORIGINAL_10K,
    "brief-10k": (_ORIGINAL_10K[0], replace(_ORIGINAL_10K[1], solved_epochs=20)),
    "adam": (_OPEN, _ADAM),
    "adam-long": (replace(_OPEN, forget_bias=2.5), replace(_ADAM, learning_rate=0.02)),
    "adam-10k": (_OPEN, _ADAM_10K),
    "wide-10k": (_OPEN, _WIDE_10K),
    "wide-slow-10k": (_OPEN, replace(_WIDE_10K, l2=0.0005, halve_every=40, max_epochs=160)),
    "vector-10k": (_OPEN, replace(_ADAM_10K, learning_rate=0.02, halve_every=15, max_epochs=60)),
    "dialog": (
        replace(_ORIGINAL[0], head="responses", memory=100),
        replace(_ORIGINAL[1], l2=0.0003, max_epochs=50, vocabulary="all"),
    ),
    "dialog-original": (
        replace(_ORIGINAL[0], head="slots", memory=100),
        replace(_ORIGINAL[1], batch_loss="sum", max_epochs=50, vocabulary="all"),
    ),
    "paper": _PAPER,
    "paper-10k": (_PAPER[0], replace(_PAPER[1], batch=128, learning_rate=0.1, l2=0.0005, restarts=50)),
}
"""Named settings. ``one-layer`` and ``deep`` are ``original`` with less weight decay, for networks of one and of more
than two layers; the ``-10k`` ones are for training sets of about ten thousand questions. ``brief-10k`` does not train
on for long once a task is solved. ``adam`` and ``adam-10k`` take Adam and gates that start half open, ``wide-10k`` the
same with smaller steps, for large networks (``wide-slow-10k`` where they need longer), ``vector-10k`` with larger ones,
for vector gates, ``adam-long`` with larger ones and gates that start mostly closed, for long stories. ``dialog`` is for
conversations (``dialog-original`` with output and loss of the original code)."""


def preset(name: str, variant: str = "2r") -> tuple[ModelConfig, Recipe]:
    """The settings of a preset with the network of a variant."""
    if name not in PRESETS:
        raise InputError(f"no preset {name!r}; there are {', '.join(PRESETS)}")
    model, recipe = PRESETS[name]
    return parse_variant(variant, model), recipe


def parse_variant(name: str, base: ModelConfig | None = None) -> ModelConfig:
    """Build the network the paper calls ``2r``, ``6r200``, ``2rv``…: layers, r(eset), v(ector gates), dimension.

    For dialogs a ``+`` adds match, as the original code has it, and a ``c`` copying.
    """
    match = _VARIANT.fullmatch(name)
    if match is None:
        raise InputError(
            f"no variant {name!r}; write layers, then r, v, dimension as wanted: 1r, 2, 2r, 2rv, 6r200, 2r+"
        )
    return replace(
        base or ModelConfig(),
        layers=int(match["layers"]),
        reset_gate=bool(match["reset"]),
        vector_gates=bool(match["vector"]),
        dimension=int(match["dimension"] or 50),
        match="original" if match["names"] == "+" else "none",
        copying=match["names"] == "c",
    )


def variant_name(config: ModelConfig) -> str:
    """The paper's name of a network; the inverse of ``parse_variant``."""
    letters = "r" * config.reset_gate + "v" * config.vector_gates
    # A d keeps the dimension apart from the number of layers where no other letter does.
    dimension = "" if config.dimension == 50 else f"{'' if letters else 'd'}{config.dimension}"
    names = "c" if config.copying else "+" if config.match != "none" else ""
    return f"{config.layers}{letters}{dimension}{names}"
