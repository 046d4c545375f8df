"""Files of word vectors, in every form; and files that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from query_reduction.errors import InputError
from query_reduction.text import vectors
from query_reduction.text.vectors import WordVectors

WORDS = ["the", "Went", "walked", "milk", "journeyed", "x1"]
ROWS = np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)
ROWS[2] = ROWS[1] + 0.01


def text(path: Path, header: str = "") -> Path:
    lines = [f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in zip(WORDS, ROWS, strict=True)]
    path.write_text(header + "".join(lines))
    return path


@pytest.fixture(params=["glove.txt", "word2vec.txt", "fast.vec", "array.npy", "one.safetensors"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    if path.suffix in (".npy", ".safetensors"):
        path.with_suffix(".txt").write_text("\n".join(WORDS))
        if path.suffix == ".npy":
            np.save(path, ROWS)
        else:
            save_file({"embeddings": ROWS}, path)
        return path
    return text(path, "" if path.name == "glove.txt" else "6 4\n")


@pytest.mark.parametrize("block", [1, 4, 8192])
def test_every_form_is_read(file: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", block)
    found = WordVectors(file)
    assert found.dimension == 4
    rows = found.rows(["went", "absent", "MILK", "the milk"])
    scaled = (ROWS - ROWS.mean(0)) / ROWS.std(0)
    np.testing.assert_allclose(rows[0], scaled[1] / np.linalg.norm(scaled[1]), rtol=1e-4)
    assert not rows[1].any()
    both = (ROWS[0] + ROWS[3]) / 2 - ROWS.mean(0)
    np.testing.assert_allclose(rows[3], both / ROWS.std(0) / np.linalg.norm(both / ROWS.std(0)), rtol=1e-3)


@pytest.mark.parametrize("block", [1, 2, 8192])
def test_the_nearest_words(file: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", block)
    found = WordVectors(file).nearest(["went", "milk", "absent"], 1)
    assert found["walked"][0] == "went"
    assert "went" not in found and "milk" not in found and "x1" not in found
    everything = WordVectors(file).nearest(["went", "milk"], 100)
    assert set(everything) == {"the", "walked", "journeyed"}
    assert all(sorted(known) == ["milk", "went"] for known in everything.values())
    assert WordVectors(file).nearest(["absent"], 5) == WordVectors(file).nearest(["went"], 0) == {}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "no word vectors"),
        ("a.txt", b"the 1 2\nwent 1\n", "line 2 must have a word and 2 numbers"),
        ("a.txt", b"the 1 2\nwent 1 x\n", "line 2 must have a word and 2 numbers"),
        ("a.txt", b"the\n", "line 1 must have a word"),
        ("a.txt", b"the nan 2\n", "not numbers"),
        ("a.vec", b"x " + b"1 " * 150_000, "longer than"),
        ("a.npy", b"\x93NUMPY\x01", "not a file of word vectors"),
        ("a.npy", b"PK\x03\x04", "not a file of word vectors"),
        ("a.safetensors", b"\xff" * 16, "not a file of word vectors"),
        ("a.safetensors", b"", "not a file of word vectors"),
    ],
)
def test_crafted_files_are_refused_in_one_line(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said) as refused:
        WordVectors(tmp_path / name).rows(["the"])
    assert str(refused.value).count("\n") == 0


def test_matrices_need_their_words(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    with pytest.raises(InputError, match="no such file"):
        WordVectors(path).rows(["the"])
    np.save(path, ROWS)
    with pytest.raises(InputError, match=r"must be in a\.txt beside it"):
        WordVectors(path).rows(["the"])
    for count, said in ((5, "5 words for the 6 rows"), (7, "more words than the 6 rows")):
        path.with_suffix(".txt").write_text("w\n" * count)
        with pytest.raises(InputError, match=said):
            WordVectors(path).rows(["the"])
    for wrong in (np.zeros(3), np.zeros((2, 3, 4)), np.zeros((2, 0))):
        np.save(path, wrong)
        with pytest.raises(InputError, match="a matrix with a row per word"):
            WordVectors(path).rows(["the"])
    np.save(path, np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a file of word vectors"):
        WordVectors(path).rows(["the"])
