"""How long the native library takes to build from its sources, where they are at hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from query_reduction.native.threads import available_cores
from query_reduction_lab.bench.results import Build

__all__ = ["measure_build"]

_SOURCES = Path(__file__).parents[3] / "kernels"


def measure_build(sources: Path = _SOURCES) -> Build:
    """Configure and compile into an empty folder."""
    beside_python = Path(sys.executable).with_name("cmake")
    cmake = str(beside_python) if beside_python.exists() else shutil.which("cmake")
    if not (sources / "CMakeLists.txt").exists():
        return Build(None, ("the sources of the native library are not here: not a checkout",))
    if cmake is None:
        return Build(None, ("build: cmake is not installed",))
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        for command in (
            [cmake, "-S", str(sources), "-B", folder, "-DCMAKE_BUILD_TYPE=Release"],
            [cmake, "--build", folder, "--parallel", str(available_cores())],
        ):
            if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                return Build(None, ("the native library does not build here",))
        seconds = time.perf_counter() - started
        if not any(Path(folder).glob("_native.*")):
            return Build(None, ("no C++ compiler that can build the native library",))
    return Build(seconds)
