"""How many lines of Python and JavaScript each package has, here and in another version.

    python -m query_reduction_lab.studies.lines --before ../0.2.0

writes results/lines.json and .md. All lines count, comments and empty ones too; tests, kernels and data do not. What
0.2.0 kept inside the library but belongs to the laboratory is counted as the laboratory's.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from query_reduction.files import write_atomically
from query_reduction_lab.studies.publish import RESULTS, ROOT, publish

LIBRARY, LABORATORY = "library", "laboratory"
_SUFFIXES = (".py", ".js")
_IN_THE_LIBRARY = (
    "experiments",
    "bench",
    "cli/bench.py",
    "cli/reproduce.py",
    "cli/reproduce_long.py",
    "cli/sweep_view.py",
    "worlds/comparison.py",
    "networks/agru.py",
    "networks/dmn.py",
    "networks/dnc.py",
    "networks/entnet.py",
    "networks/gmemn2n.py",
    "networks/neural_reasoner.py",
    "networks/scrn.py",
    "networks/typed.py",
    "networks/universal_transformer.py",
)
"""What belongs to the laboratory and was inside the library, up to 0.2.0."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the checkout of another version")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the two files")
    chosen = parser.parse_args()
    counted = {"this version": count(ROOT)}
    if chosen.before:
        counted = {"before": count(chosen.before), **counted}
    publish(chosen.out / "lines.json", {"lines": counted}, "studies/lines.py")
    write_atomically(chosen.out / "lines.md", table(counted))
    print(table(counted), end="")


def count(root: Path) -> dict[str, dict[str, int]]:
    """House → package → lines, of a checkout."""
    houses: dict[str, Counter[str]] = {LIBRARY: Counter(), LABORATORY: Counter()}
    source = root / "src" / "query_reduction"
    for path in _code(source):
        name = path.relative_to(source).as_posix()
        inside = any(name == known or name.startswith(f"{known}/") for known in _IN_THE_LIBRARY)
        houses[LABORATORY if inside else LIBRARY][_package(path, source)] += _lines(path)
    # Until 0.2.0 studies and attacks were folders of their own.
    for folder in (root / "lab" / "query_reduction_lab", root / "studies", root / "attack"):
        own = folder if folder.name.startswith("query") else root
        for path in _code(folder):
            houses[LABORATORY][_package(path, own)] += _lines(path)
    return {house: dict(sorted(packages.items())) for house, packages in houses.items()}


def _code(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("**/*")) if path.suffix in _SUFFIXES]


def _package(path: Path, root: Path) -> str:
    name, *rest = path.relative_to(root).parts
    return name if rest else "root"


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def table(counted: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """For people: a table per house, packages of all versions together."""
    lines = [
        "# Lines of code",
        "",
        "Python and JavaScript, all lines, without tests, kernels and data. What earlier versions kept inside the "
        "library, but belongs to the laboratory, is counted there. Made by "
        "`python -m query_reduction_lab.studies.lines`.",
    ]
    for house in (LIBRARY, LABORATORY):
        packages = sorted({name for version in counted.values() for name in version[house]})
        lines += ["", f"| {house} | {' | '.join(counted)} |", "|---|" + "---:|" * len(counted)]
        for name in packages:
            found = (version[house].get(name) for version in counted.values())
            lines.append(f"| {name} | {' | '.join('' if own is None else f'{own:,}' for own in found)} |")
        totals = (sum(version[house].values()) for version in counted.values())
        lines.append(f"| **all** | {' | '.join(f'**{total:,}**' for total in totals)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
