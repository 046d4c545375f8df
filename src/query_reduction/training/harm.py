"""Never worse than without: what was found to be interchangeable is dropped if training does better without it.

Whether renaming helps is seen on development questions, where it is used: if nearly all of them are answered, there is
nothing to compare. Otherwise the same network is trained on the stories as they are, in as many steps, and the better
of the two is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from query_reduction.reading.stories import StoryOptions, StoryTask
from query_reduction.training.run import Run, best_restart, train_to_end

__all__ = ["without_harm"]

_SOLVED = 0.5
"""Percent of development questions: with fewer errors than this nothing is compared."""
_MARGIN = 0.5
"""Percent by which training without renaming must be better to be preferred."""
_MOST_EPOCHS = 10
"""Training without renaming may take this many times as many epochs; each is shorter by the number of copies."""


def without_harm(run: Run, say: Callable[[str], None]) -> Run:
    """A finished run, or one without symmetries if that does better on development questions; says so in one line."""
    options, recipe = run.setup.task, run.setup.recipe
    if not isinstance(run.task, StoryTask) or not isinstance(options, StoryOptions) or run.start is not None:
        return run
    found = run.task.symmetries
    if not recipe.copies or recipe.focus or found is None or not any(found.of_task.values()):
        return run
    error = best_restart(run).dev_error
    if error <= _SOLVED:
        return run
    longer = min(recipe.copies, _MOST_EPOCHS)
    as_told = replace(
        run.setup,
        task=replace(options, symmetries=False, prose=False),
        recipe=replace(
            recipe,
            copies=0,
            max_epochs=recipe.max_epochs * longer,
            evaluate_every=recipe.evaluate_every * longer,
            patience=recipe.patience * longer,
            solved_epochs=recipe.solved_epochs * longer,
            halve_every=recipe.halve_every * longer,
        ),
    )
    plain = Run(run.parts, as_told, [restart.number for restart in run.trainer.restarts])
    train_to_end(plain)
    plain_error = best_restart(plain).dev_error
    if plain_error + _MARGIN >= error:
        return run
    say(
        f"interchangeable words are not used: {plain_error:.1f}% of the development questions are wrong without "
        f"renaming, {error:.1f}% with it"
    )
    return plain
