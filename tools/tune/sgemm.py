"""The search behind stages/16_tuned.cu: which tile, which warps, which registers, how deep.

usage: ./lab measure tune --plan
           enumerate, prune by counting, and show what would be compiled
       ./lab measure tune --compile-only DIR [--build build/gpu]
           compile these points (no GPU needed), prune by spills; writes DIR/tuned, one program with all points, and
           DIR/points.json
       ./lab measure tune --prebuilt DIR --time-only [--out FILE]
           check and time them on this machine's GPU, in turns with cuBLAS
       ./lab measure tune [--build build/gpu] [--out FILE]
           both, in build/tune

Points that FILE already has from the same program on the same machine are not timed again.
"""

import collections
import hashlib
import itertools
import json
import math
import pathlib
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tools.command_line import parser_of
from tools.repository import GPU, ROOT, Json, read_json
from tools.tune.copies import compile_copies, link_ladder, say

STAGE = ROOT / "stages" / "16_tuned.cu"
OUT = GPU / "tuning.json"

# An H200. The last three were measured, on stage 15 (docs/stages/15_async_copies.md): a warp's LDS.128 costs the
# register file this many issue slots, a barrier the warps that wait together this many cycles, a tile of C its first
# loads and its stores.
SMS, CLOCK, SHARED_OF_SM, REGISTERS_OF_SM, L2_BYTES_A_CYCLE = 132, 1.98e9, 228 * 1024, 65536, 2800
SLOTS_LOST, BARRIER, TILE_OVERHEAD = 3, 300, 12000

WARPS = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (2, 4), (4, 2), (1, 3), (3, 1), (2, 3), (3, 2), (4, 4)]
SPACE: dict[str, Sequence[Any]] = {
    "ROWS": (4, 8, 12, 16),
    "COLS": (4, 8, 12, 16),
    "LANES_M": (4, 8, 16),
    "WARPS": WARPS,
    "TILE_K": (8, 16, 32, 48, 64),
    "QUADS": (1, 2, 4),
    "STAGES": (2, 3, 4),
    "GROUP": (2, 4, 8),
    "BLOCKS": (1, 2, 3, 4, 6, 8),
}


class Shape(NamedTuple):
    """The arguments of Shape in the stage."""

    TILE_M: int
    TILE_N: int
    TILE_K: int
    WARP_M: int
    WARP_N: int
    LANES_M: int
    QUADS: int
    STAGES: int
    GROUP: int
    BLOCKS: int


FIELDS = Shape._fields


