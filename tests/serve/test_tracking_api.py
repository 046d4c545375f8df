"""Tracks over the wire, and the page that shows them."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import numpy as np
import pytest

from query_reduction.model import load
from query_reduction.pointing.config import PointerConfig, shapes
from query_reduction.pointing.lexicon import Lexicon
from query_reduction.pointing.model import PointerModel
from query_reduction.serve.app import create_app
from query_reduction.text.tracks import story_of_tracks

STORY = ["Rain falls on the soil.", "Roots drink the water."]


def _tracker() -> PointerModel:
    lexicon = Lexicon.learned([story_of_tracks(STORY, [("water", ["?", "soil", "Roots"])])] * 2)
    config = PointerConfig(dimension=4, phrase_dimension=4)
    wanted = shapes(config, words=lexicon.size, vectors=0, classes=len(lexicon.classes), actions=6)
    chance = np.random.default_rng(0)
    weights = {name: chance.normal(size=shape).astype(np.float32) for name, shape in wanted.items()}
    return PointerModel(config, lexicon, weights, None, {})


def request(method: str, path: str, *, alone: bool = False, **options: Any) -> httpx.Response:
    """One request to a fresh application."""

    async def send() -> httpx.Response:
        app = create_app({"plants": _tracker(), **({} if alone else {"task1": load("task1")})})
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


def test_things_are_tracked() -> None:
    assert request("GET", "/api/trackers").json() == {"models": ["plants"]}
    assert [model["name"] for model in request("GET", "/api/models").json()["models"]] == ["task1"]
    asked = {"model": "plants", "sentences": [" ".join(STORY)], "things": ["water", "rain"]}
    found = request("POST", "/api/track", json=asked).json()
    assert found["sentences"] == STORY
    assert {thing: len(states) for thing, states in found["things"].items()} == {"water": 3, "rain": 3}


def test_the_page_is_served() -> None:
    page = request("GET", "/track")
    assert page.status_code == 200 and 'src="/page/track.js"' in page.text
    assert request("GET", "/page/track.js").status_code == 200
    assert "track.js" not in request("GET", "/").text
    assert request("GET", "/", alone=True).text == page.text


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"model": "task1"}, 404, "that tracks"),
        ({"things": []}, 422, "at least 1 item"),
        ({"things": [";"]}, 422, "named by a word"),
        ({"sentences": [" "]}, 422, "at least 1 character"),
    ],
)
def test_what_is_refused(changes: dict[str, object], status: int, message: str) -> None:
    asked = {"model": "plants", "sentences": STORY, "things": ["water"]}
    refused = request("POST", "/api/track", json={**asked, **changes})
    assert refused.status_code == status and message in refused.json()["error"]["message"]
