"""Load on a server over loopback: questions per second, latency, failures and memory.

    python -m query_reduction_lab.studies.load_test MODEL --seconds 120 --connections 32

Starts ``qrn serve`` as it comes, asks about generated stories of task 2 over keep-alive connections, each sending its
next question as soon as it has an answer, and samples the server's memory. Client and server share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

from query_reduction.worlds import generate
from query_reduction_lab.studies.publish import publish

_WARM_UP = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--out", type=Path, default=Path("results/load-test.json"))
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "query_reduction", "serve", chosen.model, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            said = json.loads(server.stdout.readline())
            port = int(said["address"].rsplit(":", 1)[1].strip("/"))
            result = measure(port, said["models"][0], server.pid, chosen.seconds, chosen.connections)
        finally:
            server.send_signal(signal.SIGTERM)
        result["exit_code_after_sigterm"] = server.wait(30)
    result |= {"model": Path(chosen.model).name}
    print(json.dumps(result, indent=1))
    publish(chosen.out, result, "studies/load_test.py")


def measure(port: int, model: str, server: int, seconds: float, connections: int) -> dict[str, Any]:
    """Ask from a separate process while watching the server's memory."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    client = context.Process(target=_client, args=(theirs, port, model, seconds, connections))
    client.start()
    memory = []
    processor = _processor_seconds(server)
    start = time.monotonic()
    while not ours.poll(1.0):
        memory.append(_memory(server))
    processor = _processor_seconds(server) - processor
    latencies, failures = ours.recv()
    client.join()
    elapsed = time.monotonic() - start
    settled = memory[len(memory) // 4 :]
    milliseconds = 1000 * np.array(latencies)
    return {
        "seconds": seconds,
        "connections": connections,
        "questions": len(latencies),
        "questions_per_second": round(len(latencies) / seconds, 1),
        "failures": failures,
        "latency_ms": {f"p{q}": round(float(np.percentile(milliseconds, q)), 2) for q in (50, 90, 99, 99.9)}
        | {"max": round(float(milliseconds.max()), 2)},
        "memory_mb": {
            "after_a_quarter": round(settled[0] / 1e6, 1),
            "at_the_end": round(settled[-1] / 1e6, 1),
            "highest": round(max(memory) / 1e6, 1),
        },
        "server_cores_used": round(processor / elapsed, 2),
        "load_average_at_the_end": [round(load, 1) for load in os.getloadavg()],
    }


def _client(pipe: Any, port: int, model: str, seconds: float, connections: int) -> None:
    requests = []
    for story in generate(2, 400, split="test"):
        for question in story.questions:
            body = json.dumps(
                {"model": model, "sentences": story.sentences[: question.after], "question": question.text}
            )
            head = (
                "POST /api/answer HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\n\r\n"
            )
            requests.append((head + body).encode())
    gc.disable()  # its pauses would be mistaken for the server's
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        pipe.send(runner.run(_ask_all(requests, port, seconds, connections)))


class _Connection(asyncio.Protocol):
    """Asks one question after the other. It shares the processors with the server, so it does little more than that."""

    def __init__(self, requests: Sequence[bytes], first: int, begin: float, end: float) -> None:
        self._requests, self._turn, self._begin, self._end = requests, first, begin, end
        self.latencies: list[float] = []
        self.failures = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._answer += data
        head, separator, body = self._answer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        if self._start >= self._begin:
            self.latencies.append(time.monotonic() - self._start)
            self.failures += not head.startswith(b"HTTP/1.1 200")
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.failures += 1
            self.done.set_result(None)

    def _ask(self) -> None:
        self._start = time.monotonic()
        if self._start >= self._end:
            self.done.set_result(None)
            self._transport.close()
            return
        self._answer = b""
        self._transport.write(self._requests[self._turn % len(self._requests)])
        self._turn += 1


async def _ask_all(requests: list[bytes], port: int, seconds: float, connections: int) -> tuple[list[float], int]:
    begin = time.monotonic() + _WARM_UP
    loop = asyncio.get_running_loop()
    made = [_Connection(requests, number * 7, begin, begin + seconds) for number in range(connections)]

    async def ask(one: _Connection) -> None:
        await loop.create_connection(lambda: one, "127.0.0.1", port)
        await one.done

    outcomes = await asyncio.gather(*map(ask, made), return_exceptions=True)
    failures = sum(one.failures for one in made) + sum(isinstance(outcome, BaseException) for outcome in outcomes)
    return [latency for one in made for latency in one.latencies], failures


def _memory(process: int) -> int:
    """Bytes of a process in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
