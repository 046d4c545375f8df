"""The command as users type it: answers, messages and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from query_reduction import cli, worlds
from query_reduction.cli import VERBS, main
from query_reduction.explain import trace as explain_trace
from query_reduction.qrn.reader import QueryReduction
from query_reduction.reading import stories as story_task
from query_reduction.text.formats.jsonl import format_stories

QUICK = ["--restarts", "2", "--max-epochs", "4", "--evaluate-every", "2", "--network", "2r8"]


def qrn(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "query_reduction", *arguments]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "model"
    assert main(["train", "--task", "1", "--questions", "100", "--out", str(folder), *QUICK]) == 0
    return folder


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def one_line_error(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1, captured.err
    assert "Traceback" not in captured.err
    return lines[0]


def test_version_loads_nothing_heavy() -> None:
    code = (
        "import sys; from query_reduction.cli import main; main(['--version']); "
        "print('torch' in sys.modules, 'rich' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0].startswith("qrn 0.")
    assert out.splitlines()[1] == "False False"


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help_and_json(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main([*verb.split(), "--help"])
    assert exit_code.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_overview_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(verb in out for verb in VERBS)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["models"]])
def test_a_reader_that_has_gone_is_no_error(arguments: list[str]) -> None:
    """As in ``qrn --help | head -1``, at its worst: nobody reads at all."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "query_reduction", *arguments]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_laboratory(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "ask" in shown and "reproduce" not in shown and "bench" not in shown
    for verb in ("reproduce", "bench"):
        said = one_line_error(capsys, verb, "--help")
        assert said.endswith("it belongs to the laboratory, which is not installed: in a clone, pip install ./lab")


