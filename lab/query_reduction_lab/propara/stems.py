"""Stems of English words as the official evaluations compute them: by Porter's two algorithms."""

from __future__ import annotations

from functools import cache
from typing import Any

from query_reduction.errors import InputError

__all__ = ["porter", "porter2"]


@cache
def _stemmer(name: str) -> Any:
    try:
        import snowballstemmer
    except ModuleNotFoundError as error:
        raise InputError("ProPara is scored with snowballstemmer: pip install snowballstemmer") from error
    return snowballstemmer.stemmer(name)


@cache
def porter(text: str) -> str:
    """Porter (1980), as NLTK has it: "tray" keeps its y after a vowel."""
    stem: str = _stemmer("porter").stemWord(text)
    return f"{stem[:-1]}y" if stem.endswith("i") and text.endswith("y") and text[-2:-1] in "aeou" else stem


@cache
def porter2(word: str) -> str:
    """Porter's second algorithm, also called English Snowball."""
    stem: str = _stemmer("english").stemWord(word)
    return stem
