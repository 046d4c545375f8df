"""Files: whole or not at all, no leftovers, one process at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from query_reduction.errors import InputError
from query_reduction.files import append, locked, remove, write_atomically

KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from query_reduction import files
real = os.fsync
def kill(descriptor):
    os.kill(os.getpid(), signal.SIGKILL)
os.fsync = kill
files.write_atomically(Path(sys.argv[1]), "new" * 1000)
"""


def killed_writer(path: Path) -> None:
    """A process that dies with its file half written."""
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "[a] file.txt"
    killed_writer(path)
    killed_writer(tmp_path / "other.txt")
    assert len(list(tmp_path.iterdir())) == 2
    write_atomically(path, "whole")
    assert sorted(entry.name.split(".")[1] for entry in tmp_path.iterdir() if entry != path) == ["other"]
    assert path.read_text() == "whole"


def test_an_interrupted_process_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


def test_the_file_of_a_living_writer_is_no_leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    real = os.fsync

    def meanwhile(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", real)
        write_atomically(path, "other")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", meanwhile)
    write_atomically(path, "first")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_the_folder_is_synced_after_the_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.path.realpath(f"/proc/self/fd/{descriptor}")))
    write_atomically(tmp_path / "file", "text")
    assert synced[-1] == str(tmp_path.resolve())
    assert len(synced) == 2


def test_half_a_character_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="half a character"):
        write_atomically(tmp_path / "file", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "run.2", "taken"),
        pytest.raises(InputError, match="taken"),
        locked(tmp_path / "run.2", "taken"),
    ):
        pass
    with locked(tmp_path / "run.2", "taken"):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"), locked(tmp_path / "file" / "below"):
        pass


def test_append_and_remove_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .* Is a directory"):
        append(tmp_path, "text")
    with pytest.raises(InputError, match="cannot delete"):
        remove(tmp_path)
    remove(tmp_path / "absent")
