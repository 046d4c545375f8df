"""Networks by name: what ``--network`` takes, what a saved model is recorded as, and how one is built.

A network is one file. It registers its class under a name, with the dataclass of its settings:

    @register("gru", GRUConfig, "a gated recurrent unit over the sentences", recipe=RECIPE)
    class GRUNetwork(StackedNetwork): ...

The files are listed in ``_MODULES``; those of the laboratory are found when it is installed. The Query-Reduction
Network is registered here, because its file needs PyTorch and its models do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from query_reduction.errors import InputError, needs
from query_reduction.heads.arrays import HeadConfig
from query_reduction.network import Floats, Network
from query_reduction.qrn.reader import QueryReduction
from query_reduction.qrn.variants import QRNConfig, parse_variant, variant_name
from query_reduction.settings import as_json, from_json
from query_reduction.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from query_reduction.stacked.network import Seeds, StackedNetwork

__all__ = [
    "NetworkKind",
    "build_network",
    "config_from_json",
    "config_to_json",
    "kind_of",
    "kinds",
    "name_of",
    "open_network",
    "register",
    "resolve",
]

_MODULES = ("controls", "follow", "gru", "lstm", "memn2n")
LABORATORY = "query_reduction_lab"
"""The package that nine more rivals come with."""

Stack = TypeVar("Stack", bound="type[StackedNetwork]")


@dataclass(frozen=True, slots=True)
class NetworkKind:
    """A registered network."""

    name: str
    config: type
    """The frozen dataclass of its settings."""
    build: Callable[[Any, Vocabulary, HeadConfig, Seeds], StackedNetwork]
    about: str
    """A one-line description."""
    architecture: str
    """The name of its class."""
    parse: Callable[[str], Any] | None = None
    """Settings from a short name such as ``2r``; None if the name is not one of this network's."""
    show: Callable[[Any], str] | None = None
    """The short name of settings."""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """How it is trained and reads the data, as its authors did it where that is known and feasible: changes to
    ``Recipe`` and to the task's settings, by name; if empty, both stay as in the recipe ``original``."""


def _build_query_reduction(config: Any, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds) -> StackedNetwork:
    from query_reduction.qrn.fused import FusedNetwork

    return FusedNetwork(config, vocabulary, head, seeds)


_KINDS = {
    "qrn": NetworkKind(
        "qrn",
        QRNConfig,
        _build_query_reduction,
        "the Query-Reduction Network of the paper",
        "QueryReductionNetwork",
        parse_variant,
        variant_name,
    )
}


def register(
    name: str,
    config: type,
    about: str,
    *,
    parse: Callable[[str], Any] | None = None,
    show: Callable[[Any], str] | None = None,
    recipe: Mapping[str, Any] | None = None,
) -> Callable[[Stack], Stack]:
    """Register a class as the network of this name; it is built from settings, vocabulary, head and seeds."""

    def add(network: Stack) -> Stack:
        known = _KINDS.get(name)
        if known is not None and known.build is not network:
            raise ValueError(f"a network {name!r} is already registered")
        _KINDS[name] = NetworkKind(name, config, network, about, network.__name__, parse, show, recipe or {})
        return network

    return add


@cache
def _load_all() -> None:
    """Import every file that registers networks, once."""
    with needs("train", "every network but the Query-Reduction Network"):
        for module in _MODULES:
            import_module(f"query_reduction.rivals.{module}")
        if find_spec(LABORATORY) is not None:
            import_module(f"{LABORATORY}.rivals")


def kinds() -> dict[str, NetworkKind]:
    """All networks by name."""
    _load_all()
    return dict(sorted(_KINDS.items()))


def resolve(name: str) -> Any:
    """The settings that a name stands for: a registered network's defaults, or a short name such as ``2r``."""
    known = kinds()
    if name in known and known[name].parse is None:
        return known[name].config()
    for kind in known.values():
        found = kind.parse(name) if kind.parse else None
        if found is not None:
            return found
    plain = ", ".join(kind.name for kind in known.values() if kind.parse is None)
    close = get_close_matches(name, known, 1)
    meant = f" (did you mean {close[0]}?)" if close else ""
    raise InputError(
        f"no network {name!r}{meant}; for a Query-Reduction Network write the number of layers, then r, v and the "
        f"dimension as needed (1r, 2, 2r, 2rv, 6r200); or use one of {plain}"
    )


def kind_of(config: Any) -> NetworkKind:
    """The network these settings belong to."""
    # Settings that exist belong to a file that is loaded.
    for kind in _KINDS.values():
        if type(config) is kind.config:
            return kind
    raise TypeError(f"{type(config).__name__} is not the settings of a registered network")


def name_of(config: Any) -> str:
    """The short name of a network: ``2r``, ``gru``."""
    kind = kind_of(config)
    return kind.show(config) if kind.show else kind.name


def build_network(config: Any, vocabulary: Vocabulary, head: HeadConfig, seeds: Seeds | None = None) -> StackedNetwork:
    """A stack of networks with fresh weights, to be trained."""
    with needs("train", "training"):
        from query_reduction.stacked.network import Seeds
    return kind_of(config).build(config, vocabulary, head, seeds or Seeds())


def open_network(config: Any, vocabulary: Vocabulary, head: HeadConfig, weights: Mapping[str, Floats]) -> Network:
    """A trained network to be used. Names and shapes of the weights are compared before anything is allocated."""
    if isinstance(config, QRNConfig):
        return QueryReduction(config, vocabulary, head, weights)
    # Its settings come from its own file, which has loaded PyTorch.
    from query_reduction.rivals.trained import Trained, restore_network

    return Trained(restore_network(config, vocabulary, head, weights))


def config_to_json(config: Any) -> dict[str, Any]:
    """Settings as plain values, with the name of the network they belong to."""
    return {"network": kind_of(config).name, **as_json(config)}


def config_from_json(values: Any) -> Any:
    """What ``config_to_json`` gave, every value checked."""
    name = values.get("network") if isinstance(values, Mapping) else values
    if not isinstance(values, Mapping) or (name not in _KINDS and name not in kinds()):
        raise InputError(f"no network {str(name)[:40]!r}; choose from {', '.join(kinds())}")
    settings = {name: value for name, value in values.items() if name != "network"}
    return from_json(_KINDS[values["network"]].config, settings)
