"""What was measured of the tall & skinny stages, and what device memory gives with so many bytes in flight."""

import dataclasses
import pathlib

from tools.experiments.tsm_cases import TYPES
from tools.pages.data import Data, NotMeasured
from tools.pages.records import probes
from tools.repository import GPU, SINCE, TUNED, Json, newest, read_json, read_json_if_there

RESULTS = GPU  # tsm_d.json and so on
EXPERIMENTS = GPU / "experiments"
SHORT = GPU / "tsm_short.json"  # 09 and the tuned kernels where K is short
BETWEEN = GPU / "tsm_short_between.json"  # 09 and what 14 takes, at lengths between those
LIVES = GPU / "tsmm_lives.json"  # narrow TSMM by the turns of a block
FORMS = SINCE / "tsm_variants.json"  # 05 to 08 with their variants, in double
FORMS_Z = SINCE / "tsm_variants_z.json"  # 06 and 07 in double complex
SQUARES = GPU / "tsm_squares.json"  # 04b and 05 with their variants, in double
LENGTHS = SINCE / "tsm_lengths_d.json"  # 09 and 14 by turns, at E8's lengths
MANY = 1_000_000  # rows, from which on K is long


def results(stage: str, kind: str, folder: pathlib.Path | None = None) -> list[Json]:
    """Of a stage (its id) and a type (d or z): those with a time, each with the bandwidth that its run has read."""
    runs = (read_json_if_there((folder or RESULTS) / f"{product}_{kind}.json") for product in ("tsm", "tsmm"))
    return [
        {**r, "read_gbs": run["ceilings"]["read_gbs"]}
        for run in runs
        if run
        for r in run["results"]
        if r["stage"] == stage and "time_ms" in r
    ]


def result(data: Data, stage: str, kind: str, m: int, k: int | None = None) -> Json:
    """The one of M = N with this K, or else with a long one. NotMeasured if there is none."""
    if kind not in TYPES:
        raise KeyError(kind)
    for r in results(data.stage(stage), kind):
        p = r["problem"]
        if p["m"] == p["n"] == m and (p["k"] == k if k else p["k"] >= MANY):
            return r
    raise NotMeasured("")


def short_ratios() -> dict[tuple[str, int], list[float]]:
    """By type and M = N, for the megabytes of A and B that the run names: the time of the tuned kernel as a multiple of
    that of 09 with its model's options."""
    run = read_json_if_there(SHORT) or {"results": []}
    return {(r["type"], r["m"]): [t / own for t, own in zip(r["tuned"], r["own"], strict=True)] for r in run["results"]}


def short_range(kind: str, m: int) -> tuple[float, float]:
    """Megabytes of A and B between which tsm/14 takes 09; (0, 0): never."""
    first, end = read_json(TUNED)["short_mb"][kind][m - 1]
    return first, end


def forms(path: pathlib.Path = FORMS) -> dict[tuple[int, int], dict[str, float]]:
    """{(M = N, K): {stage as tsm/07 or tsm/07:unroll=2: microseconds}}"""
    found: dict[tuple[int, int], dict[str, float]] = {}
    for r in (read_json_if_there(path) or {"results": []})["results"]:
        stage, _, variant = r["stage"].partition(":")
        name = stage.split("_")[0] + (f":{variant}" if variant else "")
        found.setdefault((r["problem"]["m"], r["problem"]["k"]), {})[name] = 1e3 * r["time_ms"]["median"]
    return found


def form(data: Data, m: str, k: str, name: str, other: str, kind: str = "d") -> str:
    """How many times as fast the second of two stages or variants is, at a size of forms()."""
    times = forms({"d": FORMS, "z": FORMS_Z, "squares": SQUARES}[kind])[int(m), int(k)]
    return f"{times[name] / times[other]:.2f}"


def lengths() -> dict[tuple[int, int], dict[str, Json]]:
    """{(M = N, K): {stage as tsm/09: result}} of 09 and 14 at E8's lengths, timed by turns."""
    found: dict[tuple[int, int], dict[str, Json]] = {}
    for r in (read_json_if_there(LENGTHS) or {"results": []})["results"]:
        found.setdefault((r["problem"]["m"], r["problem"]["k"]), {})[r["stage"].split("_")[0]] = r
    return found


def registers(found: Json) -> int:
    """Of a thread of the kernel that multiplies: those beside it, which scale and add up, need fewer."""
    return max(launch["registers"] for launch in found["launches"])


