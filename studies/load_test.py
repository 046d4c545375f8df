"""Load on a server over loopback: questions per second, latency, failures and memory.

    python -m studies.load_test MODEL --seconds 120 --connections 32

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
from pathlib import Path
from typing import Any

import numpy as np

from query_reduction.worlds import generate
from studies.publish import publish

CODE = ("kernels/*.[ch]*", "src/query_reduction/inference/*.py", "src/query_reduction/serve/*.py")

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
    publish(chosen.out, result, "studies/load_test.py", CODE)


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
    pipe.send(asyncio.run(_ask_all(requests, port, seconds, connections)))


async def _ask_all(requests: list[bytes], port: int, seconds: float, connections: int) -> tuple[list[float], int]:
    latencies: list[float] = []
    failures = 0
    begin = time.monotonic() + _WARM_UP
    end = begin + seconds

    async def one(number: int) -> None:
        nonlocal failures
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        turn = number * 7
        while (start := time.monotonic()) < end:
            writer.write(requests[turn % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            if start >= begin:
                latencies.append(time.monotonic() - start)
                failures += not head.startswith(b"HTTP/1.1 200")
            turn += 1
        writer.close()

    outcomes = await asyncio.gather(*(one(number) for number in range(connections)), return_exceptions=True)
    return latencies, failures + sum(isinstance(outcome, BaseException) for outcome in outcomes)


def _memory(process: int) -> int:
    """Bytes of a process in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
