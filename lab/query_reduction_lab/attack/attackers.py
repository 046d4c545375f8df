"""Clients that mean harm, each as a process of its own, until killed.

``python -m query_reduction_lab.attack.attackers KIND PORT MODEL`` starts one.

An attacker whose connection is closed opens another one at once.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping

from query_reduction.worlds import generate

__all__ = ["KINDS"]

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_HEAD = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "
_SLOW_CONNECTIONS = 300
_IDLE_CONNECTIONS = 1000
_TRACE_CONNECTIONS = 128
_POISON_CONNECTIONS = 4


async def endless_header(connection: _Connection, model: str) -> None:
    """One header that never ends, as fast as it is taken."""
    _, writer = connection
    writer.write(_HEAD)
    while True:
        writer.write(b"a" * 65536)
        await writer.drain()


async def slow_header(connection: _Connection, model: str) -> None:
    """One byte of a header per second."""
    reader, writer = connection
    writer.write(_HEAD)
    while not reader.at_eof():
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(1)


async def idle(connection: _Connection, model: str) -> None:
    """Nothing, for as long as the connection stays open."""
    await connection[0].read()


async def poison(connection: _Connection, model: str) -> None:
    """Questions that look like text and are blank."""
    await _post(connection, "/api/answer", {"model": model, "sentences": ["Mary went home."], "question": "\x1c"})


async def trace(connection: _Connection, model: str) -> None:
    """Explanations of a long story, one after another."""
    story = generate(2, 5, split="test")[0]
    asked = {"model": model, "sentences": list(story.sentences) * 5, "question": story.questions[-1].text}
    await _post(connection, "/api/trace", asked)


async def _post(connection: _Connection, path: str, asked: Mapping[str, object]) -> None:
    reader, writer = connection
    body = json.dumps(asked).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    while True:
        writer.write(request)
        answer = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0]))


KINDS: dict[str, tuple[int, Callable[[_Connection, str], Awaitable[None]]]] = {
    "endless header": (1, endless_header),
    "300 slow headers": (_SLOW_CONNECTIONS, slow_header),
    "poison": (_POISON_CONNECTIONS, poison),
    "128 trace floods": (_TRACE_CONNECTIONS, trace),
    "1 000 idle connections": (_IDLE_CONNECTIONS, idle),
}


async def _attack(kind: str, port: int, model: str) -> None:
    count, act = KINDS[kind]

    async def one() -> None:
        while True:
            try:
                connection = await asyncio.open_connection("127.0.0.1", port)
                try:
                    await act(connection, model)
                finally:
                    connection[1].close()
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.01)

    await asyncio.gather(*(one() for _ in range(count)))


if __name__ == "__main__":
    asyncio.run(_attack(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
