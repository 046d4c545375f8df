"""Two processes with half of every batch each give what one process gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from query_reduction.model_file import load_model
from query_reduction.training.data_parallel import Share, process_group

OPTIONS = [
    "--questions",
    "60",
    "--task",
    "1",
    "--dimension",
    "12",
    "--batch",
    "9",
    "--restarts",
    "2",
    "--max-epochs",
    "6",
]
OPTIONS += ["--evaluate-every", "2", "--patience", "4", "--threads", "1", "--json"]


def train(out: Path, *launcher: str) -> dict[str, object]:
    command = [sys.executable, *launcher, "-m", "query_reduction", "train", "--out", str(out), *OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1, "one process speaks for all"
    result: dict[str, object] = json.loads(lines[0])
    return result


def test_two_processes_train_the_model_of_one(tmp_path: Path) -> None:
    alone = train(tmp_path / "alone")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    together = train(tmp_path / "together", *torchrun)
    assert together["restarts"] == alone["restarts"] or together["dev_loss"] == pytest.approx(
        alone["dev_loss"], rel=1e-4
    )
    one, two = (load_model(tmp_path / name).weights for name in ("alone", "together"))
    assert one.keys() == two.keys()
    for name, weight in one.items():
        np.testing.assert_allclose(weight, two[name], rtol=1e-3, atol=1e-5, err_msg=name)


@given(st.integers(0, 40), st.integers(1, 7))
def test_the_parts_are_the_batch(size: int, processes: int) -> None:
    batch = np.arange(size)
    parts = [Share(rank, processes).part(batch) for rank in range(processes)]
    assert sorted(np.concatenate(parts).tolist()) == batch.tolist()


def test_without_torchrun_a_process_has_all_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    with process_group() as share:
        assert share == Share(0, 1)
        assert share.first
        assert share.any(True)
        assert not share.any(False)