class Point(Shape):
    """And what follows from them."""

    @property
    def lanes_n(self) -> int:
        return 32 // self.LANES_M

    @property
    def rows(self) -> int:
        return self.WARP_M // self.LANES_M

    @property
    def cols(self) -> int:
        return self.WARP_N // self.lanes_n

    @property
    def warps(self) -> int:
        return self.TILE_M // self.WARP_M * (self.TILE_N // self.WARP_N)

    @property
    def threads(self) -> int:
        return 32 * self.warps

    @property
    def shared_bytes(self) -> int:
        return 4 * self.STAGES * (self.TILE_M * (self.TILE_K + 4) + self.TILE_K * self.TILE_N)

    @property
    def name(self) -> str:
        return (
            f"{self.TILE_M}x{self.TILE_N}x{self.TILE_K}_warp{self.WARP_M}x{self.WARP_N}_thread{self.rows}x{self.cols}"
            f"_quads{self.QUADS}_stages{self.STAGES}_group{self.GROUP}_blocks{self.BLOCKS}"
        )

    def builds(self) -> bool:
        """The stage's static_asserts, but for shared memory."""
        at_once = 4 * self.threads  # words that all threads copy at a time
        return (
            self.threads <= 512
            and self.BLOCKS * self.threads <= 2048
            and self.rows % self.GROUP == 0
            and self.rows // self.GROUP * self.QUADS % 2 == 0
            and self.TILE_K % (4 * self.QUADS) == 0
            and at_once % self.TILE_K == 0
            and at_once % self.TILE_N == 0
            and self.TILE_M % (at_once // self.TILE_K) == 0
            and self.TILE_K % (at_once // self.TILE_N) == 0
        )

    def shared_fits(self) -> bool:
        return self.BLOCKS * (self.shared_bytes + 1024) <= SHARED_OF_SM

    def registers_allowed(self) -> int:
        return min(255, REGISTERS_OF_SM // (self.threads * self.BLOCKS) // 8 * 8)

    def registers_needed(self) -> int:
        """Sums, two groups of A's quads, four rows of B, and what addresses and counters took in every kernel looked
        at."""
        return self.rows * self.cols + 8 * self.GROUP + 4 * self.cols + 16

    def loads(self, k: int) -> int:
        """LDS.128 of a warp for k steps, k a multiple of TILE_K: exact, with those before the loop."""
        return k // 4 * (self.rows + self.cols) + self.GROUP + self.cols

    def wavefronts_of_load(self) -> tuple[int, int]:
        """Of one LDS.128 of A and one of B: lanes pair up (l and l ^ 1 agree, or l and l ^ 2), so two phases of 16
        lanes each."""

        def cost(address: Callable[[int], int]) -> int:  # address: lane -> word
            pairs = any(all(address(lane) == address(lane ^ d) for lane in range(32)) for d in (1, 2))
            lanes = 16 if pairs else 8
            total = 0
            for first in range(0, 32, lanes):
                banks = collections.Counter(
                    word // 4 % 8 for word in {address(lane) for lane in range(first, first + lanes)}
                )
                total += max(banks.values())
            return total

        n = self.lanes_n
        return (
            cost(lambda lane: (lane // 2 % 2 + lane // (2 * n) * 2) * (self.TILE_K + 4)),
            cost(lambda lane: 4 * (lane % 2 + lane // 4 % (n // 2) * 2)),
        )

    def per_fma(self) -> tuple[float, float, float]:
        """Of a warp's FMA: instructions, issue slots with those that LDS.128 loses, and wavefronts in shared memory."""
        fma = self.TILE_K * self.rows * self.cols
        loads = self.TILE_K // 4 * (self.rows + self.cols)
        a_copies, b_copies = (
            words / 4 / self.threads for words in (self.TILE_M * self.TILE_K, self.TILE_N * self.TILE_K)
        )
        other = 10 * self.TILE_K / 4 / self.QUADS + 6 * a_copies + 3 * b_copies + 40
        a, b = self.wavefronts_of_load()
        wavefronts = self.TILE_K // 4 * (self.rows * a + self.cols * b) + 4 * (a_copies + b_copies)
        instructions = (fma + loads + other) / fma
        return instructions, instructions + SLOTS_LOST * loads / fma, wavefronts / fma

    def model(self, size: int = 4096) -> float:
        """GFLOP/s at M = N = K = size."""
        _, slots, wavefronts = self.per_fma()
        fma = self.TILE_K * self.rows * self.cols * self.warps  # of a block's round

        def round_cycles(blocks: int) -> float:  # of so many blocks of an SM
            a_scheduler = blocks * self.warps / 4
            issue = slots * math.ceil(a_scheduler) / a_scheduler / 4
            if 4 * self.rows * self.cols * self.QUADS > 600:
                issue *= 1.02  # more code than the instruction cache next to the scheduler holds
            l2 = SMS * (self.TILE_M + self.TILE_N) * self.TILE_K * 4 / L2_BYTES_A_CYCLE
            cycles = blocks * max(fma * max(issue, wavefronts), l2) + (BARRIER if self.warps > 1 else 40) / blocks
            if a_scheduler < 1.5:  # nobody else to issue for while a warp waits for its loads
                cycles += 100 * self.TILE_K / 4 / self.QUADS
            return cycles

        tiles, rounds = math.ceil(size / self.TILE_M) * math.ceil(size / self.TILE_N), math.ceil(size / self.TILE_K)
        waves, rest = divmod(tiles, SMS * self.BLOCKS)
        cycles = waves * (rounds * round_cycles(self.BLOCKS) + TILE_OVERHEAD)
        if rest:
            cycles += rounds * round_cycles(math.ceil(rest / SMS)) + TILE_OVERHEAD
        return 2 * size**3 / (cycles / CLOCK) / 1e9


def points_of_stage() -> dict[str, Point]:
    """Name -> point: the stage itself ("") and its variants."""
    text = re.sub(r"\s+", " ", STAGE.read_text())
    found = {"": re.search(r"using Tuned = Shape<([\d, ]+)>", text)[1]}
    found |= {name: shape for shape, name in re.findall(r'variant<Shape<([\d, ]+)>>\(\s*"([^"]+)"', text)}
    return {name: Point(*map(int, shape.split(","))) for name, shape in found.items()}


def search(keep: int, alike: int, least: float) -> tuple[list[Point], list[tuple[str, int]]]:
    """The points to compile, best first by the model, and the funnel: (why, how many were left)."""
    funnel: collections.Counter[str] = collections.Counter()
    left = []
    for rows, cols, lanes_m, (warps_m, warps_n), tile_k, quads, stages, group, blocks in itertools.product(
        *SPACE.values()
    ):
        funnel["in the space"] += 1
        warp_m, warp_n = rows * lanes_m, cols * (32 // lanes_m)
        point = Point(warps_m * warp_m, warps_n * warp_n, tile_k, warp_m, warp_n, lanes_m, quads, stages, group, blocks)
        if not point.builds():
            continue
        funnel["the kernel can be built"] += 1
        if not point.shared_fits():
            continue
        funnel["shared memory suffices"] += 1
        if point.registers_needed() > point.registers_allowed():
            continue
        funnel["registers suffice, estimated"] += 1
        left.append((point.model(), point))
    best = max(model for model, _ in left)
    # Where the model sees no difference: three stages and groups of four, as 15.
    left = sorted(
        (entry for entry in left if entry[0] >= least * best),
        key=lambda e: (-round(e[0]), abs(e[1].STAGES - 3), abs(e[1].GROUP - 4), e[1]),
    )
    funnel[f"the model promises {100 * least:.0f} % of its best"] = len(left)
    known = points_of_stage()
    default = known[""]
    chosen = list(dict.fromkeys(known.values()))
    # What differs from the default in one number alone, whatever the model says: it knows nothing of some of them.
    for axis in ("TILE_K", "LANES_M", "QUADS", "STAGES", "GROUP"):
        for value in SPACE[axis]:
            point = default._replace(**{axis: value})
            if point.builds() and point.shared_fits() and point.registers_needed() <= point.registers_allowed():
                chosen.append(point)
    kinds = {}
    for _, point in left:  # the best of each thread tile
        kinds.setdefault((point.rows, point.cols), point)
    chosen += kinds.values()
    families = collections.Counter()
    for _, point in left:
        if len(set(chosen)) >= keep:
            break
        family = (point.TILE_M, point.TILE_N, point.rows, point.cols)
        families[family] += 1
        if families[family] <= alike:
            chosen.append(point)
    chosen = sorted(dict.fromkeys(chosen), key=lambda p: -p.model())
    funnel["compiled: the best, few of a kind, and the neighbours of the default"] = len(chosen)
    return chosen, list(funnel.items())


def describe(point: Point) -> Json:
    instructions, slots, wavefronts = point.per_fma()
    return {
        "name": point.name,
        "shape": list(point),
        "threads": point.threads,
        "shared_bytes": point.shared_bytes,
        "instructions_per_fma": round(instructions, 4),
        "slots_per_fma": round(slots, 4),
        "wavefronts_per_fma": round(wavefronts, 4),
        "model_gflops": round(point.model()),
    }


def compile_points(
    points: list[Point], funnel: list[tuple[str, int]], folder: pathlib.Path, build: pathlib.Path, arch: str
) -> None:
    """One program of all points that do not spill: the ladder's, with these instead of the stages."""
    stems = {f"16_{point.name}": point for point in points}  # a stage's file starts with a number
    text = STAGE.read_text()
    texts = {stem: f"#define GEMM_TUNED Shape<{', '.join(map(str, point))}>\n{text}" for stem, point in stems.items()}
    done = compile_copies(STAGE, texts, build, arch)
    entries = [{"id": f"tuning/{stem}", **describe(point), **done[stem].resources} for stem, point in stems.items()]
    good = [done[stem].target for stem, entry in zip(stems, entries) if entry["spill_bytes"] == 0]
    funnel = [*funnel, ("compiled without spilling", len(good))]
    folder.mkdir(parents=True, exist_ok=True)
    link_ladder(good, build, folder / "tuned")
    (folder / "points.json").write_text(json.dumps({"funnel": funnel, "points": entries}, indent=1) + "\n")
    say(
        f"wrote {folder / 'tuned'}, {(folder / 'tuned').stat().st_size / 1e6:.1f} MB, with {len(good)} of "
        f"{len(points)} points"
    )


def exact(folder: pathlib.Path) -> str:
    """What makes times comparable: the program and the machine."""
    return hashlib.sha256((folder / "tuned").read_bytes() + socket.gethostname().encode()).hexdigest()[:16]


KEEP_OF_RUN = ("device", "driver", "cuda", "cublas", "commit", "compiler")


def time_points(folder: pathlib.Path, out: pathlib.Path, sizes: list[str], seconds: str, batch: int) -> None:
    planned = read_json(folder / "points.json")
    old = read_json(out) if out.exists() else {}
    known = {p["name"]: p for p in old.get("points", [])}
    points = planned["points"]
    report = {"run": old.get("run", {}), "funnel": planned["funnel"], "points": points}

    def write() -> None:
        head = json.dumps({key: report[key] for key in ("run", "funnel")}, indent=1)[:-2]
        rows = ",\n  ".join(json.dumps(p) for p in points)  # a line a point
        out.write_text(f'{head},\n "points": [\n  {rows}\n ]\n}}\n')

    waiting = [p for p in points if p["spill_bytes"] == 0]
    same = exact(folder)
    if report["run"].get("exact") == same:
        for p in waiting:
            if set(sizes) <= set(known.get(p["name"], {}).get("timed", {})):
                p["timed"] = known[p["name"]]["timed"]
        waiting = [p for p in waiting if "timed" not in p]
    for first in range(0, len(waiting), batch):
        part = waiting[first : first + batch]
        say(f"timing points {first + 1} to {first + len(part)} of {len(waiting)}")
        answer = folder / "answer.json"
        command = [
            (folder / "tuned").resolve(),
            "ladder",
            *sizes,
            "--only",
            ",".join(p["id"] for p in part),
            "--time",
            "--seconds",
            seconds,
            "--json",
            answer,
        ]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if not answer.exists():
            sys.exit(f"error: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        found = read_json(answer)
        answer.unlink()
        report["run"] = {key: found[key] for key in KEEP_OF_RUN if key in found} | {"exact": same}
        for p in part:
            p["timed"] = {}
            for r in found["results"]:
                if r["stage"] != p["id"]:
                    continue
                if "time_ms" in r:
                    p["timed"][str(r["problem"]["m"])] = {
                        "ms": round(r["time_ms"]["median"], 4),
                        "gflops": round(r["gflops"]),
                        "pct_cublas": round(r["pct_cublas"], 2),
                    }
                else:
                    p["timed"][str(r["problem"]["m"])] = {"failed": r.get("reason") or r.get("status")}
        write()
    report["funnel"] = [
        *planned["funnel"],
        ["right, and timed", sum("gflops" in p.get("timed", {}).get(sizes[0], {}) for p in points)],
    ]
    write()
    best = sorted(
        (p for p in points if "gflops" in p.get("timed", {}).get(sizes[0], {})),
        key=lambda p: -p["timed"][sizes[0]]["gflops"],
    )
    for p in best:
        say(
            "  ".join(
                [
                    f"{p['model_gflops']:6d}",
                    *(f"{p['timed'][s]['gflops']:6d} {p['timed'][s]['pct_cublas']:6.1f} %" for s in sizes),
                    f"{p['registers']:3d}",
                    p["name"],
                ]
            )
        )


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure tune", __doc__)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--compile-only", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--prebuilt", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--time-only", action="store_true", help="with --prebuilt (implied)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "gpu", help="a GPU build, of Ninja")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    parser.add_argument("--arch", default="90a")
    parser.add_argument("--keep", type=int, default=28, help="how many points to compile, about")
    parser.add_argument("--alike", type=int, default=1, help="of these, how many of one block tile and one thread tile")
    parser.add_argument("--least", type=float, default=0.9, help="of the model's best")
    parser.add_argument("--sizes", nargs="+", default=["4096", "2048"])
    parser.add_argument("--seconds", default="0.15", help="of sampling, a point and a size")
    parser.add_argument("--batch", type=int, default=16, help="points timed in one process")
    options = parser.parse_args(arguments)
    folder = options.prebuilt or options.compile_only or ROOT / "build" / "tune"
    if not options.prebuilt:
        points, funnel = search(options.keep, options.alike, options.least)
        for why, count in funnel:
            say(f"{count:9,}  {why}")
        if options.plan:
            for point in points:
                print(" ".join(f"{key}={value}" for key, value in describe(point).items() if key != "shape"))
            return
        compile_points(points, funnel, folder, options.build, options.arch)
    if not options.compile_only:
        time_points(folder, options.out, options.sizes, options.seconds, options.batch)
