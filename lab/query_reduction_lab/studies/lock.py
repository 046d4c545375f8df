"""Write requirements.lock and locks/EXTRA.lock: what 'make' installs, each file with its sha256.

    python -m query_reduction_lab.studies.lock INDEX      # a package index: the page that lists all packages

requirements.lock has what the set-up installs, the others what further targets of the Makefile add. Versions are those
of constraints.txt; pip says which packages are needed; the checksums of all files of a version, for all platforms, are
those of the package index. torch is left out: its builds for CPUs and GPUs, and for different systems, come from other
indexes under one version, so it is pinned by constraints.txt alone.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import requests

from query_reduction.files import write_atomically

_BUILDING = ["cmake", "ninja", "scikit_build_core"]
_SET_UP = ("dev", "export", "plots", "serve")
_FURTHER = ("bench", "browser", "cluster", "coverage", "docs", "notebook", "wheels")
_LEFT_OUT = {"torch", "query-reduction"}
_HEAD = "# Made by query_reduction_lab.studies.lock from constraints.txt, where torch alone is pinned by version only\n"


def main() -> None:
    index = sys.argv[1].rstrip("/")
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    laboratory = tomllib.loads(Path("lab/pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"] | laboratory["optional-dependencies"]
    asked = [
        *project["dependencies"],
        *laboratory["dependencies"],
        *_BUILDING,
        *(line for extra in _SET_UP for line in extras[extra]),
    ]
    base = _needed(line for line in asked if not line.startswith("query-reduction"))
    _write(Path("requirements.lock"), base, index)
    for extra in _FURTHER:
        _write(Path(f"locks/{extra}.lock"), _needed(extras[extra]) - base, index)


def _needed(requirements: Iterable[str]) -> set[tuple[str, str]]:
    """Names and versions of all that these requirements need."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--report", "-"]
    done = subprocess.run(
        [*command, "-c", "constraints.txt", *requirements], stdout=subprocess.PIPE, text=True, check=True
    )
    found = (entry["metadata"] for entry in json.loads(done.stdout)["install"])
    pinned = {_plain(entry["name"]): entry["version"] for entry in found}
    lines = [line.partition("==") for line in Path("constraints.txt").read_text().splitlines() if "==" in line]
    unknown = pinned.keys() - {_plain(name) for name, _, _ in lines}
    if unknown:
        raise SystemExit(f"not in constraints.txt: {', '.join(sorted(unknown))}")
    return {(name, version) for name, version in pinned.items() if name not in _LEFT_OUT}


def _write(path: Path, packages: set[tuple[str, str]], index: str) -> None:
    entries = []
    for name, version in sorted(packages):
        hashes = [f"    --hash=sha256:{value}" for value in _hashes(index, name, version)]
        entries.append(" \\\n".join([f"{name}=={version}", *hashes]))
    write_atomically(path, _HEAD + "\n".join(entries) + "\n")


def _plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def _hashes(index: str, name: str, version: str) -> list[str]:
    page = requests.get(f"{index}/{name}/", timeout=60)
    page.raise_for_status()
    found = set()
    for link in re.findall(r'href="([^"]+)"', page.text):
        address, _, fragment = html.unescape(link).partition("#sha256=")
        file = address.rpartition("/")[2]
        kind = re.match(r"(?P<name>.+?)-(?P<version>[^-]+?)(?:-.*\.whl|\.tar\.gz|\.zip)$", file)
        if kind and kind["version"] == version and fragment:
            found.add(fragment)
    if not found:
        raise SystemExit(f"the index has no files of {name} {version}")
    return sorted(found)


if __name__ == "__main__":
    main()
