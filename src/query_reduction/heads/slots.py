"""Responses in pieces: the slots of the paper's measure, and the words of a response, one by one.

A name is a word with an underscore. One that ends in an attribute (``the_place_phone``) is two pieces: the name
and the attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["API_CALL", "cut", "pieces"]

API_CALL = "api_call"

_NAME = re.compile(r"(?P<name>\w*?_\w+?)(?:_(?P<about>phone|address|post_code))?")


def cut(response: str) -> tuple[str, ...]:
    """The slots of a response: the words of an api call; else the sentence without its names, and the names."""
    words = response.lower().split()
    if words[:1] == [API_CALL]:
        return tuple(words)
    slots: list[str] = []
    said: list[str] = []
    for word in words:
        name, about = _split_name(word)
        said.append("_" if name else word)
        slots += filter(None, (name, about))
    return (" ".join(said), *slots)


def pieces(response: str) -> tuple[str, ...]:
    """The words of a response, one by one; an attribute of a name is a separate word."""
    return tuple(_pieces(response))


def _pieces(response: str) -> Iterator[str]:
    words = response.lower().split()
    for word in words:
        name, about = _split_name(word) if words[0] != API_CALL else ("", "")
        if about:
            yield name
            yield f"_{about}"
        else:
            yield word


def _split_name(word: str) -> tuple[str, str]:
    match = _NAME.fullmatch(word)
    return (match["name"], match["about"] or "") if match else ("", "")
