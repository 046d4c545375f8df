"""The options of a verb: a dataclass becomes an argparse parser, its fields the options, their docstrings the help.

``model: Annotated[str, POSITIONAL]`` is known by its place, ``Annotated[int, Between(1, 9)]`` has a range, a field of
another dataclass is a group of options, and ``Settings`` makes options of the settings of networks and recipes, which
are None unless given. Docstrings are looked up for help alone, and what training needs only if it is asked for:
parsing a question's command must not take longer than answering it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

__all__ = ["POSITIONAL", "RARE", "Named", "Option", "Settings", "options_in", "parse_arguments", "settings_of"]

POSITIONAL = "positional"
"""Marks an option that is known by its place."""
RARE = "rare"
"""Marks an option that ``--help-all`` shows and ``--help`` does not."""

Groups = Mapping[str, Mapping[str, type]]
"""Title of a group → whose settings → their class."""

_SWITCH = {"yes": True, "no": False}
_NUMBERS = {int: "a whole number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Named:
    """Marks an option whose field may not have its name: ``from_model: Annotated[str, Named("from")]``."""

    name: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Marks a field for the settings of several classes: a mapping from name to value, of those that are given.

    A setting that several classes have is one option. ``--set name=value`` takes any of them by the name it has in
    Python and in result files.
    """

    groups: Groups
    """Those that are known without loading anything."""
    more: Callable[[], Groups]
    """All groups; called for help on everything, and for options that ``groups`` do not explain."""
    usual: tuple[str, ...]
    """Those that ``--help`` shows."""
    choices: Callable[[], Mapping[str, Mapping[str, str]]]
    """Title → name → description of what some options choose from; the end of the help on everything."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a verb."""

    name: str
    """The field or setting."""
    flag: str
    """As it is written: ``--task``, or ``MODEL`` if it is known by its place."""
    kinds: tuple[Any, ...]
    """The types of value it takes."""
    owners: tuple[tuple[str, type], ...]
    """The classes whose docstrings describe it, with the names that help tells them apart by."""
    default: Any = None
    """MISSING if it must be given."""
    several: bool = False
    positional: bool = False
    inside: str = ""
    """The field it is inside of."""
    group: str = ""
    """The title of its group."""
    rare: bool = False
    is_setting: bool = False

    @property
    def is_flag(self) -> bool:
        """Whether it is switched on and off by its name alone."""
        return self.kinds == (bool,) and not self.is_setting

    @property
    def text(self) -> str:
        """What it does; where classes differ, with the names of those that mean it so."""
        from query_reduction.cli.reference import field_docs

        owners: dict[str, list[str]] = {}
        for owner, kind in self.owners:
            owners.setdefault(field_docs(kind)[self.name], []).append(owner)
        texts = (f"{text} ({', '.join(names)})" if any(names) else text for text, names in owners.items())
        return " ".join(texts)

    @property
    def takes(self) -> str:
        """What it takes, in a word; empty for a flag."""
        if self.is_flag:
            return ""
        words = [_word(kind) for kind in self.kinds]
        return f"[{'|'.join(words)}]" if bool in self.kinds else "|".join(words)


def parse_arguments(options: Any, arguments: Sequence[str], prog: str) -> Any:
    """A dataclass of options with the values given; a mistake ends the program with one line, help with a text."""
    words = [_hyphenated(word) for word in arguments]
    wants_all = "--help-all" in words
    if wants_all or {"-h", "--help"} & {*words}:
        from query_reduction.cli.reference import help_text

        print(help_text(options, prog, everything=wants_all), end="")
        raise SystemExit(0)
    settings = settings_of(options)
    try:
        return _parse(options, words, list(options_in(options)))
    except _MistakeError as mistake:
        said = mistake
        if settings is not None:
            try:
                return _parse(options, words, list(options_in(options, everything=True)))
            except _MistakeError as after_all:
                said = after_all
        print(f"{prog}: {said} (see {prog} --help)", file=sys.stderr)
        raise SystemExit(2) from None


