"""Damaged files: each is named as what it is, in one line with what to do, and never ends in a traceback."""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from places import REAL_DATA

from query_reduction.cli import main

PLACES = ("garden", "kitchen", "office", "hallway")
PEOPLE = ("Mary", "John", "Sandra", "Daniel")
Rows = list[tuple[list[str], str, str]]


def rows(count: int = 60, seed: int = 0) -> Rows:
    rng = random.Random(seed)
    told = []
    for _ in range(count):
        moves = [(rng.choice(PEOPLE), rng.choice(PLACES)) for _ in range(4)]
        who, place = moves[-1]
        told.append(([f"{one} went to the {there}." for one, there in moves], f"Where is {who}?", place))
    return told


ROWS = rows()


def table(told: Rows = ROWS, mark: str = ",", header: str = "story,question,answer") -> str:
    lines = [mark.join((" ".join(sentences), question, answer)) for sentences, question, answer in told]
    return "\n".join([header.replace(",", mark), *lines, ""])


def json_lines(told: Rows = ROWS) -> str:
    return "".join(
        json.dumps({"sentences": sentences, "questions": [{"question": question, "answer": answer}]}) + "\n"
        for sentences, question, answer in told
    )


def numbered(told: Rows = ROWS) -> str:
    return "".join(
        "".join(f"{place} {text}\n" for place, text in enumerate(sentences, 1)) + f"5 {question}\t{answer}\t4\n"
        for sentences, question, answer in told
    )


def workbook() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/workbook.xml", "")
    return file.getvalue()


