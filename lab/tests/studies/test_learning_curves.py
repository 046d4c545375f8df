"""What the study of learning curves writes about its cells."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

from places import ROOT
from query_reduction_lab.pictures import drawn_from
from query_reduction_lab.studies import learning_curves
from query_reduction_lab.studies.learning_curves import SIZES, WAYS, picture, plan, table

from query_reduction.worlds import generate

RESULTS = ROOT / "results"


def cells(few_with: float = 1.0, many_without: float = 2.0) -> list[dict[str, Any]]:
    """One data set in which everything is 50 % wrong but two cells."""
    errors = {(200, "with"): few_with, (1000, "without"): many_without}
    return [
        {
            "data": "a < b",
            "stories": size,
            "way": way,
            "questions": 2 * size,
            "chosen": errors.get((size, way), 50.0),
            "test_errors": [errors.get((size, way), 50.0), 60.0],
        }
        for size in SIZES
        for way in WAYS
    ]


def test_the_bar_compares_few_stories_with_many() -> None:
    assert "| a < b | 1.0 | 2.0 | yes |" in table(cells(), 2)
    assert "| a < b | 2.5 | 2.0 | no |" in table(cells(few_with=2.5), 2)
    assert "| a < b | 2 | with | 50.0 (55.0) | 50.0 (55.0) | 1.0 (30.5) |" in table(cells(), 2)


def test_the_picture_has_a_line_per_way() -> None:
    svg = picture(cells()).decode()
    texts = [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]
    assert {"a < b", "with symmetries", "without symmetries"} <= set(texts)
    lines = drawn_from(svg)["a < b"]
    assert [list(map(int, line)) for line in lines.values()] == [list(SIZES)] * 2
    assert lines["with symmetries"]["200"] == 1.0


def test_without_symmetries_there_are_as_many_steps() -> None:
    stories = generate(1, 100)
    retold, plain = (plan(stories, way, 1, 0).recipe for way in WAYS)
    assert retold.copies == 100 and plain.copies == 0
    assert plain.max_epochs == retold.copies * retold.max_epochs
    assert plain.patience == retold.copies * retold.patience


def test_what_is_published_is_what_the_cells_give() -> None:
    content = json.loads((RESULTS / "learning-curves.json").read_text(encoding="utf-8"))
    report, drawn = ((RESULTS / f"learning-curves.{ending}").read_text(encoding="utf-8") for ending in ("md", "svg"))
    assert report == table(content["cells"], content["restarts"])
    assert drawn_from(drawn) == drawn_from(picture(content["cells"]).decode())
    assert len({(cell["data"], cell["stories"], cell["way"]) for cell in content["cells"]}) == len(content["cells"])
    named = {f"task {task}" for task in learning_curves.PUBLISHED}
    assert {cell["data"] for cell in content["cells"]} > named