def options_in(options: Any, *, everything: bool = False) -> Iterator[Option]:
    """The options of a dataclass, with those of the dataclasses inside it; ``everything`` loads all settings."""
    nested: list[Option] = []
    own: set[str] = set()
    for field, hint, marks in _hinted(options):
        kinds, several = _kinds(hint)
        default = field.default if field.default_factory is MISSING else None
        settings = next((mark for mark in marks if isinstance(mark, Settings)), None)
        if settings is not None:
            nested += _setting_options(settings, field.name, everything)
        elif is_dataclass(hint):
            assert isinstance(hint, type)
            inner = options_in(hint)
            nested += [replace(option, inside=field.name, group=field.name) for option in inner]
        else:
            name = next((mark.name for mark in marks if isinstance(mark, Named)), field.name)
            positional = POSITIONAL in marks
            own.add(field.name)
            yield Option(
                name=field.name,
                flag=name.upper() if positional else f"--{name.replace('_', '-')}",
                kinds=kinds,
                owners=(("", options),),
                default=default,
                several=several,
                positional=positional,
                rare=RARE in marks,
            )
    # A verb's own option comes before a setting of the same name, which it sets.
    yield from (option for option in nested if option.name not in own)


def settings_of(options: Any) -> Settings | None:
    """The mark of the field for settings, if a verb has one."""
    marks = (mark for _, _, marks in _hinted(options) for mark in marks)
    return next((mark for mark in marks if isinstance(mark, Settings)), None)


def _setting_options(settings: Settings, inside: str, everything: bool) -> list[Option]:
    found: dict[str, Option] = {}
    for group, classes in (settings.more() if everything else settings.groups).items():
        for owner, kind in classes.items():
            for field, hint, _ in _hinted(kind):
                known = found.get(field.name)
                kinds, _ = _kinds(hint)
                if known is not None:
                    more = tuple(kind for kind in kinds if kind not in known.kinds)
                    found[field.name] = replace(known, kinds=known.kinds + more, owners=(*known.owners, (owner, kind)))
                    continue
                found[field.name] = Option(
                    name=field.name,
                    flag=f"--{field.name.replace('_', '-')}",
                    kinds=kinds,
                    owners=((owner, kind),),
                    inside=inside,
                    group=group,
                    rare=field.name not in settings.usual,
                    is_setting=True,
                )
    return list(found.values())


