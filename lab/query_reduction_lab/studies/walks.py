"""How far does one walk through the code to answer a question, and to train? Files, functions, changes of file.

    python -m query_reduction_lab.studies.walks --before ../0.2.0/src

walks through `qrn ask` and `qrn train` in this version and in another one's checkout, and writes results/walks.json and
.md. Each command is called twice in a process, and the second call counts: imports and caches are done with. A function
counts once, however often it is called; a change of file is a call, or a step of a generator, in another file than the
one before. Comprehensions are not functions a reader goes to, and newer Pythons do not call them: they do not count.
Training is two epochs on sixty small stories.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

FIGURES = {"files": "files", "functions": "functions", "calls": "calls", "changes": "changes of file"}
_HERE = "this version"
_STORY = "{0} got the milk.\nJohn went to the office.\n{0} went to the garden.\n"
_PEOPLE, _PLACES = ("Mary", "John", "Sandra"), ("garden", "office", "kitchen", "hallway")
_STORIES = "".join(
    f"1 {_PEOPLE[number % 3]} went to the {_PLACES[number % 4]}.\n"
    f"2 {_PEOPLE[(number + 1) % 3]} went to the {_PLACES[(number // 3) % 4]}.\n"
    f"3 Where is {_PEOPLE[number % 3]}?\t{_PLACES[number % 4]}\t1\n"
    for number in range(60)
)
_TRAINING = ("--network", "2r", "--max-epochs", "2", "--restarts", "2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the folder src of another version")
    parser.add_argument("--out", type=Path, help="folder for the two files")
    parser.add_argument("--walk", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.walk:
        # An editable installation of this version would be found before the other one.
        sys.meta_path[:] = [finder for finder in sys.meta_path if "_editable" not in type(finder).__module__]
        sys.path.insert(0, str(chosen.walk))
        print(json.dumps(walks()))
        return

    from query_reduction.files import write_atomically
    from query_reduction_lab.studies.publish import RESULTS, publish

    walked = {_HERE: walks()}
    if chosen.before:
        walked = {"before": _walks_of(chosen.before), **walked}
    out = chosen.out or RESULTS
    content = {"what": "code passed by the second call of a command", "walks": walked}
    publish(out / "walks.json", content, "studies/walks.py")
    write_atomically(out / "walks.md", table(walked))
    print(table(walked), end="")


def _walks_of(source: Path) -> dict[str, Any]:
    """The same in another version, which needs none of the laboratory."""
    command = [sys.executable, str(Path(__file__)), "--walk", str(source.resolve())]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def walks() -> dict[str, Any]:
    """Version → and, by command, the code passed."""
    import query_reduction
    from query_reduction.cli import main as qrn

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands: dict[str, list[str]] = {}
        for kind, who in (("a familiar story", "Mary"), ("an unknown name", "Bartholomew")):
            story = folder / f"{who}.txt"
            story.write_text(_STORY.format(who))
            commands[f"ask, {kind}"] = ["ask", "task2", "--story", str(story), "--question", "Where is the milk?"]
        data = folder / "stories.txt"
        data.write_text(_STORIES)
        commands["train"] = ["train", "--data", str(data), *_TRAINING]
        found: dict[str, Any] = {"version": query_reduction.__version__}
        for what, command in commands.items():
            for number in range(2):
                own = [*command, "--out", str(folder / f"run{number}")] if what == "train" else command
                tracer = Tracer(Path(query_reduction.__file__).parent)
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), tracer:
                    code = qrn(own)
                assert code == 0, f"{what}: exit code {code}"
            found[what] = tracer.figures()
    return found


class Tracer:
    """Listens to calls of functions of a package while it is entered."""

    def __init__(self, package: Path) -> None:
        self._package = f"{package.resolve()}{os.sep}"
        self._functions: set[CodeType] = set()
        self._calls = self._changes = 0
        self._last = ""

    def __enter__(self) -> Tracer:
        sys.setprofile(self._hear)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _hear(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self._package) or code.co_name.startswith("<"):
            return
        self._functions.add(code)
        self._calls += 1
        self._changes += code.co_filename != self._last
        self._last = code.co_filename

    def figures(self) -> dict[str, int]:
        """What was passed."""
        files = {code.co_filename for code in self._functions}
        counts = len(files), len(self._functions), self._calls, self._changes
        return dict(zip(FIGURES, counts, strict=True))


def table(walked: Mapping[str, Mapping[str, Any]]) -> str:
    """For people."""
    lines = [
        "# The code one walks through",
        "",
        "Files of the library that a command passes, functions called in them, calls of these, and changes of file, "
        "in the second call in a process; comprehensions do not count. Made by "
        "`python -m query_reduction_lab.studies.walks`.",
        "",
        f"| command | version | {' | '.join(FIGURES.values())} |",
        "|---|---|---:|---:|---:|---:|",
    ]
    before = walked.get("before")
    for command in (name for name in walked[_HERE] if name != "version"):
        for version in walked.values():
            shown = " | ".join(str(version[command][figure]) for figure in FIGURES)
            lines.append(
                f"| `qrn {command.partition(',')[0]}`{command.partition(',')[2]} | {version['version']} | {shown} |"
            )
        if before:
            fewer = " | ".join(f"{walked[_HERE][command][name] / before[command][name] - 1:+.0%}" for name in FIGURES)
            lines.append(f"| | change | {fewer} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
