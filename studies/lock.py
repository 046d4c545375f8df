"""Write requirements.lock: what the set-up installs, each file with its sha256.

    python studies/lock.py INDEX      # the address of a package index, the page that lists all packages

Reads the versions from constraints.txt, for the packages that are installed here, and the checksums of all their files,
for all platforms, from the package index. torch is left out: its builds for CPUs and GPUs, and for different systems,
come from different indexes under one version, so it is pinned by constraints.txt alone.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import requests

from query_reduction.files import write_atomically

_BUILDING = ("cmake", "ninja", "scikit_build_core")
_LEFT_OUT = ("torch", "query-reduction")


def main() -> None:
    pinned = {}
    for line in Path("constraints.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        if version:
            pinned[_plain(name)] = version
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    installed = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout.splitlines()
    names = {_plain(re.split("==| @ ", line)[0]) for line in installed} | {_plain(name) for name in _BUILDING}
    wanted = sorted(names - {_plain(name) for name in _LEFT_OUT})
    missing = [name for name in wanted if name not in pinned]
    if missing:
        raise SystemExit(f"not in constraints.txt: {', '.join(missing)}")
    lines = ["# Made by studies/lock.py from constraints.txt; torch is pinned there alone, for the reason given there"]
    for name in wanted:
        hashes = _hashes(sys.argv[1].rstrip("/"), name, pinned[name])
        lines += [f"{name}=={pinned[name]} \\", *(f"    --hash=sha256:{value} \\" for value in hashes)]
        lines[-1] = lines[-1].removesuffix(" \\")
    write_atomically(Path("requirements.lock"), "\n".join(lines) + "\n")


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
