"""Tall & skinny products, QR, and SGEMM on Tensor Cores, for arrays of PyTorch, CuPy, JAX, or any library with DLPack.

Arrays are row-major, in the memory of one CUDA device. Products are enqueued on a stream: `stream`, if given (a number,
an object with __cuda_stream__, or a stream of PyTorch or CuPy); else the one that PyTorch or CuPy uses now. Other
libraries, such as JAX, don't tell theirs. There the product waits for its arrays, and the call returns when the result
is ready.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from . import _native
from ._native import Error

__all__ = ["Error", "cholesky_qr2", "sgemm", "tsmm", "tsmttsm"]
__version__ = _native.version()

CUDA_DEVICES = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
LEGACY_STREAM = 1  # DLPack's number of the default stream
POLICIES = {"automatic": 0, "fp16": 1, "tf32": 2}


def tsmttsm(
    a: Any,
    b: Any,
    *,
    alpha: complex = 1,
    beta: complex = 0,
    conjugate: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """alpha a^T b + beta out, of k x m and k x n matrices of float64 or complex128; with `conjugate` it is a^H.

    a and b may be lists of up to four blocks of k rows, which count as one matrix: tsmttsm([x, r, p], [x, r, p]).
    """
    call = _Call(stream, a=a, b=b)
    result, into = call.result(out, call.columns("a"), call.columns("b"), beta)
    _native.tsmttsm(call.arrays["a"], call.arrays["b"], into, alpha, beta, conjugate, call.stream)
    return call.finish(result)


def tsmm(a: Any, c: Any, *, alpha: complex = 1, beta: complex = 0, out: Any = None, stream: Any = None) -> Any:
    """alpha a c + beta out, of k x m and m x n matrices of float64 or complex128. a may be a list of blocks."""
    call = _Call(stream, a=a, c=c)
    result, into = call.result(out, call.like.shape[0], call.columns("c"), beta)
    _native.tsmm(call.arrays["a"], call.one("c"), into, alpha, beta, call.stream)
    return call.finish(result)


def cholesky_qr2(x: Any, *, stream: Any = None) -> Any:
    """x = q r, of a k x n matrix of float64 or complex128, k >= n, n <= 64: x becomes q, and r, n x n, is returned.

    The device decides whether Cholesky QR 2 will do, or a shift or Householder reflections are needed.
    """
    call = _Call(stream, x=x)
    _require_writable("x", call.like)
    q = call.one("x")
    result, into = call.result(None, call.columns("x"), call.columns("x"), 0)
    _native.cholesky_qr2(q, into, call.stream)
    return call.finish(result)


def sgemm(
    a: Any,
    b: Any,
    *,
    alpha: float = 1,
    beta: float = 0,
    policy: str = "automatic",
    out: Any = None,
    stream: Any = None,
) -> Any:
    """alpha a b + beta out in float32, with FP32's precision, on Tensor Cores. policy: automatic, fp16 or tf32."""
    if policy not in POLICIES:
        raise ValueError(f"policy {policy!r} is none of {', '.join(POLICIES)}")
    call = _Call(stream, a=a, b=b)
    result, into = call.result(out, call.like.shape[0], call.columns("b"), beta)
    _native.sgemm(call.one("a"), call.one("b"), into, alpha, beta, POLICIES[policy], call.stream)
    return call.finish(result)


class _Call:
    """The arrays of one product, each name's as a list of blocks, ready on its stream."""

    def __init__(self, stream: Any, **arrays: Any) -> None:
        self.blocks = {name: list(x) if isinstance(x, (list, tuple)) else [x] for name, x in arrays.items()}
        for name, blocks in self.blocks.items():
            if not blocks:
                raise ValueError(f"{name} is a list without blocks")
            for i, array in enumerate(blocks):
                _require_cuda(name if len(blocks) == 1 else f"{name}[{i}]", array)
        self.like = next(iter(self.blocks.values()))[0]
        self.library = _library(self.like)
        self.waits = self.library not in ("torch", "cupy")
        self.stream = _pointer(stream, self.like, self.library) or LEGACY_STREAM
        # Who exports an array to a stream makes the stream wait for it.
        self.arrays = {
            name: [array.__dlpack__(stream=self.stream) for array in blocks] for name, blocks in self.blocks.items()
        }

    def columns(self, name: str) -> int:
        return sum(block.shape[1] for block in self.blocks[name])

    def one(self, name: str) -> Any:
        """The array of this name, where a list of several is none."""
        if len(self.arrays[name]) != 1:
            raise TypeError(f"{name} must be one array, and not a list")
        return self.arrays[name][0]

    def result(self, out: Any, rows: int, cols: int, beta: complex) -> tuple[Any, Any]:
        """What is returned, and the same for the product to write."""
        if out is not None:
            _require_cuda("out", out)
            _require_writable("out", out)
            return out, out.__dlpack__(stream=self.stream)
        if beta != 0:
            raise ValueError("beta is for what `out` holds, and there is no `out`")
        if self.library == "torch":
            made = self.like.new_empty((rows, cols))
        elif self.library == "cupy":
            with self.like.device:
                made = sys.modules["cupy"].empty((rows, cols), self.like.dtype)
        else:
            made = _native.empty(rows, cols, self.like.__dlpack__(stream=self.stream))
            return made, made
        return made, made.__dlpack__(stream=self.stream)

    def finish(self, result: Any) -> Any:
        if self.waits:
            _native.synchronize(self.like.__dlpack_device__()[1], self.stream)
        if self.library in ("jax", "jaxlib"):
            return importlib.import_module("jax.dlpack").from_dlpack(result)
        return result


def _require_cuda(name: str, array: Any) -> None:
    if not hasattr(array, "__dlpack_device__") or not hasattr(array, "shape"):
        raise TypeError(f"{name} is no array with DLPack, but {type(array).__name__}")
    if array.__dlpack_device__()[0] not in CUDA_DEVICES:
        raise TypeError(f"{name} is not in the memory of a CUDA device")
    if len(array.shape) != 2:
        raise ValueError(f"{name} has {len(array.shape)} dimensions, and must have 2")


def _require_writable(name: str, array: Any) -> None:
    if _library(array) in ("jax", "jaxlib"):
        raise TypeError(f"{name} is an array of JAX, which can't be written")


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _pointer(stream: Any, like: Any, library: str) -> int:
    """The address of a cudaStream_t; 0 for the default stream."""
    if stream is None:
        if library == "torch":
            return sys.modules["torch"].cuda.current_stream(like.device).cuda_stream
        if library == "cupy":
            with like.device:
                return sys.modules["cupy"].cuda.get_current_stream().ptr
        return 0
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    for attribute in ("cuda_stream", "ptr"):  # PyTorch's, CuPy's
        if hasattr(stream, attribute):
            return getattr(stream, attribute)
    raise TypeError(f"stream is no CUDA stream, but {type(stream).__name__}")
