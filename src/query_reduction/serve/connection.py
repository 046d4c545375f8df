"""One connection, within limits: how large and how slow its headers may be, and how long it may keep others out.

uvicorn's parser (httptools) collects a header of any size at any speed. Here it gets its bytes in small pieces, against
a clock; and when there are too many connections, the one whose client has kept the server waiting longest makes room.

uvicorn writes the head of a response and its body separately. Here they leave together, which spares a system call for
each response, and one more at the client.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from query_reduction.serve.limits import Limits

__all__ = ["connection_type", "raise_descriptor_limit"]

_PIECE = 16_384
_MOST_PIPELINED = 16
_MOST_DESCRIPTORS = 8192
_SPARE_DESCRIPTORS = 64
"""For everything but connections: files, the event loop, and those accepted while room is being made."""


def raise_descriptor_limit() -> int:
    """Allow this process as many open files as it may have, within reason; returns how many connections that allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _MOST_DESCRIPTORS:
        soft = _MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MOST_DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, soft - _SPARE_DESCRIPTORS)


def connection_type(limits: Limits) -> type[HttpToolsProtocol]:
    """The class of connections with these limits; all of one server share a list of those that wait."""
    waiting: dict[HttpToolsProtocol, None] = {}

    class LimitedConnection(_Connection):
        _limits = limits
        _waiting = waiting

    return LimitedConnection


class _Joining:
    """A transport whose writes within one turn of the event loop leave together."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        """Everything else is the transport's own."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep the data until the turn ends."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Close it, once all that was written is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts and not self._transport.is_closing():
            self._transport.write(b"".join(self._parts))
        self._parts.clear()


class _Connection(HttpToolsProtocol):
    """A connection that ends when its client exceeds a limit."""

    _limits: Limits
    _waiting: dict[HttpToolsProtocol, None]
    """The connections from which a request, or the rest of one, is expected; the longest wait first."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes = 0
        self._reading_head = True
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._pause_timer: asyncio.TimerHandle | None = None
        self._pause_seconds = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for the new connection, or refuse it if all others are being answered."""
        super().connection_made(_Joining(transport, self.loop))  # type: ignore[arg-type]
        if len(self.connections) > self._limits.connections:
            if not self._waiting:
                self._refuse(503, "too many connections; try again in a moment")
                return
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()
        self._waiting[self] = None
        self._start_head_timer()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self._waiting.pop(self, None)
        self._stop_timers()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Pass on what came, piece by piece while a head is incomplete, so that none grows beyond its limit."""
        if self._reading_head and self._head_timer is None:
            self._start_head_timer()
        begin = 0
        while begin < len(data) and not self.transport.is_closing():
            end = begin + _PIECE if self._reading_head else len(data)
            piece, begin = data[begin:end], end
            if self._reading_head:
                self._head_bytes += len(piece)
            super().data_received(piece)
            if self._reading_head and self._head_bytes > self._limits.header_bytes:
                self._refuse(431, f"the headers are larger than {self._limits.header_bytes} bytes")
            elif len(self.pipeline) > _MOST_PIPELINED:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """A request begins; the application may ask for a pause after its response."""
        super().on_message_begin()
        self._reading_head = True
        self.scope["state"]["pause"] = self._pause_after_response

    def on_header(self, name: bytes, value: bytes) -> None:
        """One more header."""
        if len(self.headers) >= self._limits.header_count:
            raise ValueError("too many headers")  # the parser makes it an answer of 400
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete in time."""
        self._reading_head = False
        self._head_bytes = 0
        self._stop_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Now the client waits for the server."""
        self._waiting.pop(self, None)
        super().on_message_complete()
        self._reading_head = True

    def on_response_complete(self) -> None:
        """The client may send its next request, after a pause if it was asked for one."""
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if not self.pipeline:
            self._waiting[self] = None
        if self._pause_seconds:
            if self.pipeline:
                self.transport.abort()
                return
            self.flow.pause_reading()
            self._pause_timer = self.loop.call_later(self._pause_seconds, self.flow.resume_reading)
            self._pause_seconds = 0.0

    def pause_writing(self) -> None:
        """The client does not read what it asked for; it has as long as a request may take."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self._limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It does."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _pause_after_response(self, seconds: float) -> None:
        self._pause_seconds = seconds

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self._limits.header_seconds, self.transport.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_timers(self) -> None:
        self._stop_head_timer()
        for timer in (self._write_timer, self._pause_timer):
            if timer is not None:
                timer.cancel()

    def _refuse(self, status: int, message: str) -> None:
        reason = {431: "Request Header Fields Too Large", 503: "Service Unavailable"}[status]
        retry = f"retry-after: {max(1, round(self._limits.retry_seconds))}\r\n" if status == 503 else ""
        self.transport.write(
            f"HTTP/1.1 {status} {reason}\r\ncontent-type: text/plain\r\ncontent-length: {len(message)}\r\n{retry}"
            f"connection: close\r\n\r\n{message}".encode()
        )
        self.transport.close()
