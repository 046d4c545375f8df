"""What verbs and their options do, in words: help for the terminal, and the reference of the site as Markdown.

Both are made from the dataclasses that the commands are made of: their docstrings, and those under their fields.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, is_dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from query_reduction.cli import options_of, verbs
from query_reduction.cli.arguments import Option, options_in, settings_of

__all__ = ["field_docs", "help_text", "reference"]

_WIDEST = 100
_KINDS = {int: "whole number", float: "number", str: "text", Path: "path", bool: "yes or no"}


def help_text(options: Any, prog: str, *, everything: bool = False) -> str:
    """What a verb does, with its usual options or with all of them."""
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    known = list(options_in(options, everything=everything))
    places = [f"{option.flag}{' ...' * option.several}" for option in known if option.positional]
    optional = {option.flag for option in known if option.default is not MISSING}
    usage = " ".join([prog, *(f"[{place}]" if place.split()[0] in optional else place for place in places)])
    paragraphs = _paragraphs(options)
    parser = argparse.ArgumentParser(
        usage=f"{usage} [options]",
        description="\n\n".join(_filled(paragraph, width) for paragraph in paragraphs),
        add_help=False,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=28, width=width),
    )
    listed = [option for option in known if everything or not option.rare]
    for group, members in groupby(listed, key=lambda option: option.group if everything else ""):
        section = parser.add_argument_group(group.replace("_", " ") or "options")
        for option in members:
            _add_help(section, option)
    settings = settings_of(options)
    section = parser.add_argument_group("more") if settings else parser
    if settings:
        section.add_argument("--set", metavar="NAME=VALUE", help="Any setting by its name in Python (--set l2=0).")
        section.add_argument("--help-all", action="store_true", help="Show every option, network and recipe.")
        if everything:
            parser.epilog = "\n\n".join(_choices(title, names, width) for title, names in settings.choices().items())
    return parser.format_help()


def _add_help(section: Any, option: Option) -> None:
    text = f"{option.text} (default: {_default(option.default)})" if _default(option.default) else option.text
    text = text.replace("%", "%%")
    if option.is_flag:
        section.add_argument(option.flag, *([f"--no-{option.flag[2:]}"] * (option.default is True)), help=text,
                             action="store_true")  # fmt: skip
    elif option.positional:
        section.add_argument(option.flag, help=text)
    else:
        section.add_argument(option.flag, metavar=f"{option.takes}{' ...' * option.several}", help=text)


def _choices(title: str, names: dict[str, str], width: int) -> str:
    lines = [textwrap.fill(f"{name}: {text}", width, initial_indent="  ", subsequent_indent="      ")
             for name, text in names.items()]  # fmt: skip
    return "\n".join([f"{title}:", *lines])


def _paragraphs(options: Any) -> list[str]:
    return (inspect.getdoc(options) or "").split("\n\n")


def _filled(paragraph: str, width: int) -> str:
    """A paragraph in lines of this width; commands, which are indented, stay as they are."""
    return paragraph if paragraph.startswith(" ") else textwrap.fill(paragraph, width)


def reference() -> str:
    """All verbs with all their options."""
    parts = [
        "# Command line\n\n`qrn VERB --help` shows the same in the terminal. Every verb takes `--json` for scripts. "
        "Exit codes: 0 fine, 1 bad input (one line on standard error), 2 wrong usage, 3 warnings of `qrn data check`, "
        "130 interrupted.\n"
    ]
    for verb in verbs():
        options = options_of(verb)
        parts.append(f"## qrn {verb}\n\n{inspect.getdoc(options)}\n")
        for group, members in groupby(options_in(options, everything=True), key=lambda option: option.group):
            title = f"\n**{group.replace('_', ' ')}**\n" if group else ""
            parts.append(f"{title}\n| option | takes | default | |\n|---|---|---|---|")
            parts += map(_row, members)
        settings = settings_of(options)
        for title, names in (settings.choices() if settings else {}).items():
            parts.append(f"\n**{title}**\n\n" + "\n".join(f"- `{name}`: {text}" for name, text in names.items()))
        parts.append("")
    return "\n".join(parts) + "\n"


def _row(option: Option) -> str:
    default = f"`{_default(option.default)}`" if _default(option.default) else ""
    takes = " or ".join(map(_kind, option.kinds)) + ", several" * option.several
    return f"| `{option.flag}` | {takes} | {default} | {_cell(option.text)} |"


def _kind(kind: Any) -> str:
    """A type in words."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    return _KINDS[kind]


def _default(value: Any) -> str:
    if value is MISSING or value is None or value is False or value in ((), ""):
        return ""
    return "yes" if value is True else str(value)


def _cell(text: str) -> str:
    """A text inside a table of Markdown; a tag or a bar in it is text, too."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


@cache
def field_docs(settings: type) -> dict[str, str]:
    """The docstring under each field, also of the classes it is derived from."""
    return {name: text for owner in reversed(settings.__mro__) if is_dataclass(owner) for name, text in _docs(owner)}


def _docs(owner: type) -> Iterator[tuple[str, str]]:
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(body, ast.ClassDef)
    for statement, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            text = below.value if isinstance(below, ast.Expr) else None
            yield statement.target.id, " ".join(str(text.value).split()) if isinstance(text, ast.Constant) else ""