DAMAGED: list[tuple[str, str | bytes, str]] = [
    ("empty.csv", "", ": error: an empty file: docs/files.md shows"),
    ("empty.json", "", ": error: an empty file"),
    ("blank.txt", "\n\n", ": error: no questions in this file"),
    ("book.xlsx", workbook(), ": error: an Excel workbook, which is not read: save the sheet as CSV (UTF-8)"),
    ("renamed.csv", workbook(), "an Excel workbook"),
    ("cut.xlsx", workbook()[:30], "an Excel workbook that is damaged or cut short"),
    ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "an old Excel or Word file"),
    ("paper.pdf", b"%PDF-1.7\n\xff", "a PDF, which is not read"),
    ("table.parquet", b"PAR1" + bytes(20), "a Parquet file, which is not read: read it with pandas"),
    ("utf16.csv", table().encode("utf-16"), "not UTF-8 but UTF-16 text"),
    ("unmarked-utf16.csv", table().encode("utf-16-be"), ":1: error: binary data, not text: it is not text, or UTF-16"),
    ("latin1.csv", table().replace("Mary", "Zoë").encode("latin-1"), "error: not UTF-8 text: save the file as UTF-8"),
    ("nul.csv", table().replace("Mary", "Ma\0ry", 1), "error: binary data, not text"),
    ("noise.txt", random.Random(1).randbytes(999), "error: not UTF-8 text"),
    ("cut.jsonl.gz", gzip.compress(json_lines().encode())[:300], "a damaged gzip file, or one cut short"),
    ("plain.csv.gz", table(), "named .gz, but not a gzip file: take .gz off its name"),
    ("cut.jsonl", json_lines()[:3333], ": error: not JSON: Unterminated string starting at column"),
    ("cut.json", f"[{json_lines().splitlines()[0]},\n{{", ":2: error: not JSON"),
    ("commas.jsonl", json_lines().replace("\n", ",\n"), "(and on 59 more lines): write one object per line"),
    ("comma.json", f"[{','.join(json_lines().splitlines())},]", "no comma after the last"),
    ("comma.csv", table().replace(".\n", ".,\n").replace("n\n", "n,\n"), "a comma at the end of the line"),
    ("deep.json", "[" * 100_000, ":1: error: JSON nested too deeply"),
    ("scalars.json", "[1, 2]", "found 1 (and on 1 more line)"),
    ("mixed.jsonl", json_lines(ROWS[:30]) + table(ROWS[30:]), ":31: error: not JSON"),
    ("both.jsonl", json_lines() + '{"turns": [{"user": "hi", "system": "hello"}]}\n', ":61: error: stories and"),
    ("table.jsonl", table(), "it looks like a table with commas: give it a name that ends in .csv"),
    ("table.tsv", table(), "it looks like a table with commas: give it a name that ends in .csv"),
    ("lines.csv", json_lines(), "it looks like JSON lines: give it a name that ends in .jsonl"),
    ("numbered.csv", numbered(), "it looks like numbered lines: give it a name that ends in .txt"),
    ("columns.csv", table(header="story,question,ans"), "found 'story', 'question', 'ans': name the columns"),
    ("headless.csv", table().partition("\n")[2], "error: expected columns story"),
    ("bars.csv", table(mark="|"), "error: expected columns story"),
    ("fields.csv", table().replace("Mary went", "Mary, who went"), "put texts with commas or line ends"),
    ("answers.csv", table([(s, q, "" if q == "Where is Mary?" else a) for s, q, a in ROWS]), "has no 'answer'"),
    ("first.txt", "1 Where is Mary?\tgarden\n2 Mary left.\n" * 9, ":1: error: question before any sentence (and"),
    ("unnumbered.txt", numbered().replace("\n1 ", "\n"), "expected 'NUMBER text'"),
    ("numbers.txt", numbered().replace("\n1 ", "\n6 "), ":7: error: line number 2 after 6"),
    ("support.txt", numbered().replace("\t4\n", "\t9\n"), "supporting fact '9' is not an earlier sentence"),
    ("tabless.txt", numbered().replace("\t", " "), "error: no questions in this file"),
    ("sentence.jsonl", json_lines().replace("sentences", "sentence"), "'sentence' is unknown; did you mean"),
    ("question.jsonl", '{"sentences": ["A."], "question": "B?", "answer": "c"}\n', "give 'questions', a list"),
    ("half.jsonl", '{"sentences": ["A \\ud800."], "questions": []}\n', "half a character"),
    ("contrary.csv", table(ROWS + [(s, q, "attic") for s, q, _ in ROWS[:5]]), "different answers"),
    ("case.csv", table([(s, q, a.title() if n % 3 else a) for n, (s, q, a) in enumerate(ROWS)]), "only in case"),
    ("same.csv", table([(s, q, "yes") for s, q, _ in ROWS]), "error: all 60 questions have the same answer"),
    ("unique.csv", table([(s, q, f"no {n}") for n, (s, q, _) in enumerate(ROWS)]), "all 60 answers are different"),
    ("shown.csv", table([(s, q, q[9:-1]) for s, q, _ in ROWS]), "60 of 60 questions (100%) need no story"),
    ("swapped.csv", table([(s, a, q) for s, q, a in ROWS]), "exchange the columns question and answer"),
    ("ids.csv", "id," + table().replace("\n", "\n7,").removesuffix("7,"), "1 id that several questions have"),
    ("endless.csv", table([(["on and on"] * 999, "Where?", "here"), *ROWS]), "1 sentence of more than 300 words"),
    ("garbled.csv", table().replace("Mary", "Zoë").encode().decode("latin-1"), "with broken characters"),
    ("scripts.csv", table(ROWS + [([f"Мария пошла {n}."], "Где?", "сад") for n in range(9)]), "questions in 2 scripts"),
    ("triple.csv", table(ROWS * 3), "120 questions of 180 repeat an earlier one"),
]  # fmt: skip


def check(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["data", "check", str(path)])
    return code, capsys.readouterr().err


