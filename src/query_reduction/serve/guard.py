"""What stands between the network and the application: size, time, host and headers of every request."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from query_reduction.serve.limits import Limits

__all__ = ["Guard", "error_body"]

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[MutableMapping[str, Any], _Receive, _Send], Awaitable[None]]

_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
]


def error_body(code: str, message: str, field: str | None = None) -> dict[str, Any]:
    """The body of every error: a code for programs, a line for people, and the field it is about."""
    return {"error": {"code": code, "message": message} | ({"field": field} if field else {})}


class _TooLargeError(Exception):
    """A request's body is larger than allowed."""


class Guard:
    """An ASGI layer around the whole application."""

    def __init__(
        self,
        app: _App,
        limits: Limits,
        hosts: frozenset[str] | None,
        is_full: Callable[[str, str], bool] = lambda path, client: False,
    ) -> None:
        """``hosts`` are the host names it accepts, so that a foreign page cannot reach it under its own name.

        ``is_full`` says whether requests to a path are refused to a client for now: then they are not even parsed.
        """
        self._is_full = is_full
        self._app = app
        self._limits = limits
        self._hosts = hosts

    async def __call__(self, scope: MutableMapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Pass a request on, within the limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        started = False

        async def guarded_send(message: _Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if message["status"] >= 400 and "pause" in scope.get("state", {}):
                    # A client that was asked to come back later is not heard before, and one whose requests are bad
                    # has others heard between them.
                    later = message["status"] == 503
                    scope["state"]["pause"](self._limits.retry_seconds if later else self._limits.refused_seconds)
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        async def refuse(status: int, code: str, message: str, *, close: bool = True) -> None:
            if not started:
                body = json.dumps(error_body(code, message)).encode()
                kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
                # The rest of an unread body must not be mistaken for the next request.
                if close:
                    kind.append((b"connection", b"close"))
                if status == 503:
                    kind.append((b"retry-after", str(math.ceil(self._limits.retry_seconds)).encode()))
                await guarded_send({"type": "http.response.start", "status": status, "headers": kind})
                await guarded_send({"type": "http.response.body", "body": body})

        if self._hosts is not None and _host(headers.get(b"host", b"")) not in self._hosts:
            await refuse(421, "wrong_host", "this server does not answer under that host name")
            return
        try:
            async with asyncio.timeout(self._limits.seconds):
                body = await self._body(headers.get(b"content-length", b"0"), receive)
                if body is not None and self._is_full(scope["path"], (scope.get("client") or ("",))[0]):
                    await refuse(503, "busy", "too many such requests are waiting; try again in a moment", close=False)
                elif body is not None:
                    await self._app(scope, _replay(body, receive), guarded_send)
        except _TooLargeError:
            await refuse(413, "too_large", f"the request is larger than {self._limits.body_bytes} bytes")
        except TimeoutError:
            await refuse(503, "too_slow", f"not answered within {self._limits.seconds:g} seconds")

    async def _body(self, declared: bytes, receive: _Receive) -> bytes | None:
        """The whole body, or None if the client left; one that is too large, whatever was declared, is an error."""
        limit = self._limits.body_bytes
        if not declared.isdigit() or int(declared[:20]) > limit:
            raise _TooLargeError
        body = bytearray()
        while True:
            message: _Message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > limit:
                raise _TooLargeError
            if not message.get("more_body", False):
                return bytes(body)


def _replay(body: bytes, receive: _Receive) -> _Receive:
    """A receive function that replays the body already read, and then whatever follows."""
    given = False

    async def replayed() -> _Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _host(header: bytes) -> str:
    """The name in a Host header, without the port."""
    text = header.decode("latin-1").lower()
    return text[: text.rfind("]") + 1] if text.startswith("[") else text.partition(":")[0]
