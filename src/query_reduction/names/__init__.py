"""Which words are interchangeable, discovered from training stories alone, and stories retold in other words.

``discover.discover``, which models in use do not need, finds what may be exchanged without making an answer false:
kinds (people, places), forms that go together (mouse, mice), and exchanges that are valid only together (north and
south, with n and s). ``Renamer`` retells stories; ``read_unknown`` reads unknown names as known ones. Where one network
learns several tasks, each has its own: ``SymmetriesByTask``.
"""

from __future__ import annotations

from query_reduction.names.by_task import NameReaders, SymmetriesByTask
from query_reduction.names.coreference import Coreference
from query_reduction.names.frames import Frames
from query_reduction.names.meanings import Meanings
from query_reduction.names.renaming import Renaming
from query_reduction.names.symmetries import Renamer, Symmetries
from query_reduction.names.unknown import KnownReading, NameReader, read_unknown

__all__ = [
    "Coreference",
    "Frames",
    "KnownReading",
    "Meanings",
    "NameReader",
    "NameReaders",
    "Renamer",
    "Renaming",
    "Symmetries",
    "SymmetriesByTask",
    "read_unknown",
]