@pytest.mark.parametrize(("name", "content", "said"), DAMAGED, ids=[name for name, _, _ in DAMAGED])
def test_a_damaged_file(
    name: str, content: str | bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    code, shown = check(path, capsys)
    assert said in shown
    assert "Traceback" not in shown
    assert code == (1 if ": error: " in shown else 3)
    assert main(["data", "check", str(path), "--json"]) == code
    found = json.loads(capsys.readouterr().out)["findings"]
    assert all(one["severity"] in ("error", "warning", "note") and one["what"] for one in found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("good.csv", table()),
        ("semicolons.csv", table(mark=";")),
        ("tabs.csv", table(mark="\t")),
        ("windows.csv", table().replace("\n", "\r\n")),
        ("old-mac.csv", table().replace("\n", "\r")),
        ("marked.csv", "\ufeff" + table()),
        ("target.csv", table(header="story,query,target")),
        ("good.jsonl", json_lines()),
        ("array.jsonl", json.dumps([json.loads(line) for line in json_lines().splitlines()], indent=1)),
        ("good.txt", numbered().replace("\n", "\r\n")),
        ("good.jsonl.gz", gzip.compress(json_lines().encode())),
    ],
)
def test_what_can_be_read_is_not_complained_about(
    name: str, content: str | bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert check(path, capsys) == (0, "nothing wrong was found\n")


def test_a_folder_is_compared_part_with_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "1.2_train.csv").write_text(table())
    (tmp_path / "1.3_test.csv").write_text(table(rows(40, seed=1) + ROWS[:5] + [(["Bo left."], "Who left?", "Bo")]))
    (tmp_path / "README.txt").write_text("About these files.\n")
    (tmp_path / "more.xlsx").write_bytes(workbook())
    code, shown = check(tmp_path, capsys)
    assert code == 1
    assert "1.3_test.csv:42: warning: 5 of 46 test questions stand word for word in training" in shown
    assert "1.3_test.csv:47: warning: 1 question of 46 with 1 answer that training does not have" in shown
    assert "more.xlsx: error: an Excel workbook" in shown
    assert "README" not in shown
    (tmp_path / "1.3_test.csv").write_text(table())
    assert "error: 60 of 60 test questions stand word for word" in check(tmp_path, capsys)[1]


def test_counts_agree_in_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"sentences": ["Bo left."], "questions": [{"question": "Who left?", "answer": "Bo"}]}\n')
    assert main(["data", "check", str(path)]) == 0
    captured = capsys.readouterr()
    assert "1 story, 1 sentence (1 distinct, longest story 1), 1 question, 1 answer\n" in captured.out
    assert "note: only 1 question: a hundred" in captured.err


def test_questions_of_clutrr_that_need_no_story(capsys: pytest.CaptureFixture[str]) -> None:
    folder = REAL_DATA / "clutrr" / "train-2-3"
    if not folder.is_dir():
        pytest.skip(f"no published stories at {folder}")
    code, shown = check(folder, capsys)
    assert code == 3
    assert "1.2_test.csv.gz:2: warning: 37 of 38 questions (97%) need no story" in shown
    assert "1.3_test.csv.gz:2: warning: 98 of 105 questions (93%) need no story" in shown
    assert "1.4_test" not in shown


def test_training_says_what_would_spoil_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.csv"
    path.write_text(table([(s, q, a.title() if n % 2 else a) for n, (s, q, a) in enumerate(ROWS)]))
    quick = ["--restarts", "1", "--max-epochs", "1", "--network", "1r4", "--out", str(tmp_path / "run")]
    assert main(["train", "--data", str(path), *quick]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert line.startswith(f"{path}:") and "only in case, full stop or space" in line


def test_symmetries_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.csv").write_text(table(rows(200)))
    (tmp_path / "test.csv").write_text("not a table of stories\n")
    assert main(["data", "symmetries", str(tmp_path)]) == 0
    assert "garden" in capsys.readouterr().out
    (tmp_path / "train.csv").rename(tmp_path / "stories.csv")
    assert main(["data", "symmetries", str(tmp_path)]) == 1
    assert "no file here is named as a training part" in capsys.readouterr().err


def test_spreadsheets_in_a_folder_are_named_before_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.xlsx").write_bytes(workbook())
    assert main(["train", "--data", str(tmp_path)]) == 1
    assert "train.xlsx: .xlsx" in capsys.readouterr().err


def findings(path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    main(["data", "check", str(path), "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return found


def test_a_finding_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "same.csv"
    path.write_text(table([(s, q, "yes") for s, q, _ in ROWS]))
    (found,) = findings(path, capsys)
    assert found == {
        "kind": "one-answer",
        "severity": "error",
        "count": 60,
        "what": "all 60 questions have the same answer",
        "todo": "there is nothing to learn: add questions with other answers",
        "example": '"yes"',
        "file": str(path),
        "line": 2,
    }
