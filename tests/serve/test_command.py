"""The server process: says where it listens, refuses what it cannot serve, finishes what it began."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from running_server import connect, running_server
from small_networks import saved_story_model

from query_reduction.cli import main
from query_reduction.errors import InputError
from query_reduction.model_file import save_model
from query_reduction.serve.catalog import load_models
from query_reduction.worlds import generate


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny" / "model.safetensors"
    save_model(path, saved_story_model("2r8", generate(1, 50)))
    return path


@pytest.fixture
def server(model_file: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with running_server(model_file.parent) as found:
        yield found


def test_sigterm_finishes_the_request_in_flight(server: tuple[subprocess.Popen[str], int]) -> None:
    process, port = server
    body = json.dumps(
        {"model": "tiny", "sentences": ["Mary went to the garden."], "question": "Where is Mary?"}
    ).encode()
    head = (
        f"POST /api/answer HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with connect(port) as connection:
        # The request has begun but its body is not there yet when the signal comes.
        connection.sendall(head.encode() + body[:10])
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert process.poll() is None
        connection.sendall(body[10:])
        answer = b""
        while chunk := connection.recv(4096):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 200")
    assert b'"confidence"' in answer
    assert process.wait(20) == 0


def test_it_listens_on_this_machine_only(server: tuple[subprocess.Popen[str], int]) -> None:
    _, port = server
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=20) as response:
        assert json.load(response)["status"] == "ok"
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(2)
        other.connect(("127.0.0.2", port))


def test_a_port_in_use_is_one_line(model_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["serve", str(model_file), "--port", str(taken.getsockname()[1])]) == 1
    assert "cannot listen" in capsys.readouterr().err


def test_models_by_file_folder_and_folder_of_folders(model_file: Path, tmp_path: Path) -> None:
    assert list(load_models([str(model_file)])) == ["tiny"]
    assert list(load_models([str(model_file.parent), str(model_file.parent.parent)])) == ["tiny", "tiny.2"]
    with pytest.raises(InputError, match="no models in this folder"):
        load_models([str(tmp_path)])
    with pytest.raises(InputError, match="no such file"):
        load_models(["nothing-of-this-name"])


def test_limits_must_make_sense(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--sentences", "0"]) == 1
    assert "sentences must be a whole number from 1 to 1e+06, not 0" in capsys.readouterr().err
