"""DataFrames, datasets and plain rows: read as files are, without a dependency on the libraries."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from query_reduction.errors import InputError
from query_reduction.text.formats.readers import read, read_rows, scan_file, scan_rows
from query_reduction.text.stories import Question, Story

ROWS: list[dict[str, Any]] = [
    {"story": "Mary left. John stayed.", "question": "Who left?", "answer": "Mary", "support": [0]},
    {"story": "Mary left. John stayed.", "question": "How many?", "answer": 2, "support": None},
    {"story": "It rained.", "question": "Did it?", "answer": True, "support": "0"},
]
STORIES = [
    Story(("Mary left.", "John stayed."), (Question("Who left?", "Mary", 2, (0,)), Question("How many?", "2", 2))),
    Story(("It rained.",), (Question("Did it?", "true", 1, (0,)),)),
]


class Frame:
    """What is used of a DataFrame."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.columns = np.array(list(rows[0]), object)
        self._rows = rows

    def itertuples(self, index: bool, name: str | None) -> Iterator[tuple[Any, ...]]:
        assert (index, name) == (False, None)
        return (tuple(row.values()) for row in self._rows)


class Dataset:
    """What is used of a dataset."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.column_names = list(rows[0])
        self._rows = rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)


def test_all_sources_give_the_same_stories(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text(
        "story,question,answer,support\n"
        "Mary left. John stayed.,Who left?,Mary,0\n"
        "Mary left. John stayed.,How many?,2,\n"
        "It rained.,Did it?,true,0\n"
    )
    for source in (ROWS, iter(ROWS), Frame(ROWS), Dataset(ROWS), STORIES, tuple(STORIES), table, str(table)):
        assert read(source) == STORIES


def test_numbers_and_gaps_as_numpy_has_them() -> None:
    row = {
        "story": np.str_("a b."),
        "question": "q",
        "answer": np.array(["x", "y"], object),
        "support": np.array([0]),
        "id": np.int64(7),
        "task": float("nan"),
    }
    assert read_rows([row])[0].questions == (Question("q", "x,y", 1, (0,), "7"),)
    assert read_rows([row | {"answer": np.float64(7.0)}])[0].questions[0].answer == "7"
    assert read_rows([row | {"answer": np.bool_(True)}])[0].questions[0].answer == "true"
    assert read_rows([row | {"answer": float("nan")}], unanswered=True)[0].questions[0].answer == ""


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (7, "expected a path, a DataFrame"),
        (b"abc", "expected a path"),
        ({"story": "a"}, "expected a path"),
        ([], "no rows"),
        ([ROWS[0], {"text": "a"}], "row:2: expected columns"),
        ([ROWS[0], "text"], "row:2: a story is an object"),
        ([ROWS[0] | {"answer": 10**5000}], "row:1: .*a text, a number or a list"),
        ([ROWS[0] | {"story": "\ud800"}], "row:1: .*half a character"),
        ([ROWS[0] | {"story": 1j}], "row:1: the story must be"),
        ([{7: "a"}], "row:1: expected columns .*found 7"),
        (Frame([ROWS[0] | {"question": None}]), "Frame:1: empty question"),
        (Dataset([ROWS[0] | {"question": " "}]), "Dataset:1: empty question"),
        ("no/such/file.csv", "file.csv: No such file"),
    ],
)
def test_what_is_wrong_names_the_row(source: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        read(source)
    assert "\n" not in str(caught.value)


def test_a_dataset_of_parts_has_to_be_chosen_from() -> None:
    parts = Dataset(ROWS)
    parts.column_names = {"train": ["story"]}  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"choose one, e\.g\. dataset\['train'\]"):
        read(parts)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    assert read(pandas.DataFrame(ROWS)) == STORIES
    gaps = pandas.DataFrame({"story": ["a b."] * 2, "question": ["q", "r"], "answer": [7, None], "id": [1, pandas.NA]})
    assert [q.answer for q in read(gaps, unanswered=True)[0].questions] == ["7", ""]
    with pytest.raises(InputError, match="DataFrame:2: question 'r' has no 'answer'"):
        read(gaps)


def test_hugging_face_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    pyarrow = pytest.importorskip("pyarrow")

    def dataset(rows: list[dict[str, Any]]) -> Any:
        # With a name of its own: to compute one, some versions store parts of pyarrow that cannot be stored.
        return datasets.Dataset(datasets.table.InMemoryTable(pyarrow.Table.from_pylist(rows)), fingerprint="rows")

    whole = dataset([row | {"answer": str(row["answer"]), "support": [0]} for row in ROWS])
    assert [story.sentences for story in read(whole)] == [story.sentences for story in STORIES]
    with pytest.raises(InputError, match="choose one"):
        read(datasets.DatasetDict({"train": whole}))
    squad = {"context": "a b.", "question": "q", "answers": {"text": ["x"], "answer_start": [0]}}
    assert read(dataset([squad]))[0].questions[0].answer == "x"


@pytest.mark.parametrize("name", ["many.csv", "many.tsv", "many.jsonl"])
def test_a_large_file_takes_no_more_memory_than_a_small_one(tmp_path: Path, name: str) -> None:
    def peak(rows: int) -> int:
        path = tmp_path / f"{rows}-{name}"
        with path.open("w") as file:
            if name.endswith("jsonl"):
                file.writelines(
                    f'{{"story": "Mary {n} left.", "question": "Who?", "answer": "x"}}\n' for n in range(rows)
                )
            else:
                tab = "\t" if name.endswith("tsv") else ","
                file.write(tab.join(["story", "question", "answer"]) + "\n")
                file.writelines(f"Mary {n} left.{tab}Who?{tab}x\n" for n in range(rows))
        problems: list[Any] = []
        tracemalloc.start()
        assert sum(1 for _ in scan_file(path, problems)) == rows
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert not problems
        return most

    peak(10)
    assert peak(20_000) < peak(1000) + 100_000


def test_rows_are_taken_as_they_come() -> None:
    taken = []

    def rows() -> Iterator[dict[str, Any]]:
        for number in range(1000):
            taken.append(number)
            yield {"story": f"{number} came.", "question": "q", "answer": "x"}

    assert next(iter(scan_rows(rows(), []))).sentences == ("0 came.",)
    assert len(taken) == 2