@dataclasses.dataclass(frozen=True)
class Memory:
    """Device memory under load, by the probe `bandwidth`: threads with one load of 8 bytes in flight each. Where it
    scales, GB/s are those of reading and writing."""

    points: list[tuple[float, float]]  # bytes in flight of an SM, GB/s
    ceiling: float  # GB/s
    sms: int
    ghz: float

    def gbs(self, in_flight: float) -> float:
        """What that many bytes in flight of an SM give: between two points a straight line, and beyond the last its
        latency, up to the ceiling."""
        before = (0.0, 0.0)
        for point in self.points:
            if in_flight <= point[0]:
                share = (in_flight - before[0]) / (point[0] - before[0])
                return before[1] + share * (point[1] - before[1])
            before = point
        return min(self.ceiling, before[1] * in_flight / before[0])

    def ns(self, in_flight: float) -> float:
        """The latency: what Little's law makes of both."""
        return in_flight * self.sms / self.gbs(in_flight)

    def full_ns(self) -> float:
        """The latency at the last point, near the ceiling."""
        return self.ns(self.points[-1][0])

    def needed(self) -> float:
        """Bytes in flight of an SM for all of the bandwidth."""
        return self.full_ns() * self.ceiling / self.sms


def memory(work: str = "read") -> Memory:
    run = probes.record("bandwidth")
    if not run or not run["timed"]:
        raise NotMeasured("")
    of_all = [r for r in probes.of_work(run, work) if r["warps_per_sm"] and "gbs" in r]
    of_one = [r for r in of_all if (r["word_bytes"], r["ilp"]) == (8, 1)]
    points = sorted((float(r["bytes_in_flight_per_sm"]), r["gbs"]) for r in of_one)
    if not points:
        raise NotMeasured("")
    clock = max(r["state"]["sm_mhz_max"] for r in of_one) / 1e3
    return Memory(points, run["ceilings"][f"{work}_gbs"], run["sm_count"], clock)


def in_flight(found: Json, sms: int) -> float:
    """Bytes that an SM has in flight in a kernel of tsm/09: a set of rows for each slice. The second set of
    leapfrogging is multiplied meanwhile."""
    p, o = found["problem"], found["kernel_options"]
    slices = o["threads"] // (-(-p["m"] // o["tile_m"]) * -(-p["n"] // o["tile_n"]))
    blocks = found["launches"][0]["grid"][0] / sms
    return blocks * slices * o["unroll"] * (p["m"] + p["n"]) * (8 if p["type"] == TYPES["d"] else 16)


def experiment_record(name: str) -> Json:
    """One of E2 to E14; NotMeasured if it has not run on a GPU."""
    record = read_json_if_there(newest(EXPERIMENTS / f"{name}.json"))
    if not record or record["executor"]:
        raise NotMeasured("")
    return record


def experiment(name: str) -> list[Json]:
    """Its results that have a time."""
    return [r for r in experiment_record(name)["results"] if "ms" in r]


def earlier_experiment(name: str) -> list[Json]:
    """The same of the run on the pages' GPU, even if a newer one is another GPU's."""
    record = read_json_if_there(EXPERIMENTS / f"{name}.json")
    if not record or record["executor"]:
        raise NotMeasured("")
    return [r for r in record["results"] if "ms" in r]


# The example of Ernst et al., section 5.3: their best tile without leapfrogging at M = N = 64; 256 threads of an SM.
EXAMPLE_TILE, EXAMPLE_WIDTH, EXAMPLE_THREADS = (11, 8), 64, 256
EXAMPLE_WARPS = EXAMPLE_THREADS // 32 // 4  # of each of an SM's schedulers


def example_registers(sets: int) -> int:
    """Of a thread, with so many sets of words: register_line() of tsm/generated/model.hpp."""
    tm, tn = EXAMPLE_TILE
    return 2 * (tm * tn + sets * (tm + tn) + 8)


def peak_share(work: float, wait: float, warps: int, leapfrogging: bool) -> float:
    """Of the FP64 peak, if each of a scheduler's warps waits for a row and then multiplies it: by turns, or with
    leapfrogging at the same time."""
    alone = max(wait, work) if leapfrogging else wait + work
    return warps * work / max(alone, warps * work)


def two_warps_gpus() -> list[tuple[int, float]]:
    """Of the paper's V100 and of this GPU: cycles of a scheduler for an FMA of a warp, and of waiting for a row."""
    found, (tm, tn) = memory(), EXAMPLE_TILE
    slices = EXAMPLE_THREADS // (-(-EXAMPLE_WIDTH // tm) * -(-EXAMPLE_WIDTH // tn))
    in_flight = slices * 2 * EXAMPLE_WIDTH * 8
    return [(4, 1.38 * 80 * 512 * 8 / 681), (2, found.ns(in_flight) * found.ghz)]


def two_warps_shares(leapfrogging: bool) -> list[float]:
    """Of the FP64 peak, on both."""
    tm, tn = EXAMPLE_TILE
    return [peak_share(tm * tn * cycles, wait, EXAMPLE_WARPS, leapfrogging) for cycles, wait in two_warps_gpus()]
