"""The native library: where it is, whether it is available, and the C structures it is called with.

It is one shared library with a C interface (sources in ``kernels/``), loaded with ``ctypes``, which lets other Python
threads run during a call. Set ``QRN_NATIVE=0`` to do without it, or to the path of another build of it.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_void_p, sizeof
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any

import query_reduction
from query_reduction.native.interrupt import StopFlag, run

if TYPE_CHECKING:  # models are used without PyTorch
    import numpy as np
    import torch
    from torch import Tensor

    Number = torch.dtype | np.dtype[Any]
    """The kind of numbers to compute with: float or double."""

__all__ = [
    "EncoderCall",
    "ReaderCall",
    "Stacked",
    "StepCall",
    "UpdateCall",
    "Words",
    "available",
    "choose_variant",
    "encode",
    "library",
    "read_backward",
    "read_forward",
    "scan",
    "supports",
    "take_step",
    "triad",
    "update",
    "variant",
]

Words = tuple[int, int, int]
"""The address of word numbers (int64), how many sentences there are, and how many words each has."""

_FILE_NAMES = ("_native.so", "_native.dylib")

_INTERFACE = 5
"""``kInterface`` of ``kernels/reader.h``."""

_LONG_CALL = 2e9
"""Multiplications in some fifty milliseconds: longer calls can be interrupted, which costs a tenth of a millisecond."""


class Stacked(Structure):
    """A tensor whose first dimension is the restart; the stride counts numbers, not bytes."""

    _fields_ = (("start", c_void_p), ("stride", c_int64))

    @staticmethod
    def of(tensor: Tensor) -> Stacked:
        """Describe a tensor that is contiguous inside each restart."""
        return Stacked(tensor.data_ptr(), tensor.stride(0))


def _fields(names: str, kind: type) -> list[tuple[str, type]]:
    return [(name, kind) for name in names.split()]


class _Call(Structure):
    """What a function of the library is called with."""

    owners: tuple[object, ...] = ()
    """The tensors or arrays that the addresses belong to, so that they live as long as the call."""


class ReaderCall(_Call):
    """``ReaderCall`` of ``kernels/reader.h``."""

    _fields_ = (
        *_fields("restarts sentences batch time dim layers tied reset vector threads", c_int64),
        *_fields("forget_bias stretch", c_double),
        *_fields("stories lengths stop", c_void_p),
        *_fields(
            "table query candidate_query candidate_sentence candidate_bias update_weight update_bias reset_weight "
            "reset_bias out",
            Stacked,
        ),
    )


class EncoderCall(_Call):
    """``EncoderCall`` of ``kernels/reader.h``; rows, adding and lists are filled in by the library."""

    _fields_ = (
        *_fields("restarts rows dim threads adding", c_int64),
        ("stop", c_void_p),
        *_fields("source target", Stacked),
        *_fields("first index place", c_void_p),
    )


class StepCall(_Call):
    """``StepCall`` of ``kernels/reader.h``; the last three fields are filled in by the library."""

    _fields_ = (
        *_fields("reader gradients", ReaderCall),
        *_fields("vocabulary answers row longest", c_int64),
        ("scale", c_double),
        *_fields("words questions correct", c_void_p),
        *_fields("embedding embedding_gradient answer answer_gradient losses", Stacked),
        ("pieces", c_int64),
        *_fields("by_sentence by_word", c_void_p),
    )


class UpdateCall(_Call):
    """``UpdateCall`` of ``kernels/reader.h``."""

    _fields_ = (
        *_fields("runs step threads", c_int64),
        *_fields("rate epsilon", c_double),
        ("beta", c_double * 2),
        *_fields("stop size decay values gradients first second", c_void_p),
    )


_SCAN_CALL = Struct("17q")
"""``ScanCall`` of ``kernels/reader.h`` as bytes: filling a ``Structure`` would take six times as long."""


_SIGNATURES: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "qrn_variant": (c_char_p, ()),
    "qrn_choose_variant": (c_int, (c_char_p,)),
    "qrn_layout": (c_int64, (c_int,)),
    "qrn_message": (c_char_p, ()),
    "qrn_release": (None, (c_void_p,)),
    "qrn_tensor": (c_void_p, (c_char_p, c_int, c_int)),
    "qrn_read_forward": (c_int, (POINTER(ReaderCall), c_int, c_int, POINTER(c_void_p))),
    "qrn_read_backward": (c_int, (POINTER(ReaderCall), POINTER(ReaderCall), c_int, c_void_p)),
    "qrn_encode": (c_int, (POINTER(EncoderCall), c_int, c_int, c_void_p, c_int64, c_int64, c_int64, c_int64)),
    "qrn_step": (c_int, (POINTER(StepCall), c_int)),
    "qrn_update": (c_int, (POINTER(UpdateCall), c_int)),
    "qrn_scan_forward": (c_int, (c_char_p, c_int)),
    "qrn_scan_backward": (c_int, (c_char_p, c_int)),
    "qrn_triad": (c_int, (c_void_p, c_void_p, c_void_p, c_int64, c_int64)),
}

_MESSAGES = {
    1: (ValueError, "a story's length is greater than the number of its sentences in the batch"),
    2: (IndexError, "a story names a sentence that is not in the table"),
    3: (IndexError, "a sentence names a word that is not in the vocabulary"),
    4: (MemoryError, "not enough memory for the native code: use smaller batches or fewer restarts at once"),
    6: (InterruptedError, "the native code was stopped before it was done"),
    7: (RuntimeError, "the native code failed"),
    8: (IndexError, "a question's answer is not one of the answers"),
}
_REFUSED = 5
"""The status of a call whose numbers are out of range; the library says which."""


@functools.cache
def _load() -> ctypes.CDLL | None:
    setting = os.environ.get("QRN_NATIVE", "")
    if setting == "0":
        return None
    places = [Path(folder) / name for folder in query_reduction.__path__ for name in _FILE_NAMES]
    if setting:
        places = [Path(setting)]
    problem = "it was not built"
    for place in places:
        if not place.exists():
            continue
        try:
            loaded = ctypes.CDLL(str(place))
        except OSError as error:
            problem = str(error)
            continue
        if _agrees(loaded):
            return loaded
        problem = f"{place.name} was built from different sources than this Python code"
    logging.getLogger(__name__).warning(
        "query-reduction works without its native code, many times slower (%s): "
        "install a C++ compiler, then `pip install --force-reinstall --no-deps query-reduction`",
        problem,
    )
    return None


def _agrees(loaded: ctypes.CDLL) -> bool:
    """Set the signatures; False if the library's functions or structures are not those of this file."""
    try:
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError:
        return False
    layout = (
        _INTERFACE,
        *(sizeof(kind) for kind in (Stacked, ReaderCall, EncoderCall)),
        _SCAN_CALL.size,
        *(sizeof(kind) for kind in (StepCall, UpdateCall)),
    )
    return layout == tuple(loaded.qrn_layout(which) for which in range(len(layout)))


