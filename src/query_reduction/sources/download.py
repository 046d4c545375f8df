"""Download an archive and unpack it as untrusted: over https, bounded, checked, confined to its folder."""

from __future__ import annotations

import gzip
import hashlib
import ipaddress
import tarfile
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin, urlsplit

from query_reduction.errors import InputError
from query_reduction.files import write_atomically
from query_reduction.text.formats.opening import BoundedReader, UnreadableError

__all__ = ["download", "has_checksum", "unpack"]

# Small, because an interrupted chunk is lost and has to be fetched again.
_CHUNK = 1 << 13
_MOST_REDIRECTS = 5
_SECONDS = 30
_MOST_UNPACKED = 1 << 30
_MOST_FILES = 10_000


def has_checksum(path: Path, sha256: str) -> bool:
    """Whether the file exists and is complete."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def download(address: str, path: Path, *, sha256: str, most_bytes: int, progress: bool) -> None:
    """Fetch a file over https, resuming an earlier attempt; InputError if it is unavailable or wrong."""
    from requests import RequestException

    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch_rest(address, part, most_bytes, progress)
        right = has_checksum(part, sha256)
        if right:
            part.replace(path)
        else:
            part.unlink()
    except RequestException as error:
        raise InputError(
            f"cannot download {address}: {type(error).__name__}; check the network, or put the unpacked files into "
            f"{path.parent}, or use --data generated"
        ) from error
    except OSError as error:
        raise InputError(f"cannot write {part}: {error.strerror or error}") from error
    if not right:
        raise InputError(f"{address}: the file is not the published one (wrong sha256); try again")


def _fetch_rest(address: str, part: Path, most_bytes: int, progress: bool) -> None:
    import requests
    from rich.progress import Progress

    done = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={done}-"} if done else {}
    for _ in range(_MOST_REDIRECTS + 1):
        _check_address(address)
        # Redirects are followed by hand: each address is checked, so that none leads back to plain http.
        with requests.get(address, headers=headers, stream=True, timeout=_SECONDS, allow_redirects=False) as response:
            if response.is_redirect:
                address = urljoin(address, response.headers["location"])
                continue
            if response.status_code == 416:  # the partial file already holds everything
                return
            response.raise_for_status()
            done = done if response.status_code == 206 else 0
            announced = response.headers.get("content-length", "")
            total = int(announced[:20]) + done if announced.isdecimal() else None
            if total is not None and total > most_bytes:
                raise InputError(
                    f"{address}: {total} bytes, more than the {most_bytes} expected at most; not downloaded"
                )
            with part.open("ab" if done else "wb") as file, Progress(disable=not progress) as bar:
                task = bar.add_task(f"downloading {part.name.strip('.')}", total=total, completed=done)
                for chunk in response.iter_content(_CHUNK):
                    done += len(chunk)
                    if done > most_bytes:
                        part.unlink()
                        raise InputError(f"{address}: sends more than the {most_bytes} bytes expected; not downloaded")
                    file.write(chunk)
                    bar.advance(task, len(chunk))
            return
    raise InputError(f"{address}: more than {_MOST_REDIRECTS} redirections; not downloaded")


def _check_address(address: str) -> None:
    """Only https, or plain http to this machine, where nobody can eavesdrop."""
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and _is_here(parts.hostname or "")):
        return
    raise InputError(f"{address}: not an https address; not downloaded")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def unpack(archive: Path, folder: Path) -> None:
    """Write the files of a .tar.gz that are missing from the folder or differ there.

    An archive with anything but plain files and folders inside ``folder`` is rejected before anything is written.
    """
    try:
        _walk(archive, folder, write=False)
        _walk(archive, folder, write=True)
    except UnreadableError as error:
        raise InputError(f"{archive}: {error}") from error
    except (tarfile.TarError, EOFError) as error:
        raise InputError(f"{archive}: damaged or not a .tar.gz archive; delete it and fetch it again") from error
    except OSError as error:
        raise InputError(f"cannot unpack {archive}: {error.strerror or error}") from error


def _walk(archive: Path, folder: Path, *, write: bool) -> None:
    root = folder.resolve()
    with (
        gzip.open(archive, "rb") as unpacked,
        tarfile.open(fileobj=BoundedReader(unpacked, _MOST_UNPACKED), mode="r|") as tar,
    ):
        for count, member in enumerate(tar, start=1):
            name = PurePosixPath(member.name)
            target = (root / name).resolve()
            inside = not name.is_absolute() and ".." not in name.parts and target.is_relative_to(root)
            if not inside or not (member.isfile() or member.isdir()) or "\\" in member.name or "\0" in member.name:
                raise UnreadableError(f"holds {member.name[:60]!r}, which is no plain file inside; nothing unpacked")
            if count > _MOST_FILES:
                raise UnreadableError(f"holds more than {_MOST_FILES} files; nothing unpacked")
            content = tar.extractfile(member) if write and member.isfile() else None
            if content is not None:
                data = content.read()
                if not target.is_file() or target.stat().st_size != len(data) or target.read_bytes() != data:
                    write_atomically(target, data)
