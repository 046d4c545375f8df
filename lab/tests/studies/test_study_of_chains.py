"""The table of chains: every restart counts, by the number of hops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from query_reduction_lab.studies.chains import as_markdown, collect

from query_reduction.errors import InputError


def finished(folder: Path, **network: object) -> Path:
    """A folder as ``qrn train`` leaves it."""
    folder.mkdir()
    result = {
        "restarts": [{"errors": {"answer": {"2": 10.0, "10": 30.0}}}, {"errors": {"answer": {"2": 20.0, "10": 30.0}}}],
        "settings": {"network": {"network": "follow", **network}},
        "data": {"name": "clutrr", "sha256": "0" * 64},
        "seconds": 3.5,
        "command": "qrn train",
        "version": "0.3.0",
        "commit": "abc",
        "machine": {},
    }
    (folder / "result.json").write_text(json.dumps(result))
    return folder


def test_rows_and_table(tmp_path: Path) -> None:
    row = collect(finished(tmp_path / "one", reduction="compose", orders="all"))
    assert row["network"] == "follow, reduction compose"
    assert row["trained_by"]["commit"] == "abc"
    assert row["accuracy"] == {"2": {"mean": 85.0, "deviation": 5.0}, "10": {"mean": 70.0, "deviation": 0.0}}
    table = as_markdown([row, collect(finished(tmp_path / "two"))])
    assert "| network | restarts | 2 | 10 |" in table
    assert "| follow, reduction compose | 2 | 85.0 ± 5.0 | 70.0 ± 0.0 |" in table
    assert table.count("## clutrr") == 1


def test_unfinished(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished training"):
        collect(tmp_path)
