"""Simulated worlds that tell the twenty bAbI story tasks: true by construction, in any number.

``generate`` gives stories in memory, ``write`` makes bAbI files, ``mixture`` joins tasks, ``shortened`` cuts short
stories out of long ones, ``hidden`` hides them in a book. Words come from a table a user may replace,
sizes from ``WorldOptions``. ``chain_stories`` tells chains of relations of any length.
"""

from __future__ import annotations

from query_reduction.worlds.chains import CHAINS, ChainOptions, chain_stories, write_chains
from query_reduction.worlds.generate import SPLITS, Split, generate, generate_splits, hidden, mixture, write
from query_reduction.worlds.options import WorldOptions
from query_reduction.worlds.shortening import shortened
from query_reduction.worlds.tasks import TASKS, TaskInfo
from query_reduction.worlds.word_table import LANGUAGES, load_language, load_words
from query_reduction.worlds.words import Words

__all__ = [
    "CHAINS",
    "LANGUAGES",
    "SPLITS",
    "TASKS",
    "ChainOptions",
    "Split",
    "TaskInfo",
    "Words",
    "WorldOptions",
    "chain_stories",
    "generate",
    "generate_splits",
    "hidden",
    "load_language",
    "load_words",
    "mixture",
    "shortened",
    "write",
    "write_chains",
]
