"""No published figure without a source; a report says what was measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.studies import splits, transfer

RESULTS = ROOT / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")
STUDIED = sorted(path for path in RESULTS.glob("**/*.json") if not {"store", ".unfinished"} & set(path.parts))
BY_HAND = {"EXPERIMENTS.md"}
OF_COMMANDS = {"bench.md", "audit.md", "attack.md"}
ITEM_BY_ITEM = {"figures.json", "attack.json"}
"""Each network, or each row, says by which commit it was made; the parts are of different commits."""
FROM_STORE = {"transfer-comparison.md": transfer.comparison, "splits.md": splits.comparison}
_FIGURE = re.compile(r"\d[\d,. ]*(?:%|×|percent\b|times\b|minutes?\b|seconds?\b|ms\b|[kMG]B\b|points?\b)")


@pytest.mark.parametrize(
    "path", [path for path in STUDIED if path.name not in ITEM_BY_ITEM], ids=lambda path: path.stem
)
def test_a_study_comes_from_a_command_a_release_and_a_clean_commit(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content = content.get("origin", content)  # of the benchmark
    assert content["command"]
    assert content["version"]
    assert re.fullmatch("[0-9a-f]{40}", content["commit"])
    assert "code" not in content, "figures are tied to releases, not to the text of source files"


def test_every_report_belongs_to_a_table_or_a_study() -> None:
    studies = {path.with_suffix(".md").name for path in STUDIED} | set(FROM_STORE) | OF_COMMANDS
    tables = {f"{table}.md" for table in EXPERIMENTS}
    found = {path.name for path in RESULTS.glob("**/*.md")}
    assert found <= studies | tables | BY_HAND


@pytest.mark.parametrize(("name", "make"), FROM_STORE.items())
def test_a_comparison_is_what_the_store_gives(name: str, make: Callable[[], str]) -> None:
    assert (RESULTS / name).read_text(encoding="utf-8") == make()


def test_every_figure_of_the_readme_stands_in_the_file_it_names() -> None:
    """A paragraph with figures names its source: <!-- source: results/qa-1k.md -->. Tables are tested elsewhere."""
    text = re.sub(r"```.*?```|<!-- table:(\S+) -->.*?<!-- /table:\1 -->", "", README, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n", text):
        figures = [found.group() for found in _FIGURE.finditer(paragraph)]
        if not figures:
            continue
        sources = re.findall(r"<!-- source: (\S+) -->", paragraph)
        assert sources, f"no source for {figures[0]!r} in: {paragraph[:200]}"
        content = " ".join((ROOT / source).read_text(encoding="utf-8") for source in sources)
        for figure in figures:
            number = figure.split()[0].rstrip("%×")
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", content), f"{figure} is not in {sources}"