class _MistakeError(Exception):
    """What is wrong with a command, in one line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _MistakeError(message)


def _parse(options: Any, words: Sequence[str], known: Sequence[Option]) -> Any:
    parser = _Parser(usage="", add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    parser.exit_on_error = False
    by_flag = {option.flag: option for option in known}
    for option in known:
        _add(parser, option)
    if any(option.is_setting for option in known):
        parser.add_argument("--set", action="append", dest="set")
    try:
        # Options may stand between arguments that are known by their place.
        given, strange = parser.parse_known_intermixed_args(words)
    except argparse.ArgumentError as error:
        raise _MistakeError(_wrong_value(error)) from None
    if strange:
        raise _MistakeError(_unknown(strange, [*by_flag, *(f"--no-{f[2:]}" for f, o in by_flag.items() if o.is_flag)]))
    values = vars(given)
    for text in values.pop("set", ()):
        option, value = _set(text, by_flag)
        values[option.flag] = value
    for option in known:
        if option.default is MISSING and option.flag not in values:
            raise _MistakeError(f"{option.flag} is missing: {option.text}")
    return _made(options, [(by_flag[flag], value) for flag, value in values.items()])


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    if option.is_flag:
        parser.add_argument(option.flag, action="store_const", const=True, dest=option.flag)
        parser.add_argument(f"--no-{option.flag[2:]}", action="store_const", const=False, dest=option.flag)
        return

    def value(word: str) -> Any:
        return _value(word, option.kinds)

    # Whether what must be given was given is checked later, in better words.
    several = "*" if option.several else "?" if option.positional else None
    if option.positional:
        parser.add_argument(option.flag, nargs=several, type=value)
    elif bool in option.kinds:
        parser.add_argument(option.flag, nargs="?", const=True, type=value, dest=option.flag)
    else:
        parser.add_argument(option.flag, nargs=several, type=value, dest=option.flag)


def _made(options: Any, given: Sequence[tuple[Option, Any]]) -> Any:
    """The dataclass with these values, its inner ones made of those inside them."""
    values: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for option, value in given:
        into = inner.setdefault(option.inside, {}) if option.inside else values
        into[option.name] = tuple(value) if option.several else value
    for field, hint, _ in _hinted(options):
        if field.name in inner:
            values[field.name] = hint(**inner[field.name]) if is_dataclass(hint) else inner[field.name]
    return options(**values)


def _value(word: str, kinds: Sequence[Any]) -> Any:
    """A word as the first of these types that it fits."""
    for kind in kinds:
        if get_origin(kind) is Literal:
            for choice in get_args(kind):
                if str(choice) == word:
                    return choice
        elif kind is bool:
            if word in _SWITCH:
                return _SWITCH[word]
        elif kind in _NUMBERS:
            try:
                return kind(word)
            except ValueError:
                continue
        else:
            return kind(word)
    raise argparse.ArgumentTypeError(f"must be {_expected(kinds)}, not {_shown(word)}")


def _expected(kinds: Sequence[Any]) -> str:
    choices = [str(choice) for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    if bool in kinds:
        return f"{', '.join(('yes', *choices))} or no"
    numbers = [_NUMBERS[kind] for kind in kinds if kind in _NUMBERS]
    return " or ".join([f"one of {', '.join(choices)}"] * bool(choices) + numbers)


def _set(text: str, known: Mapping[str, Option]) -> tuple[Option, Any]:
    """The setting and the value of ``name=value``."""
    name, equals, word = text.partition("=")
    settings = {flag: option for flag, option in known.items() if option.is_setting}
    option = settings.get(_hyphenated(f"--{name}"))
    if not equals:
        raise _MistakeError(f"--set takes NAME=VALUE, not {_shown(text)}")
    if option is None:
        near = difflib.get_close_matches(name, [setting.name for setting in settings.values()], 1)
        raise _MistakeError(f"--set: no setting {_shown(name)}" + (f"; did you mean {near[0]}?" if near else ""))
    try:
        return option, _value(word, option.kinds)
    except argparse.ArgumentTypeError as error:
        raise _MistakeError(f"--set: {name} {error}") from None


def _unknown(strange: Sequence[str], flags: Sequence[str]) -> str:
    """What was not understood, and what may have been meant."""
    options = [word.partition("=")[0] for word in strange if word.startswith("-") and word != "-"]
    if not options:
        return f"one argument too many: {_shown(strange[0])}"
    near = difflib.get_close_matches(options[0], flags, 1)
    return f"no option {options[0]}" + (f"; did you mean {near[0]}?" if near else "")


def _wrong_value(error: argparse.ArgumentError) -> str:
    message = error.message or ""
    if message.startswith("must be"):
        return f"{error.argument_name} {message}"
    if message.startswith("expected"):
        return f"{error.argument_name} needs a value"
    if message.startswith("ignored explicit argument"):
        return f"{error.argument_name} takes no value"
    return f"{error.argument_name}: {message}" if error.argument_name else message


@cache
def _hinted(options: Any) -> list[tuple[Field[Any], Any, tuple[Any, ...]]]:
    """The fields of a dataclass, each with its type and its marks."""
    hints = get_type_hints(options, include_extras=True)
    return [
        (field, hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (field, hint, ())
        for field, hint in ((field, hints[field.name]) for field in fields(options))
    ]


def _kinds(hint: Any) -> tuple[tuple[Any, ...], bool]:
    """The types of value an annotation allows, and whether it takes several values."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for kind in get_args(hint) if kind is not NoneType), False
    if get_origin(hint) is tuple:
        return _kinds(get_args(hint)[0])[0], True
    return (hint,), False


def _word(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH", bool: "yes|no"}[kind]


def _hyphenated(word: str) -> str:
    """An option as it is called here: those of Python's names have underscores."""
    name, equals, value = word.partition("=")
    return f"{name.replace('_', '-')}{equals}{value}" if name.startswith("--") else word


def _shown(word: str) -> str:
    text = repr(word)
    return text if len(text) <= 60 else f"{text[:57]}..."
