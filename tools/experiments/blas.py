"""The speed of the CPU's BLAS."""

import os
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Any

from tools.repository import Json
from tools.stats import upper_median


def find_openblas() -> tuple[str, Callable[..., Any] | None]:
    """(what it is, sgemm(a, b) on numpy arrays), or (why there is none, None)."""
    try:
        import numpy
    except ImportError:
        return "no numpy: apt-get install python3-numpy libopenblas0, or pip install numpy", None
    blas = None
    try:
        # A loaded library tells more than numpy's build: Debian's numpy takes whatever libblas.so.3 is.
        numpy.ones((64, 64), numpy.float32) @ numpy.ones((64, 64), numpy.float32)
        maps = pathlib.Path("/proc/self/maps").read_text()
        blas = next((line.split()[-1] for line in maps.splitlines() if "openblas" in line), None)
    except OSError:
        pass
    if not blas:
        return "numpy's BLAS is not OpenBLAS: apt-get install libopenblas0, or pip install numpy in a venv", None
    blas = pathlib.Path(blas)
    return blas.name if "openblas" in blas.name else f"{blas.parent.name}/{blas.name}", lambda a, b, out: numpy.matmul(
        a, b, out=out
    )


def measure_blas(sizes: list[int]) -> Json:
    name, multiply = find_openblas()
    if not multiply:
        print(f"note: SKIPPED, the CPU's BLAS: {name}", file=sys.stderr)
        return {"missing": name}
    import numpy

    generator = numpy.random.default_rng(1)
    gflops = {}
    for n in sizes:
        a, b = (generator.uniform(-1, 1, (n, n)).astype(numpy.float32) for _ in range(2))
        out = numpy.empty_like(a)
        multiply(a, b, out)
        times, end = [], time.perf_counter() + 0.1
        while len(times) < 5 or time.perf_counter() < end:
            begin = time.perf_counter()
            multiply(a, b, out)
            times.append(time.perf_counter() - begin)
        gflops[str(n)] = 2e-9 * n**3 / upper_median(times)
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return {"library": name, "cpu": model, "cores": len(os.sched_getaffinity(0)), "gflops": gflops}
