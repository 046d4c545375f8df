"""No published figure without a source, and none older than the code it comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT
from query_reduction_lab.experiments.catalogue import EXPERIMENTS
from query_reduction_lab.studies import splits, transfer

from query_reduction.origin import code_checksums

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
def test_a_study_comes_from_a_clean_commit_and_is_as_new_as_its_code(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    if "origin" in content:  # of the benchmark
        content = content["origin"]
        content["code"] = {source["pattern"]: source["sha256"] for source in content["code"]}
    assert content["code"]
    assert content["command"]
    assert re.fullmatch("[0-9a-f]{40}", content["commit"])
    stale = [
        pattern
        for pattern, checksum in content["code"].items()
        if code_checksums(ROOT, (pattern,)) != {pattern: checksum}
    ]
    assert not stale, f"{path.name} is older than {', '.join(stale)}; measure it again with  {content['command']}"


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


def test_comments_and_layout_do_not_make_a_figure_stale(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text('"""One."""\nx = 1\n')
    before = code_checksums(tmp_path, ["*.py"])
    file.write_text('"""Two."""\n\n# why\nx  =  1\n')
    assert code_checksums(tmp_path, ["*.py"]) == before
    file.write_text('"""Two."""\nx = 2\n')
    assert code_checksums(tmp_path, ["*.py"]) != before
