"""Published datasets: where they are downloaded from, and where they are found on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from query_reduction.errors import InputError
from query_reduction.sources.download import download, has_checksum, unpack

__all__ = ["DATASETS", "PROPARA_FILES", "Dataset", "cache_folder", "fetch", "find_babi", "find_dialog", "find_propara"]

PROPARA_FILES = {"train": "grids.v1.train.json", "valid": "grids.v1.dev.json", "test": "grids.v1.test.json"}
"""The files of ProPara 1.0, by part."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public archive."""

    name: str
    what: str
    address: str
    sha256: str
    most_bytes: int = 1 << 26
    """Any larger file cannot be the archive."""


DATASETS: dict[str, Dataset] = {
    "babi": Dataset(
        "babi",
        "bAbI question answering v1.2: 20 story tasks, 1k and 10k, English and Hindi (CC BY 3.0, Facebook, Inc.)",
        "https://parl.ai/downloads/babi/babi.tar.gz",
        "f7f0bee187efca0d81c3daac1b162cda4eb7f9505dee5ad6846eabbed3dbf92e",
    ),
    "dialog": Dataset(
        "dialog",
        "bAbI dialog: restaurant booking tasks 1-5 and DSTC2 as task 6 (CC BY 3.0, Facebook, Inc.)",
        "https://parl.ai/downloads/dialog_babi/dialog_babi.tar.gz",
        "bb36155ccd41eac91f806446c5728ee90374e5596156a9f7c1b86f8342cfc383",
    ),
}


def cache_folder() -> Path:
    """Where downloads are stored and looked up: ``$QRN_DATA``, or the user's cache."""
    if chosen := os.environ.get("QRN_DATA"):
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("query-reduction")


def fetch(dataset: Dataset, *, progress: bool = True) -> Path:
    """Download an archive (or resume an interrupted download), check it, unpack it; return its folder.

    Existing files are compared with the archive: those missing, truncated or changed are written again.
    """
    folder = cache_folder() / dataset.name
    archive = folder / f"{dataset.name}.tar.gz"
    if not has_checksum(archive, dataset.sha256):
        download(dataset.address, archive, sha256=dataset.sha256, most_bytes=dataset.most_bytes, progress=progress)
    unpack(archive, folder)
    return folder


def find_dialog() -> Path:
    """The folder of the published dialogs among the places where it may be."""
    root = cache_folder()
    for folder in (root / "dialog" / "dialog-bAbI-tasks", root / "dialog", root / "dialog-bAbI-tasks", root):
        if folder.is_dir() and any(folder.glob("dialog-babi-task*.txt")):
            return folder
    raise InputError(
        f"the dialogs are not under {root}: run 'qrn data fetch dialog', set QRN_DATA to the folder that holds them, "
        "or use --data generated-dialog"
    )


def find_babi(subfolder: str) -> Path:
    """The folder of bAbI files (``en``, ``en-10k``, ``hn`` …) among the places where it may be."""
    root = cache_folder()
    for parent in (root / "babi" / "tasks_1-20_v1-2", root / "babi", root / "tasks_1-20_v1-2", root):
        if (parent / subfolder).is_dir():
            return parent / subfolder
    raise InputError(
        f"bAbI data ({subfolder}) is not under {root}: run 'qrn data fetch babi', set QRN_DATA to the folder that "
        "holds it, or use --data generated"
    )


def find_propara() -> Path:
    """The folder of the published paragraphs among the places where it may be."""
    root = cache_folder()
    for folder in (root / "propara", root):
        if all((folder / name).is_file() for name in PROPARA_FILES.values()):
            return folder
    raise InputError(
        f"ProPara is not under {root}: get {', '.join(PROPARA_FILES.values())} of ProPara 1.0 "
        "(github.com/allenai/propara, Apache 2.0), set QRN_DATA to the folder that holds them, or name it with --data"
    )
