"""Downloads from a real HTTP server on this machine: whole, interrupted, wrong, and not there."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from query_reduction.data.fetch import Dataset, fetch, find_babi
from query_reduction.errors import InputError
from query_reduction.tasks.sources import load_parts

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
    ranges: list[str | None]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        body = self.server.content[start:]
        self.send_response(206 if asked else 200)
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
