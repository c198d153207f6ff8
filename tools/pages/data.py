"""The committed measurements of the ladder, by stage and shape, and the names of their files."""

import re
import sys

from tools.repository import CPU, GPU, SINCE, Json, newest, read_json, read_json_if_there, relative, stage_file, stages

LADDER, CALIBRATION = (GPU / f"{name}.json" for name in ("sgemm", "calibration"))
NEW_RUNGS = SINCE / "sgemm_new_rungs.json"  # stages that the ladder's run does not have, beside their neighbours
COUNTERS = newest(GPU / "counters.json")
MAPS = CPU / "thread_maps.json"
COUNTED = CPU / "counts.json"  # by the CPU executor, on any machine
BESIDE = newest(GPU / "counts.json")  # the same and Nsight Compute's; may be missing
# These may be missing.
SWEEP, COARSE, RANDOM = (GPU / f"{name}.json" for name in ("sweep", "sweep_all", "random"))
VARIANTS = newest(GPU / "variants.json")
MORE_VARIANTS = [newest(GPU / f"variants_{name}.json") for name in ("sizes", "16384", "thin")]
BOUNDS = CPU / "bounds.json"  # by ./lab measure bounds
TUNING = GPU / "tuning.json"  # the search of stage 16
SANITIZERS = GPU / "sanitizers.json"
HEADLINE = "4096x4096x4096"
CUBES = ["256", "512", "1000", "1023", "1024", "2047", "2048", "3000", "4095", "4096", "4097", "8192", "16384"]
# What the ladder's summit is judged by, beside the cubes.
SKEWED = [
    "4096x4096x64",
    "128x128x65536",
    "65536x128x128",
    "1024x8192x512",
    "8192x1024x4096",
    "333x777x1555",
    "64x64x1048576",
]


class NotMeasured(Exception):
    """Of a stage or a shape that exists, and of which there are no numbers yet. The text says why, if there is a
    reason."""


class Unreadable(Exception):
    """What reads its source is not on this machine: a mark keeps what it has."""


def full_shape(shape: str) -> str:
    return shape if "x" in shape else f"{shape}x{shape}x{shape}"


def shape_of(problem: Json) -> str:
    return f"{problem['m']}x{problem['n']}x{problem['k']}"


def short_shape(shape: str) -> str:
    m, n, k = shape.split("x")
    return m if m == n == k else shape


def by_stage_and_shape(report: Json) -> dict[tuple[str, str], Json]:
    return {(r["stage"], shape_of(r["problem"])): r for r in report["results"]}


class Data:
    """The committed measurements, by stage and shape."""

    def __init__(self) -> None:
        writers = dict.fromkeys((LADDER, COUNTERS, CALIBRATION), "docs/measurements/measure")
        writers |= {COUNTED: "./lab measure counts --count", MAPS: "./lab map --json"}
        for path, writer in writers.items():
            if not path.exists():
                sys.exit(f"error: {relative(path)} is missing: {writer} writes it")
        self.ladder = read_json(LADDER)
        self.counters = read_json(COUNTERS)
        self.calibration = read_json(CALIBRATION)
        self.sanitizers = (read_json_if_there(SANITIZERS) or {"runs": []})["runs"]
        self.executor = read_json(COUNTED)
        self.beside = read_json_if_there(BESIDE)
        self.sweep, self.coarse, self.random, self.variants = map(read_json_if_there, (SWEEP, COARSE, RANDOM, VARIANTS))
        self.more_variants = [run for run in map(read_json_if_there, MORE_VARIANTS) if run]
        self.tuning = read_json_if_there(TUNING)
        self.bounds = read_json_if_there(BOUNDS)
        self.loop = read_json_if_there(CPU / "loop.json")
        # One table, one run: what the ladder's run does not have is not measured, whatever other runs have of it.
        self.results = by_stage_and_shape(self.ladder)
        self.since = read_json_if_there(NEW_RUNGS)
        self.ids = list(dict.fromkeys(r["stage"] for r in self.ladder["results"]))
        self.ceilings = self.ladder["ceilings"]
        self.missing = []  # marks that have no numbers yet
        self.registry = stages()
        self.stages = [i for i in self.registry if i in self.ids]  # those that were measured

    def stage(self, number: str) -> str:
        """The id of the stage with this number (family/NN; NN: sgemm), measured or not."""
        wanted = number if "/" in number else f"sgemm/{number}"
        return next(i for i in self.registry if i.split("_")[0] == wanted)

    def run_of(self, *numbers: str) -> Json:
        """The ladder's run; or the one that has new stages and their neighbours, if one of these is new."""
        return self.since if self.since and any(self.stage(each) not in self.ids for each in numbers) else self.ladder

    def result(self, number: str, shape: str, run: Json | None = None) -> Json:
        """A result with a time, of a run, or of the one that has the stage; NotMeasured if this shape has none."""
        run = run or self.run_of(number)
        results = self.results if run is self.ladder else by_stage_and_shape(run)
        found = results.get((self.stage(number), full_shape(shape)))
        known = {full_shape(s) for s in CUBES + SKEWED} | {s for _, s in self.results}
        if not found and full_shape(shape) not in known:
            raise KeyError(shape)
        if not found or "time_ms" not in found:
            raise NotMeasured(found["reason"] if found else "")
        return found

    def variant(self, number: str, name: str, shape: str) -> Json:
        """A result of a stage (name "") or of one of its variants, from a run of the variants; NotMeasured if it has no
        time."""
        stage = self.stage(number)
        runs = ([self.variants] if self.variants else []) + self.more_variants
        results = [r for run in runs for r in run["results"]]
        if name not in self.source(stage) and not any(r["stage"] == f"{stage}:{name}" for r in results):
            raise KeyError(name)
        for r in results:
            if (
                r["stage"] == (f"{stage}:{name}" if name else stage)
                and shape_of(r["problem"]) == full_shape(shape)
                and "time_ms" in r
            ):
                return r
        raise NotMeasured("")

    def speed(self, stage: str, shape: str, run: Json | None = None) -> float:
        return self.result(stage, shape, run)["gflops"]

    def variant_speed(self, which: str, shape: str) -> float:
        number, _, name = which.partition(":")
        return self.variant(number, name, shape)["gflops"]

    def counter(self, number: str, size: str) -> Json:
        """Nsight Compute's counters of a stage, or of one of its variants, as 12:k=16."""
        number, colon, name = number.partition(":")
        stage = self.stage(number)
        if name not in self.source(stage):
            raise KeyError(name)
        try:
            return self.counters["sizes"][size][stage + colon + name]
        except KeyError:
            raise NotMeasured("") from None

    def per_fma(self, number: str, size: str, counter: str) -> float:
        c = self.counter(number, size)
        return c[counter] / (c["ffma"] / 32)

    def counted(self, number: str) -> Json:
        kernel = self.executor["kernels"].get(self.stage(number))
        if not kernel:
            raise NotMeasured("")
        return kernel["counts"]

    def source(self, stage: str) -> str:
        return stage_file(stage).read_text()

    def idea(self, stage: str) -> str:
        source = self.source(stage)
        source = source[max(source.rfind("StageInfo"), 0) :]  # variants have ideas of their own
        return "".join(re.findall(r'"([^"]*)"', re.search(r'\.idea\s*=\s*((?:"[^"]*"\s*)+)', source).group(1)))
