"""Published datasets: where they are downloaded from, and where they are found on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from query_reduction.errors import InputError

__all__ = ["DATASETS", "Dataset", "cache_folder", "fetch", "find_babi", "find_dialog"]

# Small, because a chunk that is cut off is lost and has to be fetched again.
_CHUNK = 1 << 13


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public archive."""

    name: str
    what: str
    address: str
    sha256: str


DATASETS: dict[str, Dataset] = {
    "babi": Dataset(
        "babi",
        "bAbI question answering v1.2: 20 story tasks, 1k and 10k, English and Hindi (CC BY 3.0, Facebook, Inc.)",
        "http://parl.ai/downloads/babi/babi.tar.gz",
        "f7f0bee187efca0d81c3daac1b162cda4eb7f9505dee5ad6846eabbed3dbf92e",
    ),
    "dialog": Dataset(
        "dialog",
        "bAbI dialog: restaurant booking tasks 1-5 and DSTC2 as task 6 (CC BY 3.0, Facebook, Inc.)",
        "http://parl.ai/downloads/dialog_babi/dialog_babi.tar.gz",
        "bb36155ccd41eac91f806446c5728ee90374e5596156a9f7c1b86f8342cfc383",
    ),
}


def cache_folder() -> Path:
    """Where downloads go and are looked for: ``$QRN_DATA``, or the user's cache."""
    if chosen := os.environ.get("QRN_DATA"):
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("query-reduction")


def fetch(dataset: Dataset, *, progress: bool = True) -> Path:
    """Download an archive (or go on with an interrupted download), check it, unpack it; return its folder."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    folder = cache_folder() / dataset.name
    try:
        pooch.retrieve(
            dataset.address,
            known_hash=f"sha256:{dataset.sha256}",
            fname=f"{dataset.name}.tar.gz",
            path=folder,
            downloader=_ResumingDownloader(progress),
            processor=pooch.Untar(extract_dir="."),
        )
    except ValueError as error:  # pooch's word for a wrong checksum
        raise InputError(f"{dataset.address}: the file is not the published one (wrong sha256); try again") from error
    except OSError as error:  # includes every error of the requests library
        raise InputError(
            f"cannot download {dataset.address}: {type(error).__name__}; check the network, or put the unpacked files "
            f"into {folder}, or use --data generated"
        ) from error
    return folder


class _ResumingDownloader:
    """Downloads to a ``.part`` file beside the target and goes on where an earlier try stopped."""

    def __init__(self, progress: bool) -> None:
        self.progress = progress

    def __call__(self, url: str, output_file: object, pooch: object) -> None:
        import requests
        from rich.progress import Progress

        part = cache_folder() / ".partial" / url.rsplit("/", 1)[-1]
        part.parent.mkdir(parents=True, exist_ok=True)
        done = part.stat().st_size if part.exists() else 0
        headers = {"Range": f"bytes={done}-"} if done else {}
        with requests.get(url, headers=headers, stream=True, timeout=30) as response:
            if response.status_code == 416:  # the partial file already holds everything
                part.replace(str(output_file))
                return
            response.raise_for_status()
            resumed = response.status_code == 206
            total = int(response.headers.get("content-length", 0)) + (done if resumed else 0)
            with part.open("ab" if resumed else "wb") as file, Progress(disable=not self.progress) as bar:
                task = bar.add_task(f"downloading {part.name}", total=total or None, completed=done if resumed else 0)
                for chunk in response.iter_content(_CHUNK):
                    file.write(chunk)
                    bar.advance(task, len(chunk))
        # Across file systems a rename is not possible; pooch's target lies in the same cache, so it is here.
        part.replace(str(output_file))


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
