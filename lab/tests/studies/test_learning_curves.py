"""What the study of learning curves writes about its cells."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

from places import ROOT
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
    drawn = ElementTree.fromstring(picture(cells()))
    lines = [element for element in drawn.iter() if element.tag.endswith("polyline")]
    assert [len(line.attrib["points"].split()) for line in lines] == [len(SIZES)] * 2
    texts = [element.text for element in drawn.iter() if element.tag.endswith("text")]
    assert {"a < b", "with symmetries", "without symmetries"} <= set(texts)
    # Two per cent, below everything else of this line, is drawn lowest.
    heights = [float(point.split(",")[1]) for point in lines[1].attrib["points"].split()]
    assert heights[-1] == max(heights) > heights[0]


def test_without_symmetries_there_are_as_many_steps() -> None:
    stories = generate(1, 100)
    retold, plain = (plan(stories, way, 1, 0).recipe for way in WAYS)
    assert retold.copies == 100 and plain.copies == 0
    assert plain.max_epochs == retold.copies * retold.max_epochs
    assert plain.patience == retold.copies * retold.patience


def test_what_is_published_is_what_the_cells_give() -> None:
    content = json.loads((RESULTS / "learning-curves.json").read_text(encoding="utf-8"))
    expected = table(content["cells"], content["restarts"]), picture(content["cells"])
    names = (f"learning-curves.{ending}" for ending in ("md", "svg"))
    assert tuple((RESULTS / name).read_text(encoding="utf-8") for name in names) == expected
    assert len({(cell["data"], cell["stories"], cell["way"]) for cell in content["cells"]}) == len(content["cells"])
    named = {f"task {task}" for task in learning_curves.PUBLISHED}
    assert {cell["data"] for cell in content["cells"]} > named
