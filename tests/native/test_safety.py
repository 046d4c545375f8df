"""Whatever the native code is given, it answers or raises; it can be interrupted, and survives a fork."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from ctypes import byref, c_void_p
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from query_reduction.errors import InputError
from query_reduction.native import library as native
from query_reduction.native import reader, threads
from query_reduction.native.interrupt import StopFlag, run
from query_reduction.native.library import EncoderCall, ReaderCall
from query_reduction.native.shape import Shape

pytestmark = pytest.mark.skipif(not native.available(), reason="the native library is not built")

SHAPE = Shape(2, 4, tied=False, reset_gate=True, vector_gates=False, forget_bias=0.0)


def weights(shape: Shape = SHAPE, restarts: int = 1) -> dict[str, Tensor]:
    return {name: torch.zeros(restarts, *size) for name, size in shape.parameters().items()}


def read(shape: Shape, parameters: dict[str, Tensor]) -> Tensor:
    table, query = torch.zeros(1, 3, shape.dimension), torch.zeros(1, 1, shape.dimension)
    return reader.read(shape, parameters, table, query, torch.tensor([[0, 1]]), torch.tensor([2]))


BAD_NUMBERS = [-(2**62), -1, 2**31, 2**62, 2**63 - 1]


@pytest.mark.parametrize("value", [*BAD_NUMBERS, 0])
@pytest.mark.parametrize("field", ["layers", "dim", "threads", "batch", "time", "restarts", "sentences"])
def test_numbers_out_of_range_are_refused(field: str, value: int) -> None:
    numbers = {"restarts": 1, "sentences": 1, "batch": 1, "time": 1, "dim": 4, "layers": 2, "threads": 1}
    if value == 0 and field not in ("layers", "dim", "threads"):
        return
    call, double = ReaderCall(**(numbers | {field: value})), c_void_p()
    with pytest.raises(ValueError, match=f"{field} must be .* got {value}"):
        native.read_forward(call, torch.float32, saving=True)
    assert native.library().qrn_read_backward(byref(call), byref(call), False, double) == native._REFUSED


@settings(max_examples=200, deadline=None)
@given(numbers=st.lists(st.sampled_from([*BAD_NUMBERS, 0, 1]), min_size=6, max_size=6).filter(lambda n: max(n) > 1))
def test_scans_out_of_range_are_refused(numbers: list[int]) -> None:
    batch, time, dim, _, _, threads = numbers
    if all(0 <= number <= 2**31 for number in (batch, time, dim, threads)):
        return
    for backward in (False, True):
        with pytest.raises(ValueError, match="must be"):
            native.scan(backward, (*numbers, *[0] * 11), False, ())


@pytest.mark.parametrize("field", ["restarts", "dim", "threads"])
@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_encoders_out_of_range_are_refused(field: str, value: int) -> None:
    call = EncoderCall(**({"restarts": 1, "dim": 4, "threads": 1} | {field: value}))
    with pytest.raises(ValueError, match=f"{field} must be"):
        words = torch.zeros(1, 1, dtype=torch.int64)
        native.encode(call, (words.data_ptr(), 1, 1), 3, 0, torch.float32, backward=False)


def test_sizes_that_overflow_are_refused() -> None:
    # Every field is in range; the product of all is not.
    lengths = torch.full((1,), 2_000_000)
    stories = torch.zeros(1, 2_000_000, dtype=torch.int64)
    call = ReaderCall(
        restarts=65_536, sentences=1, batch=1, time=2_000_000, dim=65_536, layers=1024, threads=1,
        stories=stories.data_ptr(), lengths=lengths.data_ptr(),
    )  # fmt: skip
    for saving in (False, True):
        with pytest.raises(MemoryError, match="not enough memory"):
            native.read_forward(call, torch.float64, saving=saving)


@pytest.mark.parametrize("count", [-1, 0, 257, 10**12, 1.5, "2", None])
def test_threads_out_of_range_are_refused(count: object) -> None:
    before = threads._chosen
    with pytest.raises(InputError, match="threads must be a whole number from 1 to 256"):
        threads.use_threads(count)  # type: ignore[arg-type]
    assert threads._chosen == before


def test_wrong_weights_are_a_clear_error() -> None:
    read(SHAPE, weights())
    for name in SHAPE.parameters():
        good = weights()
        with pytest.raises(ValueError, match=f"{name} is missing"):
            read(SHAPE, {other: weight for other, weight in good.items() if other != name})
        for bad in (good[name][..., :-1], good[name].unsqueeze(0), torch.zeros(()), good[name].repeat(2, *[1] * 8)):
            with pytest.raises(ValueError, match="must be"):
                read(SHAPE, good | {name: bad})
        for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.complex64):
            with pytest.raises(ValueError, match="float32 or all float64"):
                read(SHAPE, good | {name: good[name].to(dtype)})
        with pytest.raises(ValueError, match="on the CPU"):
            read(SHAPE, good | {name: good[name].to("meta")})
    with pytest.raises(ValueError, match="must be"):
        read(replace(SHAPE, layers=2**62), weights())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.complex64])
def test_encoders_of_other_types_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(ValueError, match="float32 or float64"):
        reader.encode(torch.zeros(1, 3, 4, dtype=dtype), torch.ones(1, 1, dtype=torch.int64), 0)
    with pytest.raises(ValueError, match="whole numbers"):
        reader.encode(torch.zeros(1, 3, 4), torch.ones(1, 1, dtype=torch.bool), 0)
    with pytest.raises(ValueError, match="on the CPU"):
        reader.encode(torch.zeros(1, 3, 4, device="meta"), torch.ones(1, 1, dtype=torch.int64), 0)


def test_a_library_from_other_sources_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    library = shutil.copy(native.library()._name, tmp_path / "other.so")
    monkeypatch.setattr(native, "_INTERFACE", native._INTERFACE + 1)
    monkeypatch.setenv("QRN_NATIVE", str(library))
    native._load.cache_clear()
    try:
        assert not native.available()
        assert len(caplog.records) == 1 and "other.so was built from different sources" in caplog.text
    finally:
        monkeypatch.undo()
        native._load.cache_clear()


def test_any_other_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not native._agrees(ctypes.CDLL(None))


def test_inference_keeps_nothing() -> None:
    parameters = {name: weight.requires_grad_() for name, weight in weights().items()}
    with torch.no_grad():
        assert read(SHAPE, parameters).grad_fn is None
        embedding = torch.zeros(1, 3, 4, requires_grad=True)
        assert reader.encode(embedding, torch.ones(1, 1, dtype=torch.int64), 0).grad_fn is None
    assert "_Read" in str(read(SHAPE, parameters).grad_fn)


def test_forward_mode_is_refused_rather_than_wrong() -> None:
    parameters, name = weights(), "candidate_query"
    with warnings.catch_warnings(), torch.autograd.forward_ad.dual_level():
        warnings.simplefilter("ignore")  # PyTorch compiles rules of its own the first time
        parameters[name] = torch.autograd.forward_ad.make_dual(parameters[name], torch.ones_like(parameters[name]))
        with pytest.raises(RuntimeError, match="jvp"):
            read(SHAPE, parameters)


def test_a_job_is_interrupted() -> None:
    stop, seen = StopFlag(), []
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)

    def stopped() -> bool:
        return bool(ctypes.c_int32.from_address(stop.address).value)

    def job() -> None:
        # A signal that another thread gets does not wake the main thread, like one that comes in the instant before
        # that begins to wait.
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        for _ in range(60_000):
            if stopped():
                seen.append("stopped")
                return
            time.sleep(0.001)

    try:
        with pytest.raises(KeyboardInterrupt):
            run(job, stop)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == ["stopped"]


def test_a_job_raises_what_it_raises() -> None:
    def job() -> None:
        raise MemoryError("none")

    with pytest.raises(MemoryError, match="none"):
        run(job, StopFlag())
    done: list[int] = []
    other = threading.Thread(target=run, args=(lambda: done.append(1), StopFlag()))
    other.start()
    other.join()
    assert done == [1]


@pytest.mark.parametrize("long", ["scan", "read", "encode"])
def test_control_c_ends_a_long_call(long: str) -> None:
    script = f"""