def test_typos(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'qrn train'" in one_line_error(capsys, "trian", code=2)
    assert "did you mean 'qrn data fetch'" in one_line_error(capsys, "data", "fecth", code=2)
    with pytest.raises(SystemExit) as exit_code:
        main(["train", "--restart", "3"])
    assert exit_code.value.code == 2


def test_train_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("train", "--task", "1", "--questions", "100", "--out", str(tmp_path / "run"), *QUICK)
    result = run_json(capsys, *arguments)
    assert {"test_error", "test_error_mean", "test_error_std", "seconds"} <= result.keys()
    assert result["test_errors"] == {"answer": {"1": result["test_error"]}}
    assert result["network"] == "2r8"
    assert result["settings"]["network"]["dimension"] == 8
    task = {
        "kind": "stories",
        "memory": 50,
        "vocabulary": "train",
        "writing": "any",
        "symmetries": False,
        "unreadable": "left-out",
    }
    assert task.items() <= result["settings"]["task"].items()
    assert result["settings"]["recipe"]["max_epochs"] == 4
    assert len(result["restarts"]) == 2
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    assert stored["test_error"] == result["test_error"]
    assert stored["data"]["sha256"]
    points = [json.loads(line) for line in (tmp_path / "run" / "curves.jsonl").read_text().splitlines()]
    assert {(p["restart"], p["epoch"]) for p in points} == {(r, e) for r in range(2) for e in (2, 4)}
    assert "finished run" in one_line_error(capsys, *arguments)


def test_task_has_no_effect_on_ones_own_file(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text("".join(format_stories(worlds.generate(1, 20))))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "train.jsonl").write_text(own.read_text())
    for data in (own, tmp_path / "folder"):
        said = one_line_error(capsys, "train", "--data", str(data), "--task", "1", *QUICK)
        assert said.startswith(f"qrn train: task has no effect on {data}")
    assert "task has no effect on" in one_line_error(capsys, "evaluate", str(model), "--data", str(own), "--task", "1")


def test_switches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--decode-questions", "--tied", "no", "--reset-gate", "yes", "--questions", "50", *QUICK)
    network = run_json(capsys, "train", "--task", "1", "--out", str(tmp_path), *options)["settings"]["network"]
    assert (network["decode_questions"], network["tied"], network["reset_gate"]) == (True, False, True)
    assert network["vector_gates"] is False  # not given: as the name says
    with pytest.raises(SystemExit) as exit_code:
        main(["train", "--tied", "maybe"])
    assert exit_code.value.code == 2
    assert "yes or no, not 'maybe'" in "".join(capsys.readouterr())


def test_a_setting_that_is_a_switch_in_one_network_and_a_choice_in_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for network, value, kept in (("ut", "after", "after"), ("entnet", "no", False)):
        options = ("--questions", "50", *QUICK, "--network", network, "--normalise", value)
        told = run_json(capsys, "train", "--task", "1", "--out", str(tmp_path / network), *options)
        assert told["settings"]["network"]["normalise"] == kept
    said = one_line_error(capsys, "train", "--task", "1", *QUICK, "--network", "ut", "--normalise", "yes")
    assert "normalise must be one of after, before" in said


def test_new_folder_each_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("train", "--task", "1", "--questions", "50", *QUICK)
    folders = [run_json(capsys, *arguments)["folder"] for _ in range(2)]
    assert folders == ["runs/qa1-2r8", "runs/qa1-2r8.2"]


def test_evaluate(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    result = run_json(capsys, "evaluate", str(model), "--task", "1")
    assert result["questions"] == 1000
    own = tmp_path / "own.jsonl"
    own.write_text(
        '{"sentences": ["Mary flew to Mars."], "questions": [{"question": "Where is Mary?", "answer": "Mars"}]}\n'
    )
    result = run_json(capsys, "evaluate", str(model), "--data", str(own))
    assert result["error"] == 100
    assert result["answers_never_seen"] == 1
    assert result["unknown_words"] == ["flew", "Mars"]


def test_ask(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text("Mary went to the garden.\nJohn flew to Mars.\n")
    value = run_json(capsys, "ask", str(model), "--story", str(story), "--question", "Where is Mary?")
    assert set(value["unknown_words"]) == {"flew", "Mars"}
    assert 0 < value["confidence"] <= 1
    assert len(value["runners_up"]) == 3
    assert len(value["trace"]["layers"]) == 2
    assert main(["ask", str(model), "--story", str(story), "--question", "Where is Mary?"]) == 0
    out = capsys.readouterr().out
    assert value["answer"] == value["text"] and value["answer"] in out
    assert "Mary went to the garden." in out
    assert "z¹" in out


@pytest.mark.parametrize(("options", "traces", "encodings"), [([], 1, 1), (["--json"], 1, 2), (["--no-gates"], 0, 1)])
def test_ask_reads_the_story_once(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], traces: int, encodings: int
) -> None:
    """One pass gives answer and gates; only the answers at earlier endings, which JSON has, need another."""
    story = tmp_path / "story.txt"
    story.write_text("Mary went to the garden.\n")
    calls: Counter[str] = Counter()

    def count(owner: object, name: str, label: str) -> None:
        wrapped = getattr(owner, name)

        def counted(*arguments: Any, **named: Any) -> Any:
            calls[label] += 1
            return wrapped(*arguments, **named)

        monkeypatch.setattr(owner, name, counted)

    count(QueryReduction, "trace", "trace")
    count(explain_trace, "encode_read", "encode")
    count(story_task, "encode_read", "encode")
    assert main(["ask", str(model), "--story", str(story), "--question", "Where is Mary?", *options]) == 0
    assert (calls["trace"], calls["encode"]) == (traces, encodings)


def test_ask_about_a_story_on_standard_input(model: Path) -> None:
    command = qrn("ask", str(model), "--question", "Where is Mary?", "--json")
    done = subprocess.run(command, input="Mary went to the garden.\n", capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["question"] == "Where is Mary?"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("train", "--data", "no/such/place"), "no data at 'no/such/place'"),
        (("train", "--task", "21"), "tasks go from 1 to 20"),
        (("train", "--task", "two"), "no task 'two'"),
        (("train", "--network", "2x"), "no network '2x'"),
        (("train", "--network", "2rc"), "'c' is for dialogs and has no effect on stories"),
        (("train", "--recipe", "papr"), "no recipe 'papr'"),
        (("train", "--batch", "0"), "batch must be a whole number from 1 to 100000, not 0"),
        (("train", "--learning-rate", "nan"), "learning_rate must be a number from 1e-09 to 1000, not nan"),
        (("train", "--marks", "speaker"), "marks has no effect on stories"),
        (("train", "--network", "gru", "--tied", "no"), "tied has no effect on network gru"),
        (("train", "--network", "memn2m"), "no network 'memn2m' (did you mean memn2n?)"),
        (("evaluate", "no/such/model"), "no such file"),
        (("ask", "no/such/model"), "no such file"),
        (("data", "check", "no/such/file"), "no file or folder"),
        (("data", "fetch", "babl"), "no dataset 'babl'"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: str) -> None:
    assert expected in one_line_error(capsys, *arguments)


def test_ask_bad_input(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert "no sentences" in one_line_error(capsys, "ask", str(model), "--story", str(empty), "--question", "Where?")
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    assert "UTF-8" in one_line_error(capsys, "ask", str(model), "--story", str(binary), "--question", "Where?")
    story = tmp_path / "story.txt"
    story.write_text("Mary left.\n")
    assert "empty" in one_line_error(capsys, "ask", str(model), "--story", str(story), "--question", "  ")


def test_story_of_100_000_sentences(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    story = tmp_path / "long.txt"
    story.write_text("Mary went to the garden.\n" * 100_000 + "word " * 10_000 + "\n")
    value = run_json(capsys, "ask", str(model), "--story", str(story), "--question", "Where is Mary?", "--no-gates")
    assert value["text"]


def test_data_check(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text("".join(format_stories(worlds.generate(1, 200))))
    assert run_json(capsys, "data", "check", str(good))["files"][0]["questions"] == 200
    (tmp_path / "bad.txt").write_text("1 Where?\tMars\n")
    assert main(["data", "check", str(tmp_path)]) == 1
    assert "bad.txt:1: error: question before any sentence: put the sentences" in capsys.readouterr().err


def test_data_generate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run_json(
        capsys,
        "data",
        "generate",
        "--out",
        str(tmp_path),
        "--tasks",
        "1,2",
        "--questions",
        "50",
        "--held-out-questions",
        "20",
    )
    result = run_json(capsys, "data", "check", str(tmp_path))
    assert [row["questions"] for row in result["files"]] == [20, 50, 20, 20, 50, 20]
    trained = run_json(capsys, "train", "--data", str(tmp_path), "--task", "1", "--out", str(tmp_path / "run"), *QUICK)
    assert trained["questions"] == {"train": 50, "dev": 20, "test": 20}


def test_killed_run_resumes_to_the_same_numbers(tmp_path: Path) -> None:
    """kill -9 in the middle, twice, then --resume: bit for bit the result of a run that was left alone."""
    options = [
        "--task",
        "1",
        "--questions",
        "400",
        "--restarts",
        "2",
        "--max-epochs",
        "60",
        "--patience",
        "0",
        "--network",
        "2r20",
    ]
    whole = subprocess.run(
        qrn("train", *options, "--out", str(tmp_path / "whole"), "--json"), capture_output=True, text=True, check=True
    )
    command = qrn("train", *options, "--out", str(tmp_path / "killed"), "--json", "--resume", "--save-every", "0")
    state = tmp_path / "killed" / "state.safetensors"
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = state.stat().st_mtime_ns if state.exists() else 0
        while process.poll() is None and not (state.exists() and state.stat().st_mtime_ns > seen):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (tmp_path / "killed" / "result.json").exists(), "the run ended before it could be killed"
    killed = subprocess.run(command, capture_output=True, text=True, check=True)
    one, other = (json.loads(run.stdout)["restarts"] for run in (whole, killed))
    assert all(restart.pop("seconds") > 0 for restart in (*one, *other))
    assert one == other
    weights = [(tmp_path / name / "curves.jsonl").read_text() for name in ("whole", "killed")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_done(tmp_path: Path, asked: signal.Signals, code: int) -> None:
    options = ["--task", "1", "--questions", "400", "--restarts", "2", "--max-epochs", "5000", "--patience", "0"]
    command = qrn("train", *options, "--out", str(tmp_path / "run"))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (tmp_path / "run" / "curves.jsonl").exists():
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(asked)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "--resume" in err
    assert "Traceback" not in err
    assert (tmp_path / "run" / "state.safetensors").exists()
    assert (tmp_path / "run" / "model.safetensors").exists()


_WHILE_READING = """
import os, signal, sys
from query_reduction.reading.stories import StoryParts

asked = int(sys.argv.pop(1))

def learn(*arguments):
    os.kill(os.getpid(), asked)
    while True:
        pass

StoryParts.learn = learn
from query_reduction.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_before_the_first_epoch_leaves_nothing(tmp_path: Path, asked: signal.Signals, code: int) -> None:
    """While words and names are learned, nothing can be kept, and no empty folder stays."""
    command = [sys.executable, "-c", _WHILE_READING, str(int(asked)), "train", "--out", str(tmp_path / "run"), *QUICK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, "qrn train: interrupted\n")
    assert not (tmp_path / "run").exists()


_LOST_IN_A_FINALISER = """
import os, signal, sys, time
from query_reduction import worlds

class Closing:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))

def write(*arguments, **options):
    Closing()
    while True:
        time.sleep(0.01)

worlds.write = write
from query_reduction.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_whose_exception_is_dropped_comes_again(tmp_path: Path, asked: signal.Signals, code: int) -> None:
    command = [sys.executable, "-c", _LOST_IN_A_FINALISER, str(int(asked)), "data", "generate", "--out", "stories"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert "Exception ignored" in done.stderr
    assert (done.returncode, done.stderr.splitlines()[-1]) == (code, "qrn data generate: interrupted")


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("query_reduction.worlds.write", ["data", "generate", "--out", "stories"]),
        ("query_reduction.cli.predict.load", ["predict", "task1", "stories.txt", "--out", "answers.jsonl"]),
    ],
)
def test_sigterm_ends_other_commands(tmp_path: Path, module: str, command: list[str]) -> None:
    """With the exit code that shells report for it, in one line."""
    place, _, name = module.rpartition(".")
    script = f"""
import os, signal, sys
import {place} as place
place.{name} = lambda *arguments, **options: os.kill(os.getpid(), signal.SIGTERM)
from query_reduction.cli import main
sys.exit(main(sys.argv[1:]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *command], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (
        143,
        f"qrn {' '.join(command[: 1 + (command[0] == 'data')])}: interrupted\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_full_disk_is_one_line(tmp_path: Path) -> None:
    """A limit on file size is the full disk any user can make."""
    limit = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
        "from query_reduction.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [
        sys.executable,
        "-c",
        limit,
        "train",
        "--task",
        "1",
        "--questions",
        "50",
        "--out",
        str(tmp_path / "run"),
        *QUICK,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