def available() -> bool:
    """Whether the library is there and loads; the first time it is not, one line says so."""
    return _load() is not None


def library() -> ctypes.CDLL:
    """The library, with its signatures set."""
    loaded = _load()
    if loaded is None:
        raise RuntimeError("the native library is not available")
    return loaded


def supports(tensor: Tensor) -> bool:
    """Whether the library can work on tensors like this one: float or double, on the CPU."""
    return tensor.is_cpu and tensor.is_floating_point() and tensor.element_size() >= 4


def variant() -> str:
    """The instruction set in use: avx512, avx2 or baseline."""
    name = library().qrn_variant()
    assert isinstance(name, bytes)
    return name.decode()


def choose_variant(name: str) -> bool:
    """Use this instruction set from now on; False, and no change, if the processor or the build lacks it."""
    return bool(library().qrn_choose_variant(name.encode()))


def _check(status: int) -> None:
    """Raise the error for a call's status; 0 is success."""
    if status == _REFUSED:
        raise ValueError(library().qrn_message().decode())
    if status != 0:
        kind, message = _MESSAGES[status]
        raise kind(message)


def _run(call: _Call, multiplications: float, function: Callable[[], int]) -> None:
    """Make the call; if it is long, Ctrl-C ends it."""
    if multiplications < _LONG_CALL:
        _check(function())
    else:
        stop = StopFlag()
        call.stop = stop.address
        run(lambda: _check(function()), stop)