import signal, sys, threading, torch
from query_reduction.native import reader
from query_reduction.native.shape import Shape
from query_reduction.recurrence.scan import scan
signal.signal(signal.SIGINT, signal.default_int_handler)
shape = Shape(1024, 32, True, True, True, 0.0)
weights = {{name: torch.zeros(1, *size) for name, size in shape.parameters().items()}}
table, stories = torch.zeros(1, 9, 32), torch.zeros(1, 300_000, dtype=torch.int64)
words = torch.ones(50_000, 200, dtype=torch.int64)
z, v = torch.rand(1, 1, 1).expand(500_000, 100, 1), torch.rand(1, 1, 1).expand(500_000, 100, 1)
calls = {{
    "read": lambda: reader.read(shape, weights, table, table[:, :1], stories, torch.tensor([300_000])),
    "encode": lambda: reader.encode(torch.zeros(40, 3, 100), words, 0),
    "scan": lambda: [scan(z, v, backend="fused") for _ in range(1000)],
}}
print("ready", flush=True)
try:
    calls[{long!r}]()
except KeyboardInterrupt:
    print("interrupted")
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    rest, _ = child.communicate(timeout=30)
    assert rest == "interrupted\n" and child.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forks_while_threads_compute() -> None:
    script = """
import os, signal, sys, threading, torch
from query_reduction.native.threads import use_threads
from query_reduction.recurrence.scan import scan
use_threads(3)
z, v = torch.rand(64, 300, 1), torch.randn(64, 300, 8)
want, go_on = scan(z, v, backend="fused"), True
def compute():
    while go_on:
        scan(z, v, backend="fused")
busy = [threading.Thread(target=compute) for _ in range(2)]
for thread in busy:
    thread.start()
failed = 0
for _ in range(50):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if torch.equal(scan(z, v, backend="fused"), want) else 1)
    failed += os.waitpid(child, 0)[1] != 0
go_on = False
for thread in busy:
    thread.join()
sys.exit(failed)
"""
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", script], check=True, timeout=240)


@pytest.mark.skipif(sys.platform != "linux", reason="limits by what Linux reports")
def test_without_threads_to_start_one_computes_alone() -> None:
    # No more threads or memory than there are.
    script = """
import resource, sys, torch
from query_reduction.native.threads import use_threads
from query_reduction.recurrence.scan import scan
z, v = torch.rand(64, 500, 1), torch.randn(64, 500, 8)
use_threads(1)
want = scan(z, v, backend="fused")
use_threads(4)
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + 2**21
resource.setrlimit(resource.RLIMIT_AS, (size, size))
sys.exit(not torch.equal(scan(z, v, backend="fused"), want))
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
