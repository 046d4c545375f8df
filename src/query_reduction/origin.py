"""Where a number comes from: command, code, machine. Stored with every result."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from query_reduction._version import __version__

__all__ = ["provenance"]


def provenance() -> dict[str, Any]:
    """Command line, version, commit (with a mark if files were changed since), and machine."""
    import torch

    from query_reduction.native.threads import available_cores

    command = [Path(sys.argv[0]).name, *sys.argv[1:]] if sys.argv else []
    return {
        "command": shlex.join(command),
        "version": __version__,
        "commit": _commit(),
        "machine": {
            "processor": _processor(),
            "cores": available_cores(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "torch": torch.__version__,
        },
    }


def _commit() -> str | None:
    """The commit the running code is from, if it runs from a checkout."""
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()

    try:
        tracked = git("ls-files", "--error-unmatch", Path(__file__).name)
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".") if tracked else ""
        return git("rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
