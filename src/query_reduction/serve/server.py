"""The server process: a socket, uvicorn on top of it, and a graceful shutdown on SIGTERM."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import uvicorn

from query_reduction.errors import InputError
from query_reduction.model import StoryModel
from query_reduction.native.threads import use_threads
from query_reduction.serve.app import create_app
from query_reduction.serve.catalog import AnyModel
from query_reduction.serve.connection import connection_type, raise_descriptor_limit
from query_reduction.serve.limits import Limits

__all__ = ["serve"]

_SECONDS_TO_FINISH = 30
_BACKLOG = 2048
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


def serve(
    models: Mapping[str, AnyModel],
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None] = lambda address: None,
    *,
    proxy: str = "",
) -> None:
    """Serve until SIGTERM or SIGINT; requests in flight are finished first. ``announce`` gets the page's address.

    ``proxy`` is the address of a proxy whose X-Forwarded-For says who the client is.
    """
    bounds = replace(limits, connections=min(limits.connections, raise_descriptor_limit()))
    listening = _listen(host, port)
    use_threads(1)  # the event loop has the other core
    # The answering thread hands results back many times a second; Python's usual 5 ms turns would be its latency.
    sys.setswitchinterval(0.0005)
    for model in models.values():
        if isinstance(model, StoryModel):
            model.answer(["."], ".")  # the first pass of a process is slow; nobody should wait for it
    app = create_app(models, bounds, _LOOPBACK_NAMES if _is_loopback(host) else None)
    config = uvicorn.Config(
        app,
        http=connection_type(bounds),
        ws="none",
        access_log=False,
        log_level="error",  # bad requests are the client's business and must not fill a disk
        server_header=False,
        proxy_headers=bool(proxy),
        forwarded_allow_ips=proxy,
        timeout_keep_alive=bounds.idle_seconds,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        backlog=_BACKLOG,
    )
    # Existing objects are exempt: collecting them again and again would delay requests.
    gc.collect()
    gc.freeze()
    shown = f"[{host}]" if ":" in host else host
    announce(f"http://{shown}:{listening.getsockname()[1]}/")
    with listening:
        _Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends quietly on a signal: a requested end is not a failure, so the signal is not raised again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # From here on connections wait for the server instead of being refused.
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}; try another --port") from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
