"""Files that hold something else than text: named as what they are, with what to do about it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["BEGINNING", "FOREIGN_SUFFIXES", "foreign_file"]

BEGINNING = 16
"""Bytes at the start of a file that tell what it is."""

_AS_CSV = "save the sheet as CSV (UTF-8), with the columns story, question and answer"
_AS_TEXT = "save it as plain text (UTF-8)"
_UNPACK = "unpack it, or pack it with gzip"
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", _AS_CSV),
    (b"%PDF", "a PDF", "copy its text into a text file"),
    (b"{\\rtf", "a rich text document", _AS_TEXT),
    (b"PAR1", "a Parquet file", "read it with pandas and give the DataFrame to query_reduction.read"),
    (b"ARROW1", "an Arrow file", "read it with pandas and give the DataFrame to query_reduction.read"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ", "an xz archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", _UNPACK),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"\x89PNG", "a picture", "type its text into a text file"),
    (b"\xff\xd8\xff", "a picture", "type its text into a text file"),
    (b"\x80\x04", "a pickle", "pickles are never read: write the stories as JSON lines"),
    (b"\xff\xfe\x00\x00", "not UTF-8 but UTF-32 text", "save it as UTF-8"),
    (b"\x00\x00\xfe\xff", "not UTF-8 but UTF-32 text", "save it as UTF-8"),
    (b"\xff\xfe", "not UTF-8 but UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "not UTF-8 but UTF-16 text", "save it as UTF-8"),
)
_ZIP = b"PK\x03\x04"
_IN_ZIP = (
    ("xl/", "an Excel workbook", _AS_CSV),
    ("word/", "a Word document", _AS_TEXT),
    ("ppt/", "a PowerPoint file", _AS_TEXT),
    ("content.xml", "an OpenDocument file", "save it as CSV (UTF-8) or plain text"),
)
_NAMES = (
    "xlsx xls xlsm ods numbers docx doc odt rtf pdf parquet arrow feather sqlite db zip 7z rar bz2 xz zst pkl pickle "
    "npz npy"
)
FOREIGN_SUFFIXES = frozenset(f".{name}" for name in _NAMES.split())
"""Names of files that somebody may take for stories, and that are not read."""
_BY_NAME = {".xlsx": 0, ".xlsm": 0, ".docx": 1, ".pptx": 2, ".ods": 3, ".odt": 3}


def foreign_file(beginning: bytes, path: Path) -> str:
    """What a file is and what to do, by its first bytes; an empty text if it may be text."""
    if beginning.startswith(_ZIP):
        return _in_zip(path)
    found = next(((what, todo) for signature, what, todo in _SIGNATURES if beginning.startswith(signature)), None)
    return f"{found[0]}, which is not read: {found[1]}" if found else ""


def _in_zip(path: Path) -> str:
    import zipfile  # nearly nobody needs it

    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        names = []
    for prefix, what, todo in _IN_ZIP:
        if any(name.startswith(prefix) for name in names):
            return f"{what}, which is not read: {todo}"
    if (place := _BY_NAME.get(path.suffix.lower())) is not None:
        return f"{_IN_ZIP[place][1]} that is damaged or cut short; what is read is CSV, JSON lines or numbered text"
    return f"a zip archive, which is not read: {_UNPACK}"
