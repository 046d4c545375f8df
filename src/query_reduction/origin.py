"""Where a number comes from: command, code, machine. Stored with every result."""

from __future__ import annotations

import ast
import hashlib
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from query_reduction._version import __version__
from query_reduction.errors import InputError

__all__ = ["checkout_checksums", "code_checksums", "provenance"]


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


def code_checksums(root: Path, patterns: Iterable[str]) -> dict[str, str]:
    """A checksum of the files of each pattern, so that a published figure can be seen to be older than its code.

    Comments, docstrings and layout of Python files do not count.
    """
    found = {}
    for pattern in patterns:
        paths = sorted(root.glob(pattern))
        if not paths:
            raise InputError(f"{root / pattern}: no such file")
        total = hashlib.sha256()
        for path in paths:
            content = _meaning(path.read_text("utf-8")).encode() if path.suffix == ".py" else path.read_bytes()
            total.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
        found[pattern] = total.hexdigest()
    return found


def checkout_checksums(patterns: Iterable[str]) -> dict[str, str]:
    """The same for the checkout that the running code is from; empty if it was installed instead."""
    root = Path(__file__).parents[2]
    return code_checksums(root, patterns) if (root / "kernels").is_dir() else {}


def _meaning(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


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
