"""Times the installed library as other programs see it (tests/libraries/time_library.cu): first calls, kernels of any
width beside those for exact sizes, the host time of a call, and SGEMM back to back beside tensorcore/11. Builds all.

usage: ./lab measure library --out FILE [--build DIR] [--sample 24] [--mib 256] [--seconds 2] [--no-stage]

Needs a GPU, nvcc and CMake. SAMPLE: pairs of widths for each product and type, always the same ones. MIB: of both tall
matrices. SECONDS: of SGEMM, without a pause. --no-stage: only the library is built, not the harness with tensorcore/11.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import tempfile

from tools.command_line import fail, parser_of
from tools.repository import GPU, ROOT, Json, commit_of_tree

PRODUCTS = [(op, kind) for op in ("tsmttsm", "tsmm") for kind in "dz"]
FIRST = [(1, 1), (16, 8), (64, 64)]
SIZES = (4096, 8192)
STAGE = "tensorcore_11_any_numbers"
CORES = os.cpu_count() or 1


def run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, capture_output=True, **options)
    if done.returncode:
        fail(f"{words[0]}: {(done.stderr + done.stdout).strip().splitlines()[-1:] or ['failed']}")
    return done.stdout


def pairs(sample: int) -> list[tuple[int, int]]:
    """The corners, and others with a fixed seed."""
    corners = [(1, 1), (1, 64), (64, 1), (64, 64), (2, 3), (16, 16)]
    draw = random.Random(32)
    return (corners + [(draw.randint(1, 64), draw.randint(1, 64)) for _ in range(sample)])[:sample]


def quantiles(shares: list[float]) -> Json:
    ordered = sorted(shares)
    at = {"least": 0.0, "p05": 0.05, "median": 0.5, "most": 1.0}
    return {name: round(ordered[round(part * (len(ordered) - 1))], 3) for name, part in at.items()}


def summary(lines: list[Json]) -> Json:
    """By product and type: how fast kernels of any width are, as a share of those for exact sizes."""
    found: Json = {}
    for op, kind in PRODUCTS:
        of = [line for line in lines if (line["op"], line["type"]) == (op, kind)]
        if not of:
            continue
        shares = [(line["any_gbytes_s"] / line["exact_gbytes_s"], line) for line in of]
        worst = [[line["m"], line["n"], round(share, 3)] for share, line in sorted(shares, key=lambda x: x[0])[:8]]
        found[f"{op} {kind}"] = quantiles([share for share, _ in shares]) | {"worst": worst}
    return found


class Library:
    """Built, installed, and asked in processes of their own."""

    SOURCE = "time_library"  # of tests/libraries/

    def __init__(self, build: pathlib.Path, alone: bool) -> None:
        prefix, program = build / "prefix", build / self.SOURCE
        only, targets = ("ON", ()) if alone else ("OFF", ("--target", "staged_gemm", STAGE))
        flags = ("-DGEMM_ON_GPU=ON", f"-DGEMM_ONLY_LIBRARIES={only}", "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *flags)
        run("cmake", "--build", build, "-j", CORES, *targets)
        run("cmake", "--install", build, "--component", "staged_gemm", "--prefix", prefix)
        source = ROOT / f"tests/libraries/{self.SOURCE}.cu"
        link = (f"-L{prefix}/lib", "-lstaged_gemm", "-lcublas", "-Xlinker", f"-rpath={prefix}/lib", "-arch=native")
        run("nvcc", "-std=c++20", "-O2", source, f"-I{prefix}/include", *link, "-o", program)
        self.program = program
        self.cache = str(build / "kernel_cache")

    def ask(self, *words: object, cache: str = "") -> list[Json]:
        environment = os.environ | {"GEMM_KERNEL_CACHE": cache or self.cache}
        return [json.loads(line) for line in run(self.program, *words, env=environment).splitlines()]

    def first(self) -> list[Json]:
        with tempfile.TemporaryDirectory() as empty:
            return [self.ask("first", *product, *size, cache=empty)[0] for product in PRODUCTS for size in FIRST]

    def widths(self, sample: int, mib: float) -> list[Json]:
        sizes = [f"{m}x{n}" for m, n in pairs(sample)]
        parts = [(product, sizes[i::4]) for product in PRODUCTS for i in range(4)]
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            list(pool.map(lambda part: self.ask("prepare", *part[0], *part[1]) if part[1] else [], parts))
        return [line for product in PRODUCTS for line in self.ask("widths", *product, mib, *sizes)]


def stage_both_ways(build: pathlib.Path, seconds: float) -> list[Json]:
    """tensorcore/11 alternately with cuBLAS and back to back, by the harness."""
    found = []
    for n in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "run.json")
            size = ("--m", n, "--n", n, "--k", n)
            run(build / "bin" / STAGE, *size, "--back-to-back", "--seconds", seconds, "--json", file)
            result = json.loads(file.read_text())
        result = result.get("results", [result])[0]
        found.append({"n": n} | {key: result[key] for key in ("gflops", "pct_cublas", "state", "back_to_back")})
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure library", __doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/library")
    parser.add_argument("--sample", type=int, default=24)
    parser.add_argument("--mib", type=float, default=256)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--no-stage", action="store_true")
    options = parser.parse_args(arguments)
    try:
        told = run("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    except OSError:
        fail("no GPU: nvidia-smi is not there")
    device, driver = told.splitlines()[0].split(", ")
    record: Json = {"device": device, "driver": driver, "commit": commit_of_tree(GPU / "library.json")}

    def keep(name: str, value: object) -> None:
        """After each step: what is interrupted has measured something."""
        record[name] = value
        options.out.write_text(json.dumps(record, indent=1) + "\n")

    library = Library(options.build.absolute(), options.no_stage)
    keep("check", [library.ask("check", *product)[0] for product in PRODUCTS])
    keep("first", library.first())
    keep("calls", library.ask("overhead"))
    keep("sgemm", [line for n in SIZES for line in library.ask("sgemm", n, options.seconds)])
    if not options.no_stage:
        keep("stage", stage_both_ways(options.build, options.seconds))
    lines = library.widths(options.sample, options.mib)
    keep("shares", summary(lines))
    keep("widths", lines)
