"""The drawing in docs/architecture.md is the one that import-linter checks, and names every package there is."""

from __future__ import annotations

import re
import tomllib

from places import ROOT


def drawn(house: str) -> list[set[str]]:
    """The packages of each line of a house, from top to bottom."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = next(part for part in text.split("```") if part.lstrip().startswith("library"))
    lines = block[block.index(house) :].splitlines()
    until = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return [set(re.split(r" {3,}", line.removeprefix(house).strip())[0].split()) for line in lines[:until]]


def packages(folder: str) -> set[str]:
    entries = (ROOT / folder).iterdir()
    modules = {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").exists()}
    return modules - {"__init__", "__main__"}


def test_the_library_is_drawn_as_it_is_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in settings["contracts"] if contract["type"] == "layers")
    checked = [{name.removeprefix("query_reduction.") for name in layer.split(" : ")} for layer in layers]
    library = drawn("library")
    # A layer may take two lines of the drawing.
    while len(library) > 1 and library != checked:
        at = next(number for number, (line, layer) in enumerate(zip(library, checked, strict=False)) if line != layer)
        library[at : at + 2] = [library[at] | library[at + 1]]
    assert library == checked
    assert set().union(*library) == packages("src/query_reduction")


def test_the_laboratory_is_drawn() -> None:
    assert set().union(*drawn("laboratory")) == packages("lab/query_reduction_lab")
