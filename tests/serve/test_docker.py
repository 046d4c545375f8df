"""The Dockerfile names what is there; it is not built here, because that needs a Docker daemon."""

from __future__ import annotations

import asyncio
import json
import re

import httpx
from places import ROOT

import query_reduction as qr
from query_reduction.serve.app import create_app

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_what_it_copies_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = {
        name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    }
    assert sources == kept
    assert all((ROOT / name).exists() for name in sources)


def test_it_serves_without_privileges() -> None:
    last_stage = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!root)\w+$", last_stage, re.MULTILINE)
    assert json.loads(last_stage.partition("ENTRYPOINT ")[2]) == ["qrn", "serve", "--host", "0.0.0.0"]


def test_its_health_check_asks_what_the_server_answers() -> None:
    (path,) = re.findall(r"http://127\.0\.0\.1:8080(/\S+?)'", DOCKERFILE)

    async def status() -> int:
        # As the check does it: on all addresses the server answers under any host name.
        transport = httpx.ASGITransport(create_app({"task1": qr.load("task1")}))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            return (await client.get(path)).status_code

    assert asyncio.run(status()) == 200
