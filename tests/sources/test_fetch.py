"""Downloads from a real HTTP server on this machine: whole, interrupted, wrong, and not there."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from query_reduction.errors import InputError
from query_reduction.sources.download import unpack
from query_reduction.sources.fetch import DATASETS, Dataset, fetch, find_babi
from query_reduction.sources.named import load_parts

STORY = b"1 Mary left.\n2 Who left?\tMary\t1\n1 John left.\n2 Who left?\tJohn\t1\n"


def archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for part in ("train", "test"):
            entry = tarfile.TarInfo(f"tasks_1-20_v1-2/en/qa1_single-supporting-fact_{part}.txt")
            entry.size = len(STORY)
            tar.addfile(entry, io.BytesIO(STORY))
        filler = tarfile.TarInfo("tasks_1-20_v1-2/filler")
        filler.size = 100_000
        tar.addfile(filler, io.BytesIO(random.Random(0).randbytes(100_000)))
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    content = archive()
    cut_after: int | None = None
    says_length = True
    redirects_to = ""
    ranges: list[str | None]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if self.server.redirects_to and self.path == "/babi.tar.gz":
            self.send_response(302)
            self.send_header("Location", self.server.redirects_to)
            self.end_headers()
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        body = self.server.content[start:]
        self.send_response(206 if asked else 200)
        if self.server.says_length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.cut_after])

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("QRN_DATA", str(tmp_path / "cache"))
    server = Server(("127.0.0.1", 0), Handler)
    server.ranges = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def dataset(server: Server, sha256: str | None = None) -> Dataset:
    right = hashlib.sha256(server.content).hexdigest()
    return Dataset("babi", "test", f"http://127.0.0.1:{server.server_port}/babi.tar.gz", sha256 or right)


def test_fetched_data_is_found(server: Server) -> None:
    fetch(dataset(server), progress=False)
    parts = load_parts("babi", "1")
    assert len(parts.train) == 2
    fetch(dataset(server), progress=False)
    assert len(server.ranges) == 1, "what is already here is not downloaded again"


def test_damaged_files_are_mended_by_a_second_fetch(server: Server) -> None:
    folder = fetch(dataset(server), progress=False)
    train, test = sorted(folder.rglob("qa1_*.txt"), reverse=True)
    train.write_bytes(STORY[:20])
    test.unlink()
    fetch(dataset(server), progress=False)
    assert train.read_bytes() == test.read_bytes() == STORY
    assert len(server.ranges) == 1, "the archive itself was whole"
    archive = folder / "babi.tar.gz"
    archive.write_bytes(archive.read_bytes()[:1000])
    fetch(dataset(server), progress=False)
    assert len(server.ranges) == 2
    assert not list(folder.rglob(".*")), "no leftovers"


def test_interrupted_download_goes_on(server: Server) -> None:
    server.cut_after = 50_000
    with pytest.raises(InputError, match="cannot download"):
        fetch(dataset(server), progress=False)
    server.cut_after = None
    fetch(dataset(server), progress=False)
    first, second = server.ranges
    assert first is None
    assert second is not None
    assert 40_000 < int(second.removeprefix("bytes=").removesuffix("-")) <= 50_000
    assert find_babi("en").is_dir()


def test_wrong_content_is_refused(server: Server) -> None:
    with pytest.raises(InputError, match="wrong sha256"):
        fetch(dataset(server, sha256="0" * 64), progress=False)
    fetch(dataset(server), progress=False)


@pytest.mark.parametrize("says_length", [True, False])
def test_too_large_a_file_is_not_downloaded(server: Server, tmp_path: Path, says_length: bool) -> None:
    server.says_length = says_length
    small = replace(dataset(server), most_bytes=50_000)
    with pytest.raises(InputError, match="not downloaded"):
        fetch(small, progress=False)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 0


def test_redirections(server: Server) -> None:
    server.redirects_to = "/elsewhere.tar.gz"
    fetch(dataset(server), progress=False)
    assert len(server.ranges) == 2


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("http://example.org/babi.tar.gz", "not an https address"),
        ("http://127.0.0.1.example.org/babi.tar.gz", "not an https address"),
        ("ftp://example.org/babi.tar.gz", "not an https address"),
        ("file:///etc/passwd", "not an https address"),
        ("/babi.tar.gz", "more than 5 redirections"),
    ],
)
def test_plain_addresses_are_refused_also_after_a_redirection(server: Server, address: str, complaint: str) -> None:
    server.redirects_to = address
    with pytest.raises(InputError, match=complaint):
        fetch(dataset(server), progress=False)
    if not address.startswith("/"):
        with pytest.raises(InputError, match=complaint):
            fetch(replace(dataset(server), address=address), progress=False)


def test_published_addresses_are_encrypted() -> None:
    assert all(known.address.startswith("https://") for known in DATASETS.values())


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size = kind, link, 4 if kind == tarfile.REGTYPE else 0
    return entry


@pytest.mark.parametrize(
    "bad",
    [
        member("../outside"),
        member("a/../../outside"),
        member("/outside"),
        member("C:\\outside"),
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("link", tarfile.SYMTYPE, "good"),
        member("link", tarfile.LNKTYPE, "../outside"),
        member("device", tarfile.CHRTYPE),
        member("pipe", tarfile.FIFOTYPE),
    ],
    ids=lambda entry: f"{entry.name} {entry.type!r}",
)
def test_archives_that_reach_out_are_refused_whole(tmp_path: Path, bad: tarfile.TarInfo) -> None:
    archive = tmp_path / "bad.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for entry in (member("good"), bad):
            tar.addfile(entry, io.BytesIO(b"text"))
    folder = tmp_path / "inner" / "folder"
    folder.mkdir(parents=True)
    with pytest.raises(InputError, match="no plain file inside; nothing unpacked"):
        unpack(archive, folder)
    assert not list(folder.iterdir())
    assert not (tmp_path / "inner" / "outside").exists()


def test_a_link_that_is_already_there_is_not_followed(tmp_path: Path) -> None:
    archive, folder, elsewhere = tmp_path / "a.tar.gz", tmp_path / "folder", tmp_path / "elsewhere"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(member("way/file"), io.BytesIO(b"text"))
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "way").symlink_to(elsewhere)
    with pytest.raises(InputError, match="nothing unpacked"):
        unpack(archive, folder)
    assert not list(elsewhere.iterdir())


def test_an_archive_that_unfolds_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("query_reduction.sources.download._MOST_UNPACKED", 1_000_000)
    archive = tmp_path / "bomb.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        entry = tarfile.TarInfo("zeros")
        entry.size = 3_000_000
        tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    with pytest.raises(InputError, match="expands to far more"):
        unpack(archive, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"no archive", archive()[:-100], gzip.compress(b"no tar" * 1000)],
    ids=["nothing", "plain text", "cut short", "no tar inside"],  # the time is part of an archive's bytes
)
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.tar\.gz: ") as caught:
        unpack(path, tmp_path / "folder")
    assert "\n" not in str(caught.value)


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRN_DATA", str(tmp_path))
    unreachable = Dataset("babi", "test", "http://127.0.0.1:9/babi.tar.gz", "0" * 64)
    with pytest.raises(InputError, match="check the network") as caught:
        fetch(unreachable, progress=False)
    assert "--data generated" in str(caught.value)


def test_absent_data_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QRN_DATA", str(tmp_path))
    with pytest.raises(InputError, match="qrn data fetch babi"):
        load_parts("babi", "1")
