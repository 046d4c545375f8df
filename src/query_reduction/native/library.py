"""The native library: where it is, whether it is there, and the C structures it is called with.

It is one shared library with a C interface (sources in ``kernels/``), loaded with ``ctypes``, which lets other Python
threads run during a call. Set ``QRN_NATIVE=0`` to do without it, or to the path of another build of it.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_void_p
from pathlib import Path

import torch
from torch import Tensor

import query_reduction

__all__ = [
    "EncoderCall",
    "ReaderCall",
    "ScanCall",
    "Stacked",
    "available",
    "choose_variant",
    "encode",
    "library",
    "read_backward",
    "read_forward",
    "supports",
    "variant",
]

_FILE_NAMES = ("_native.so", "_native.dylib")


class Stacked(Structure):
    """A tensor whose first dimension is the restart; the stride counts numbers, not bytes."""

    _fields_ = (("start", c_void_p), ("stride", c_int64))

    @staticmethod
    def of(tensor: Tensor) -> Stacked:
        """Describe a tensor that is contiguous inside each restart."""
        return Stacked(tensor.data_ptr(), tensor.stride(0))


def _fields(names: str, kind: type) -> list[tuple[str, type]]:
    return [(name, kind) for name in names.split()]


class ReaderCall(Structure):
    """``ReaderCall`` of ``kernels/reader.h``."""

    _fields_ = (
        *_fields("restarts sentences batch time dim layers tied reset vector threads", c_int64),
        ("forget_bias", c_double),
        *_fields("stories lengths", c_void_p),
        *_fields(
            "table query candidate_query candidate_sentence candidate_bias update_weight update_bias reset_weight "
            "reset_bias out",
            Stacked,
        ),
    )


class EncoderCall(Structure):
    """``EncoderCall`` of ``kernels/reader.h``; rows, adding and lists are filled in by the library."""

    _fields_ = (
        *_fields("restarts rows dim threads adding", c_int64),
        *_fields("source target", Stacked),
        *_fields("first index place", c_void_p),
    )


class ScanCall(Structure):
    """``ScanCall`` of ``kernels/reader.h``."""

    _fields_ = (
        *_fields("batch time dim vector reverse threads", c_int64),
        *_fields("lengths z v initial h dh out dz dv dinitial", c_void_p),
    )


_SIGNATURES: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "qrn_variant": (c_char_p, ()),
    "qrn_choose_variant": (c_int, (c_char_p,)),
    "qrn_release": (None, (c_void_p,)),
    "qrn_read_forward": (c_int, (POINTER(ReaderCall), c_int, c_int, POINTER(c_void_p))),
    "qrn_read_backward": (c_int, (POINTER(ReaderCall), POINTER(ReaderCall), c_int, c_void_p)),
    "qrn_encode": (c_int, (POINTER(EncoderCall), c_int, c_int, c_void_p, c_int64, c_int64, c_int64, c_int64)),
    "qrn_scan_forward": (None, (POINTER(ScanCall), c_int)),
    "qrn_scan_backward": (c_int, (POINTER(ScanCall), c_int)),
}

_MESSAGES = {
    1: (ValueError, "a story's length is greater than the number of its sentences in the batch"),
    2: (IndexError, "a story names a sentence that is not in the table"),
    3: (IndexError, "a sentence names a word that is not in the vocabulary"),
    4: (MemoryError, "not enough memory for the native code: use smaller batches or fewer restarts at once"),
}


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
            for name, (result, arguments) in _SIGNATURES.items():
                function = getattr(loaded, name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            problem = str(error)
            continue
        return loaded
    logging.getLogger(__name__).warning(
        "query-reduction works without its native code, many times slower (%s): "
        "install a C++ compiler, then `pip install --force-reinstall --no-deps query-reduction`",
        problem,
    )
    return None


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
    return tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64)


def variant() -> str:
    """The instruction set in use: avx512, avx2 or baseline."""
    name = library().qrn_variant()
    assert isinstance(name, bytes)
    return name.decode()


def choose_variant(name: str) -> bool:
    """Use this instruction set from now on; False, and no change, where the processor or the build lacks it."""
    return bool(library().qrn_choose_variant(name.encode()))


def _check(status: int) -> None:
    """Raise what a call's status stands for; 0 is success."""
    if status != 0:
        kind, message = _MESSAGES[status]
        raise kind(message)


class SavedBlock:
    """Memory that a forward call left for its backward call; given back when nobody holds it."""

    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self) -> None:
        library().qrn_release(self.address)


def read_forward(call: ReaderCall, dtype: torch.dtype, *, saving: bool) -> SavedBlock | None:
    """Run the reader; with ``saving``, return what ``read_backward`` needs."""
    address = c_void_p()
    status = library().qrn_read_forward(byref(call), dtype == torch.float64, saving, byref(address))
    saved = SavedBlock(address.value) if address.value else None
    _check(status)
    return saved


def read_backward(call: ReaderCall, gradients: ReaderCall, dtype: torch.dtype, saved: SavedBlock) -> None:
    """Fill the gradients' tensors; ``gradients.out`` is the gradient that comes in."""
    _check(library().qrn_read_backward(byref(call), byref(gradients), dtype == torch.float64, saved.address))


def encode(
    call: EncoderCall, words: Tensor, vocabulary: int, longest: int, dtype: torch.dtype, *, backward: bool
) -> None:
    """Fill the target: the table from the embedding, or backward the embedding's gradient from the table's."""
    double = dtype == torch.float64
    _check(
        library().qrn_encode(
            byref(call), double, backward, words.data_ptr(), words.shape[0], words.shape[1], vocabulary, longest
        )
    )


def scan_forward(call: ScanCall, dtype: torch.dtype) -> None:
    """Fill ``call.out`` with the states."""
    library().qrn_scan_forward(byref(call), dtype == torch.float64)


def scan_backward(call: ScanCall, dtype: torch.dtype) -> None:
    """Fill ``call.dz``, ``dv`` and ``dinitial``."""
    _check(library().qrn_scan_backward(byref(call), dtype == torch.float64))
