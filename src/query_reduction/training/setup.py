"""From names to settings: a network, how its texts are read, and a recipe, with single settings changed by name.

The command line and ``query_reduction.train`` both use this module. A setting that does not exist, or that has no
effect on the chosen network or data, is an error that says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from query_reduction.dialog.dialogs import DialogOptions
from query_reduction.errors import InputError
from query_reduction.reading.stories import StoryOptions
from query_reduction.rivals.registry import kind_of, kinds, name_of, resolve
from query_reduction.settings import changed
from query_reduction.text.stories import Story
from query_reduction.training.presets import changes_of, preset
from query_reduction.training.recipes import Recipe

__all__ = ["Setup", "continued", "options_of", "own_recipe", "own_setup", "setup"]

_OPTIONS: dict[str, type] = {"stories": StoryOptions, "dialogs": DialogOptions}
_SUFFIXES: dict[str, dict[str, Any]] = {"+": {"match": "original"}, "c": {"copying": True}}
"""What a letter after a network's name does to a dialog task."""
Settings = TypeVar("Settings")

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
    chosen = preset(recipe)
    config, task, options = resolve(name), _OPTIONS[kind](), chosen.recipe(questions, kind)
    config = _with_its_own(config, changes_of(chosen.network))
    task = changed(_with_its_own(task, changes_of(chosen.reading)), _SUFFIXES.get(suffix, {}))
    published = kind_of(config).recipe
    _check_published(name, published)
    if chosen.name == "original" and published:
        options, task = _with_its_own(Recipe(), published), _with_its_own(task, published)
    parts: dict[str, Any] = {"network": config, "task": task, "recipe": options}
    for setting, value in (changes or {}).items():
        owner = next((part for part, settings in parts.items() if setting in _names(type(settings))), None)
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
    """The same for people's own training: without a network's name the preset's, and stories written in any way.

    The presets themselves keep to what was published.
    """
    wanted = {**_PEOPLE_WRITE.get(kind, {}), **(changes or {})}
    chosen = {**changes_of(preset(recipe).reading), **wanted}
    if kind == "stories" and chosen.get("symmetries") and chosen["writing"] == "any":
        wanted = {"prose": True, **wanted}
    name = preset(recipe).default_network if network is None else network
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
            raise InputError(f"{setting} comes from the model that is fine-tuned; leave it out")
    if changes.get("restarts", 1) != 1:
        raise InputError("restarts has no effect: all of them would start from the same weights")
    wanted = {**changes, "restarts": 1}
    return replace(
        setup(name_of(config), recipe, kind=kind, questions=questions, changes=wanted), network=config, task=task
    )


def _names(settings: type) -> set[str]:
    return {field.name for field in fields(settings)}


def _with_its_own(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Settings with those of the changes that they have; the others are for other networks or other data."""
    return changed(settings, {name: value for name, value in changes.items() if name in _names(type(settings))})


def _check_published(network: str, published: Mapping[str, Any]) -> None:
    """A network's published settings are of its training or of its reading; a misspelt one is neither."""
    known = _names(Recipe).union(*map(_names, _OPTIONS.values()))
    if unknown := sorted(published.keys() - known):
        raise TypeError(f"network {network}: its published recipe has {unknown[0]!r}, which is no setting")


def _no_effect(setting: str, network: str, kind: str, parts: Mapping[str, Any]) -> str:
    if any(setting in _names(options) for options in _OPTIONS.values()):
        return f"{setting} has no effect on {kind}"
    networks = [name for name, known in kinds().items() if setting in _names(known.config)]
    if networks:
        return f"{setting} has no effect on network {network}; those that have it: {', '.join(networks)}"
    existing = sorted(set().union(*(_names(type(settings)) for settings in parts.values())))
    return f"no setting {setting!r}; choose from {', '.join(existing)}"
