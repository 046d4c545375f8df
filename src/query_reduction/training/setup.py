"""From names to settings: a network, how its task is read, and a recipe, with single settings changed by name.

The command line and ``query_reduction.train`` both use this module. A setting that does not exist, or that has no
effect on the chosen network or data, is an error that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals.registry import kind_of, kinds, name_of, resolve
from query_reduction.settings import changed
from query_reduction.text.stories import Story
from query_reduction.training.recipes import Recipe, family

__all__ = ["Setup", "continued", "options_of", "own_recipe", "own_setup", "setup"]

_OPTIONS: dict[str, type] = {"stories": StoryOptions, "dialogs": DialogOptions}
_SUFFIXES: dict[str, dict[str, Any]] = {"+": {"match": "original"}, "c": {"copying": True}}
"""What a letter after a network's name does to a dialog task."""
_PEOPLE_WRITE: dict[str, dict[str, Any]] = {"stories": {"writing": "any"}}
"""Settings for training on one's own stories."""
_LEAST_STORIES = 20
"""With fewer, none can be spared for development, and there is little to tell names from other words by."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is trained and how."""

    network: Any
    """The settings of a registered network."""
    task: StoryOptions | DialogOptions
    recipe: Recipe

    @property
    def name(self) -> str:
        """The network's name, as ``setup`` takes it: ``2r``, ``2r+``, ``gru``."""
        suffix = ""
        if isinstance(self.task, DialogOptions):
            suffix = "c" if self.task.copying else "+" if self.task.match != "none" else ""
        return f"{name_of(self.network)}{suffix}"


def options_of(kind: str) -> type:
    """The settings class of ``stories`` or ``dialogs``."""
    return _OPTIONS[kind]


def setup(
    network: str = "2r",
    recipe: str = "original",
    *,
    kind: str = "stories",
    questions: int = 1000,
    changes: Mapping[str, Any] | None = None,
) -> Setup:
    """The settings these names stand for, for this many training questions of ``stories`` or ``dialogs``."""
    name, suffix = network, ""
    if network not in kinds() and network[-1:] in _SUFFIXES:
        name, suffix = network[:-1], network[-1]
        if kind != "dialogs":
            raise InputError(f"network {network!r}: {suffix!r} is for dialogs and has no effect on {kind}")
    chosen = family(recipe)
    parts: dict[str, Any] = {
        "network": resolve(name),
        "task": _OPTIONS[kind](),
        "recipe": chosen.for_data(questions, kind),
    }
    parts["network"] = changed(parts["network"], _known(parts["network"], chosen.network))
    parts["task"] = changed(parts["task"], _known(parts["task"], chosen.task) | _SUFFIXES.get(suffix, {}))
    published = kind_of(parts["network"]).recipe
    if chosen.name == "original" and published:
        parts["recipe"] = changed(Recipe(), _known(parts["recipe"], published))
        parts["task"] = changed(parts["task"], _known(parts["task"], published))
    for setting, value in (changes or {}).items():
        owner = next((part for part, own in parts.items() if setting in _names(type(own))), None)
        if owner is None:
            raise InputError(_no_effect(setting, network, kind, parts))
        parts[owner] = changed(parts[owner], {setting: value})
    return Setup(**parts)


def own_recipe(network: str | None, kind: str, stories: Sequence[Story]) -> tuple[str, str]:
    """The recipe for some training stories if none is named, and why it is this one."""
    if kind != "stories":
        return "original", f"it is the one for {kind}"
    if network is not None:
        return "original", f"it has the settings published for {network}"
    if any(story.task for story in stories):
        return "original", "it has the settings published for bAbI"
    if len(stories) < _LEAST_STORIES:
        return "original", f"best holds out whole stories, and {len(stories)} are too few for that"
    return "best", "it learns most from few stories: it retells them in other words, and reads she as a name"


def own_setup(
    network: str | None, recipe: str, *, kind: str, questions: int, changes: Mapping[str, Any] | None = None
) -> Setup:
    """The same for people's own training: without a network's name the recipe's own, and stories written in any way.

    The families themselves keep to what was published.
    """
    wanted = {**_PEOPLE_WRITE.get(kind, {}), **(changes or {})}
    chosen = {**family(recipe).task, **wanted}
    if kind == "stories" and chosen.get("symmetries") and chosen["writing"] == "any":
        wanted = {"prose": True, **wanted}
    name = family(recipe).default_network if network is None else network
    return setup(name, recipe, kind=kind, questions=questions, changes=wanted)


def continued(
    config: Any,
    task: StoryOptions | DialogOptions,
    recipe: str,
    *,
    kind: str,
    questions: int,
    changes: Mapping[str, Any],
) -> Setup:
    """The settings to train a model further: its network and task stay as they are, only the recipe is chosen."""
    for setting in changes:
        if setting in _names(type(config)) | _names(type(task)):
            raise InputError(f"{setting} comes from the model that training goes on from; leave it out")
    if changes.get("restarts", 1) != 1:
        raise InputError("restarts has no effect: all of them would go on from the same weights")
    wanted = {**changes, "restarts": 1}
    return replace(
        setup(name_of(config), recipe, kind=kind, questions=questions, changes=wanted), network=config, task=task
    )


def _names(settings: type) -> set[str]:
    return {field.name for field in fields(settings)}


def _known(settings: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wanted.items() if name in _names(type(settings))}


def _no_effect(setting: str, network: str, kind: str, parts: Mapping[str, Any]) -> str:
    if any(setting in _names(options) for options in _OPTIONS.values()):
        return f"{setting} has no effect on {kind}"
    owners = [name for name, known in kinds().items() if setting in _names(known.config)]
    if owners:
        return f"{setting} has no effect on network {network}; those that have it: {', '.join(owners)}"
    have = sorted(set().union(*(_names(type(own)) for own in parts.values())))
    return f"no setting {setting!r}; choose from {', '.join(have)}"
