"""How a network is trained: every setting of a training, with its range.

The paper and the authors' published code differ in places; each difference is a named setting, and a preset sets all of
them at once. The docstring under each field is the command line's help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from query_reduction.settings import Between, check

__all__ = ["Recipe"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained."""

    batch: Annotated[int, Between(1, 100_000)] = 32
    """Questions per step; a last batch that is not full is dropped, as in the original."""
    optimiser: Literal["adagrad", "adam", "sgd"] = "adagrad"
    """The optimiser; the paper and the original use adagrad."""
    learning_rate: Annotated[float, Between(1e-9, 1e3)] = 0.5
    """The initial learning rate."""
    accumulator: Annotated[float, Between(0, 1e6)] = 0.1
    """Adagrad's initial sum of squared gradients."""
    halve_every: Annotated[int, Between(0, 1_000_000)] = 100
    """Halve the learning rate every N epochs (original: 100); 0 for never (paper)."""
    halve_after: Annotated[int, Between(0, 1_000_000)] = 0
    """Keep the learning rate constant for this many epochs, and only then start counting to its first halving."""
    l2: Annotated[float, Between(0, 1e3)] = 0.001
    """Weight decay: l2/2 times the squared norm is added to the loss."""
    l2_counting: Literal["per-use", "once"] = "per-use"
    """Count a weight shared by several layers once per layer (original) or once."""
    clip: Annotated[float, Between(0, 1e6)] = 0.0
    """Clip each restart's gradient to this norm; 0 for no clipping."""
    batch_loss: Literal["mean", "sum"] = "mean"
    """The loss of a step is the mean over its questions (stories) or their sum (the original's dialogs, where
    weight decay therefore matters that much less)."""
    max_epochs: Annotated[int, Between(1, 1_000_000)] = 500
    """Maximum number of epochs."""
    evaluate_every: Annotated[int, Between(1, 1_000_000)] = 10
    """Evaluate on the development questions every N epochs."""
    patience: Annotated[int, Between(0, 1_000_000)] = 50
    """Stop a restart after this many epochs without improvement; 0 trains to the end and keeps the last weights."""
    solved_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """Stop a restart this many epochs after it first answers every development question correctly; 0 lets it continue
    while the development loss falls."""
    keep: Literal["accuracy", "loss"] = "accuracy"
    """What counts as improvement on the development questions: accuracy, ties by loss (original), or loss (paper)."""
    dev_fraction: Annotated[float, Between(0.001, 0.9)] = 0.1
    """Share of the training questions held out for development, if the data has no development part."""
    split: Literal["question", "story"] = "question"
    """Hold out single questions, whose stories also appear in training (original), or whole stories that share nothing
    with training."""
    copies: Annotated[int, Between(0, 10_000)] = 0
    """Train every epoch on this many copies of each story, retold in other words that keep its answers true (needs
    --symmetries); 0 trains on the stories as they are."""
    focus: Annotated[float, Between(0, 0.99)] = 0.0
    """With several tasks, draw this share of an epoch's stories from the tasks whose questions the network, as it is at
    the start of the epoch, answers wrongly; the more errors, the more stories. Needs copies, and restarts=1, because
    every restart would need different stories."""
    focus_questions: Annotated[int, Between(0, 100_000_000)] = 0
    """With focus, draw stories with about this many questions per epoch, so that what is wrong is found out often
    enough where there are very many; 0 for --copies times as many as there are."""
    readout_epochs: Annotated[int, Between(0, 1_000_000)] = 0
    """In this many epochs at the start, train only the weights that score answers. A network that has to learn which of
    many answers a question can have at all, as with several tasks, would otherwise move all its weights for it, and may
    lose initial weights from which the rest is easily learned."""
    hidden: Annotated[int, Between(0, 1_000_000)] = 0
    """Hide every training story among up to this many sentences of --haystack, drawn anew in every epoch; development
    stories among forty times as many, which training does not see. 0 hides nothing."""
    hidden_after: Annotated[int, Between(0, 1_000_000)] = 0
    """Hide nothing in this many epochs at the start."""
    hidden_growth: Annotated[int, Between(0, 1_000_000)] = 0
    """After that, let the number of sentences grow to --hidden in equal steps over this many epochs."""
    decoys: Annotated[float, Between(0, 1)] = 0.0
    """In this share of the haystack's sentences, replace one to three words by words of the stories, or keep only a few
    words: sentences that mention what the stories mention, but state nothing."""
    hard: Annotated[float, Between(0, 1)] = 0.0
    """Draw this share of the sentences that stories are hidden among from those of the whole haystack at which the
    gates of the network, as it is at the start of the epoch, exceed --shut-below the most: a few sentences then teach
    as much as a whole book. Half of the sentences that --shut tries are of this kind too. Needs restarts=1, because
    every restart would find different ones."""
    shut: Annotated[float, Between(0, 1e6)] = 0.0
    """Weight, in the loss, of the mean by which gate scores (before the sigmoid) exceed --shut-below at sentences of
    the haystack, tried at single positions in training stories: gates that are merely small leak, and a book has
    thousands of sentences between two facts."""
    shut_below: Annotated[float, Between(-1e3, 1e3)] = -3.4
    """Scores below this cost nothing. Gates stretched by 1.2 are exactly shut below -2.4; the rest is a margin for
    sentences that training does not have."""
    restarts: Annotated[int, Between(1, 10_000)] = 10
    """Trainings from new initial weights; the best on the development questions is chosen."""
    seed: Annotated[int, Between(0, 2**32 - 1)] = 0
    """Determines the held-out questions, the order of batches and, with a restart's number, its initial weights."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def alone(self) -> bool:
        """Whether every restart needs stories of its own, so that restarts cannot train together."""
        return self.hard > 0 or self.focus > 0