class SavedBlock:
    """Memory that a forward call left for its backward call; returned when no longer referenced."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self) -> None:
        library().qrn_release(self.address)


def _reading(call: ReaderCall) -> float:
    rows, matrices = call.restarts * call.batch * call.time, 4 if call.vector else 1
    return float(rows * call.dim * call.layers * (call.dim * matrices + 20))


def read_forward(call: ReaderCall, dtype: Number, *, saving: bool) -> SavedBlock | None:
    """Run the reader; with ``saving``, return what ``read_backward`` needs."""
    address = c_void_p()
    function, double = library().qrn_read_forward, dtype.itemsize == 8
    try:
        _run(call, _reading(call), lambda: function(byref(call), double, saving, byref(address)))
    finally:
        saved = SavedBlock(address.value) if address.value else None
    return saved


def read_backward(call: ReaderCall, gradients: ReaderCall, dtype: Number, saved: SavedBlock) -> None:
    """Fill the gradients' tensors; ``gradients.out`` is the incoming gradient."""
    function, double = library().qrn_read_backward, dtype.itemsize == 8
    _run(call, 2 * _reading(call), lambda: function(byref(call), byref(gradients), double, saved.address))


def encode(call: EncoderCall, words: Words, vocabulary: int, longest: int, dtype: Number, *, backward: bool) -> None:
    """Fill the target: the table from the embedding, or backward the embedding's gradient from the table's."""
    function, double, (address, sentences, row) = library().qrn_encode, dtype.itemsize == 8, words
    _run(
        call,
        4.0 * call.restarts * sentences * row * call.dim,
        lambda: function(byref(call), double, backward, address, sentences, row, vocabulary, longest),
    )


def take_step(call: StepCall, dtype: Number) -> None:
    """Fill the gradients and the losses."""
    function, double = library().qrn_step, dtype.itemsize == 8
    _run(call.reader, 3 * _reading(call.reader), lambda: function(byref(call), double))


def update(call: UpdateCall, dtype: Number) -> None:
    """Take the optimiser's step."""
    _check(library().qrn_update(byref(call), dtype.itemsize == 8))


def scan(backward: bool, numbers: tuple[int, ...], double: bool, owners: tuple[object, ...]) -> None:
    """Fill the results of a scan or its gradient.

    ``numbers`` are the fields of ``ScanCall`` of ``kernels/reader.h``: arrays by their addresses, 0 for those that are
    not needed and for the stop flag. ``owners`` are what the addresses belong to.
    """
    functions = library()
    function = functions.qrn_scan_backward if backward else functions.qrn_scan_forward
    if 8 * numbers[0] * numbers[1] * numbers[2] < _LONG_CALL:
        status = function(_SCAN_CALL.pack(*numbers), double)
        if status != 0:
            _check(status)
        return
    stop = StopFlag()
    call = _SCAN_CALL.pack(*numbers[:6], stop.address, *numbers[7:])

    # An interrupted job may be left behind: it keeps what it works on.
    def job(_owners: tuple[object, ...] = owners) -> None:
        _check(function(call, double))

    run(job, stop)


def triad(addresses: tuple[int, int, int], count: int, threads: int) -> None:
    """c = a + 2 b on arrays of floats that begin at these addresses: how fast this machine's memory is."""
    _check(library().qrn_triad(*addresses, count, threads))
