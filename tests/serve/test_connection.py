"""Connections within limits, over real sockets: large, many and slow headers, too many connections, slow readers."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from running_server import connect, running_server
from small_networks import saved_story_model

from query_reduction.model_file import save_model
from query_reduction.serve.connection import _Joining
from query_reduction.worlds import generate

HEALTH = b"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    path = tmp_path_factory.mktemp("models") / "tiny.safetensors"
    save_model(path, saved_story_model("2r8", generate(1, 50)))
    limits = {
        "--header-bytes": "20000",
        "--header-count": "10",
        "--header-seconds": "2",
        "--connections": "8",
        "--explanations": "1",
        "--retry-seconds": "0.3",
        "--refused-seconds": "3600",
    }
    with running_server(Path(path), *(word for pair in limits.items() for word in pair)) as (_, number):
        yield number


def everything(connection: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    found = b""
    try:
        while chunk := connection.recv(65536):
            found += chunk
    except ConnectionResetError:
        pass
    return found


def response(connection: socket.socket) -> bytes:
    """One response with a body."""
    found = _more(connection, b"")
    while b"\r\n\r\n" not in found:
        found = _more(connection, found)
    head, _, body = found.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < length:
        body = _more(connection, body)
    return head


def _more(connection: socket.socket, found: bytes) -> bytes:
    chunk = connection.recv(65536)
    if not chunk:
        raise ConnectionError("closed before the response was complete")
    return found + chunk


def closed(connection: socket.socket) -> bool:
    connection.settimeout(5)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_an_endless_header_is_cut_off(port: int) -> None:
    with connect(port) as attacker:
        sent = 0
        with pytest.raises(OSError):
            attacker.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ")
            for _ in range(10_000):
                sent += attacker.send(b"a" * 10_000)
        assert sent < 50_000_000
    with connect(port) as attacker:
        attacker.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: " + b"a" * 20_000)
        assert everything(attacker).startswith(b"HTTP/1.1 431")


def test_headers_are_counted(port: int) -> None:
    with connect(port) as honest, connect(port) as attacker:
        honest.sendall(HEALTH.replace(b"\r\n\r\n", b"\r\n" + b"a: b\r\n" * 9 + b"\r\n"))
        assert response(honest).startswith(b"HTTP/1.1 200")
        attacker.sendall(HEALTH.replace(b"\r\n\r\n", b"\r\n" + b"a: b\r\n" * 10 + b"\r\n"))
        assert everything(attacker).startswith(b"HTTP/1.1 400")


def test_slow_headers_end_the_connection(port: int) -> None:
    with connect(port) as silent, connect(port) as slow, connect(port) as later:
        slow.sendall(HEALTH[:20])
        later.sendall(HEALTH)
        assert response(later).startswith(b"HTTP/1.1 200")
        later.sendall(HEALTH[:20])
        assert all(closed(one) for one in (silent, slow, later))


def test_a_request_in_several_pieces_and_a_large_body_are_fine(port: int) -> None:
    story = {"model": "tiny", "sentences": ["Mary went to the garden."] * 900, "question": "Where is Mary?"}
    body = json.dumps(story).encode()
    head = (
        f"POST /api/answer HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    )
    request = head.encode() + b"\r\n\r\n" + body
    with connect(port) as honest:
        for cut in (7, len(request) // 2, len(request)):
            honest.sendall(request[:cut])
            honest.sendall(request[cut:])
            assert response(honest).startswith(b"HTTP/1.1 200")


def test_the_longest_waiting_connection_makes_room(port: int) -> None:
    with connect(port) as used:
        used.sendall(HEALTH)
        response(used)
        idle = [connect(port) for _ in range(7)]
        try:
            for one in idle:  # a connection that has an answer is one the server knows of
                one.sendall(HEALTH)
                response(one)
            used.sendall(HEALTH)
            response(used)  # so the idle ones have waited longer
            with connect(port) as newcomer:
                newcomer.sendall(HEALTH)
                assert response(newcomer).startswith(b"HTTP/1.1 200")
                assert closed(idle[0])
                used.sendall(HEALTH)
                assert response(used).startswith(b"HTTP/1.1 200")
        finally:
            for one in idle:
                one.close()


def test_the_rest_of_a_request_may_make_room_too(port: int) -> None:
    slow = [connect(port) for _ in range(8)]
    try:
        for one in slow:
            one.sendall(HEALTH.replace(b"\r\n\r\n", b"\r\ncontent-length: 100\r\n\r\n"))
        with connect(port) as newcomer:
            newcomer.sendall(HEALTH)
            assert response(newcomer).startswith(b"HTTP/1.1 200")
        assert closed(slow[0])
    finally:
        for one in slow:
            one.close()


def test_who_is_asked_to_retry_later_is_not_heard_before(port: int) -> None:
    """Explanations are bounded, and a connection that was refused one waits."""
    story = {"model": "tiny", "sentences": ["Mary went to the garden."] * 900, "question": "Where is Mary?"}
    body = json.dumps(story).encode()
    head = (
        f"POST /api/trace HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    )
    many = [connect(port) for _ in range(6)]
    try:
        for one in many:
            one.sendall(head.encode() + b"\r\n\r\n" + body)
        heads = [response(one) for one in many]
        refused = [one for one, found in zip(many, heads, strict=True) if found.startswith(b"HTTP/1.1 503")]
        assert 1 <= len(refused) < 6
        assert all(b"retry-after: 1" in found for found in heads if found.startswith(b"HTTP/1.1 503"))
        refused[0].sendall(HEALTH)
        assert response(refused[0]).startswith(b"HTTP/1.1 200")
    finally:
        for one in many:
            one.close()


def test_who_asked_for_nothing_sensible_leaves_others_their_turns(port: int) -> None:
    with connect(port) as refused, connect(port) as honest:
        refused.sendall(HEALTH.replace(b"health", b"nothing"))
        assert response(refused).startswith(b"HTTP/1.1 404")
        refused.sendall(HEALTH)
        for _ in range(20):
            honest.sendall(HEALTH)
            assert response(honest).startswith(b"HTTP/1.1 200")
        refused.setblocking(False)
        with pytest.raises(BlockingIOError):
            refused.recv(1)


class _Recorded:
    """A transport that notes what is written to it."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closing = False

    def write(self, data: bytes) -> None:
        assert not self.closing
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    abort = close


def test_a_response_leaves_in_one_piece() -> None:
    async def respond() -> None:
        recorded = _Recorded()
        transport = _Joining(cast(asyncio.Transport, recorded), asyncio.get_running_loop())
        transport.write(b"head")
        transport.write(b"body")
        assert recorded.written == []
        await asyncio.sleep(0)
        assert recorded.written == [b"headbody"]
        transport.write(b"later")
        await asyncio.sleep(0)
        assert recorded.written == [b"headbody", b"later"]
        transport.write(b"last")
        transport.close()
        assert recorded.written[2:] == [b"last"]
        assert transport.is_closing()

    asyncio.run(respond())


def test_nothing_is_written_to_a_connection_that_was_cut() -> None:
    async def respond() -> None:
        recorded = _Recorded()
        transport = _Joining(cast(asyncio.Transport, recorded), asyncio.get_running_loop())
        transport.write(b"head")
        transport.abort()
        await asyncio.sleep(0)
        assert recorded.written == []

    asyncio.run(respond())
