"""The speed of the CPU's BLAS, on cores that do nothing else: medians of several rounds, and their spreads."""

import ctypes
import os
import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from tools.repository import Json
from tools.stats import upper_median

ROUNDS = 11
STEADY = 0.05  # the spread up to which a size's rounds count as one speed
IDLE = 0.9  # the share of their cores' time that threads have where nothing else runs: while they wait, they spin
TRIES = 4  # how often a size is measured, the first time included, if its rounds are not so
SECONDS = 0.1  # of a round of one size; longer, if that is not enough for LEAST products
LEAST = 3

Round = tuple[float, float]  # seconds of a product, and the share of their cores' time that the threads had


def spread(values: Sequence[float]) -> float:
    """From the first quartile to the third, of the median: a single round that others disturbed says nothing of it."""
    ordered, quarter = sorted(values), len(values) // 4
    return (ordered[-1 - quarter] - ordered[quarter]) / upper_median(values)


def siblings(core: int, folder: pathlib.Path = pathlib.Path("/sys/devices/system/cpu")) -> str:
    """The logical processors of the same core, as Linux lists them; if it does not, the processor alone."""
    try:
        return (folder / f"cpu{core}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(core)


def quota(folder: pathlib.Path = pathlib.Path("/sys/fs/cgroup")) -> float | None:
    """How many processors a container may use at a time, if it has a limit. More threads would be stopped in turns."""
    try:
        most, period = (folder / "cpu.max").read_text().split()
        return None if most == "max" else int(most) / int(period)
    except (OSError, ValueError):
        return None


def usable_cores() -> list[int]:
    """A logical processor of each core that this process may use, as far as the quota goes."""
    cores = list({siblings(core): core for core in sorted(os.sched_getaffinity(0), reverse=True)}.values())[::-1]
    limit = quota()
    return cores if limit is None else cores[: max(1, int(limit))]


def find_openblas(threads: int) -> tuple[str, Callable[..., Any] | None, pathlib.Path | None]:
    """(what it is, sgemm(a, b, out) on numpy arrays, its file), or (why there is none, None, None)."""
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # it looks when it is loaded, which numpy does
    try:
        import numpy
    except ImportError:
        return "no numpy: apt-get install python3-numpy libopenblas0, or pip install numpy", None, None
    found = None
    try:
        # A loaded library tells more than numpy's build: Debian's numpy takes whatever libblas.so.3 is.
        numpy.ones((64, 64), numpy.float32) @ numpy.ones((64, 64), numpy.float32)
        maps = pathlib.Path("/proc/self/maps").read_text()
        found = next((line.split()[-1] for line in maps.splitlines() if "openblas" in line), None)
    except OSError:
        pass
    if not found:
        return "numpy's BLAS is not OpenBLAS: apt-get install libopenblas0, or pip install numpy in a venv", None, None
    file = pathlib.Path(found)
    name = file.name if "openblas" in file.name else f"{file.parent.name}/{file.name}"
    return name, lambda a, b, out: numpy.matmul(a, b, out=out), file


def ask(file: pathlib.Path, function: str, result: Any, *arguments: int) -> Any:
    """What one of OpenBLAS's own functions answers. numpy's wheels give them other names; None if there is none."""
    library = ctypes.CDLL(str(file))
    for name in (function, f"{function}64_", f"scipy_{function}64_", f"scipy_{function}"):
        if hasattr(library, name):
            called = getattr(library, name)
            called.restype = result
            return called(*arguments)
    return None


def pin(cores: list[int]) -> bool:
    """Each thread of this process to a core of its own. False if there are more threads than cores."""
    threads = sorted(int(task.name) for task in pathlib.Path("/proc/self/task").iterdir())
    if len(threads) > len(cores):
        return False
    for thread, core in zip(threads, cores):
        os.sched_setaffinity(thread, {core})
    return True


def unpin(cores: set[int]) -> None:
    for task in pathlib.Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


def rounds_of(sizes: list[int], time_of: Callable[[int], Round]) -> dict[int, list[Round]]:
    """Round after round, so that what disturbs for a second does not hit all rounds of one size."""
    found: dict[int, list[Round]] = {n: [] for n in sizes}
    for _ in range(ROUNDS):
        for n in sizes:
            found[n].append(time_of(n))
    return found


def trouble(rounds: list[Round]) -> tuple[bool, float]:
    """Whether others used the cores, and the spread of the times. Others may slow all rounds alike, for as long as they
    run: the spread alone does not show them."""
    times, shares = zip(*rounds)
    return upper_median(shares) < IDLE, spread(times)


def measure(sizes: list[int], time_of: Callable[[int], Round]) -> Json:
    """By size: GFLOP/s of the median round, the spread, and the median share of the cores' time. What is not steady, or
    was not alone, is measured again, and of these trials the best counts."""
    found = rounds_of(sizes, time_of)
    again: list[int] = []

    def in_doubt() -> list[int]:
        return [n for n in sizes if trouble(found[n]) > (False, STEADY)]

    for _ in range(TRIES - 1):
        again += [n for n in in_doubt() if n not in again]
        for n, rounds in rounds_of(in_doubt(), time_of).items():
            found[n] = min(found[n], rounds, key=trouble)
    times = {n: [seconds for seconds, _ in rounds] for n, rounds in found.items()}
    return {
        "rounds": ROUNDS,
        "gflops": {str(n): 2e-9 * n**3 / upper_median(times[n]) for n in sizes},
        "spread": {str(n): spread(times[n]) for n in sizes},
        "share": {str(n): upper_median([share for _, share in found[n]]) for n in sizes},
        "again": again,
        "in_doubt": in_doubt(),
    }


def halves(count: int) -> list[int]:
    """count, its half, and so on down to 1."""
    return [count >> shift for shift in range(count.bit_length())]


def measure_blas(sizes: list[int]) -> Json:
    cores = usable_cores()
    name, multiply, file = find_openblas(len(cores))
    if not multiply or not file:
        print(f"note: SKIPPED, the CPU's BLAS: {name}", file=sys.stderr)
        return {"missing": name}
    import numpy

    generator = numpy.random.default_rng(1)
    matrices = {
        n: [generator.uniform(-1, 1, (n, n)).astype(numpy.float32) for _ in range(2)] + [numpy.empty((n, n), "f")]
        for n in sizes
    }

    def time_of(n: int) -> Round:
        multiply(*matrices[n])
        times, cpu, begin = [], time.process_time(), time.perf_counter()
        while len(times) < LEAST or time.perf_counter() < begin + SECONDS:
            start = time.perf_counter()
            multiply(*matrices[n])
            times.append(time.perf_counter() - start)
        share = (time.process_time() - cpu) / (time.perf_counter() - begin) / threads
        return upper_median(times), share

    threads = ask(file, "openblas_get_num_threads", ctypes.c_int) or len(cores)
    allowed = os.sched_getaffinity(0)

    def use(count: int, stay: bool) -> bool:
        """So many threads, that stay on their cores or don't; False if that can't be had."""
        nonlocal threads
        ask(file, "openblas_set_num_threads", None, count)
        threads = ask(file, "openblas_get_num_threads", ctypes.c_int) or threads
        unpin(allowed)
        return threads == count and (not stay or pin(cores))

    # A product on all cores waits for the slowest of them, and a core may share its units with a neighbour's program.
    # So a quarter of them at most, and of these counts the steadiest.
    probes = [sizes[0], sizes[len(sizes) // 2], sizes[-1]]
    tried: dict[tuple[int, bool], tuple[bool, float]] = {}
    for count in halves(max(1, threads // 4)):
        for stay in (True, False):
            if use(count, stay):
                tried[count, stay] = max(trouble(rounds) for rounds in rounds_of(probes, time_of).values())
    chosen, pinned = min(tried, key=lambda choice: tried[choice])
    use(chosen, pinned)
    found = measure(sizes, time_of)
    unpin(allowed)
    config = ask(file, "openblas_get_config", ctypes.c_char_p)
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return {
        "library": name,
        "version": " ".join(config.decode().split()) if config else "unknown",
        "cpu": model,
        "cores": len(cores),
        "threads": threads,
        "pinned": pinned,
        **found,
    }
