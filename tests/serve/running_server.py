"""A real server process for tests."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["connect", "running_server"]


@contextmanager
def running_server(model: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """``qrn serve`` on a free port; yields its process and the port."""
    command = [sys.executable, "-m", "query_reduction", "serve", str(model), "--port", "0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            yield process, int(said["address"].split(":")[2].strip("/"))
        finally:
            process.kill()


def connect(port: int) -> socket.socket:
    """A connection; the server says where it listens just before it accepts."""
    for _ in range(100):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=20)
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise TimeoutError
