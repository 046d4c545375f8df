"""A node of a Ray cluster is killed in the middle of a sweep."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from query_reduction_lab.attack.record import Row

__all__ = ["run"]

_TEST = "tests/experiments/test_ray.py::test_a_node_dies_and_nothing_is_lost"


def run(short: bool) -> list[Row]:
    """The test of the cluster, once or three times; CI's short form leaves it to ``make test-cluster``."""
    name = "a node of a Ray cluster killed mid-sweep"
    if short or importlib.util.find_spec("ray") is None:
        why = "'make test-cluster' does it" if short else "Ray is not installed: 'make attack' installs it"
        return [Row(name, 0, f"not run here: {why}", "nothing lost", short)]
    codes = [
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "cluster", _TEST], check=False).returncode
        for _ in range(3)
    ]
    return [Row(name, len(codes), f"{sum(code != 0 for code in codes)} lost something", "nothing lost", not any(codes))]
