"""The first command a newcomer types keeps its promise."""

from __future__ import annotations

import json

import pytest

from query_reduction.cli import main


def test_demo_reaches_98_percent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["test_error"] <= 2
    assert result["answer"] == result["right_answer"]
