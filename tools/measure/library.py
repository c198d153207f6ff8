"""Times the installed library as other programs see it (tests/libraries/time_library.cu): first calls, host time of a
call, SGEMM back to back beside tensorcore/11 timed both ways, kernels of any width beside prepared ones. Builds all.

usage: ./lab measure library --out FILE [--build DIR] [--sample 24] [--mib 256] [--seconds 2]

Needs a GPU, nvcc and CMake. SAMPLE: pairs of widths for each product and type, always the same ones. MIB: of both tall
matrices. SECONDS: of SGEMM.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import tempfile
from collections.abc import Callable

from tools.command_line import fail, parser_of
from tools.measure.card import card
from tools.repository import GPU, ROOT, Json, commit_of_tree

PRODUCTS = [(op, kind) for op in ("tsmttsm", "tsmm") for kind in "dz"]
CORNERS = [(1, 1), (1, 64), (64, 1), (64, 64), (2, 3), (16, 16)]
SIZES = (4096, 8192)
STAGE = "tensorcore_11_any_numbers"
CORES = os.cpu_count() or 1


def run(*command: object, **options: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, text=True, capture_output=True, **options)
    if done.returncode:
        fail(f"{words[0]}: {''.join((done.stdout + done.stderr).strip().splitlines()[-1:]) or 'failed'}")
    return done.stdout


def pairs(sample: int) -> list[tuple[int, int]]:
    draw = random.Random(32)
    return (CORNERS + [(draw.randint(1, 64), draw.randint(1, 64)) for _ in range(sample)])[:sample]


def summary(lines: list[Json]) -> Json:
    """By product and type: how fast kernels of any width are, as a share of prepared ones, and how far off."""
    found: Json = {}
    for product in PRODUCTS:
        of = [line for line in lines if (line["op"], line["type"]) == product]
        shares = sorted((line["any_gbytes_s"] / line["exact_gbytes_s"], line["m"], line["n"]) for line in of)
        if shares:
            at = {"least": 0, "median": len(shares) // 2, "most": -1}
            found[" ".join(product)] = {name: round(shares[i][0], 3) for name, i in at.items()} | {
                "worst": [[m, n, round(share, 3)] for share, m, n in shares[:8]],
                "difference": max(line["difference"] for line in of),
            }
    return found


def write_cases(out: pathlib.Path, head: Json, cases: list[Json]) -> None:
    """A record, a line for each case. Ends with exit status 1 if one isn't right."""
    rows = ",\n".join("  " + json.dumps(each) for each in cases)
    out.write_text(json.dumps(head, indent=1).removesuffix("\n}") + f',\n "cases": [\n{rows}\n ]\n}}\n')
    wrong = sum(not each["right"] for each in cases)
    print(f"{len(cases)} cases, {wrong} wrong")
    if wrong:
        raise SystemExit(1)


class Library:
    """Built, installed, and asked in processes of their own."""

    SOURCE = "time_library"  # of tests/libraries/
    TARGETS: tuple[str, ...] = ("staged_gemm", STAGE)
    LIBRARIES: tuple[str, ...] = ("-lcublas",)

    def __init__(self, build: pathlib.Path) -> None:
        prefix, self.program, self.build = build / "prefix", build / self.SOURCE, build
        flags = ("-G", "Ninja", "-DGEMM_ON_GPU=ON", "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "-S", ROOT, "-B", build, *flags)
        run("cmake", "--build", build, "-j", CORES, "--target", *self.TARGETS)
        run("cmake", "--install", build, "--component", "staged_gemm", "--prefix", prefix)
        rpath = ("-Xlinker", f"-rpath={prefix}/lib", "-arch=native")
        link = (f"-L{prefix}/lib", "-lstaged_gemm", *self.LIBRARIES, *rpath)
        source = ROOT / f"tests/libraries/{self.SOURCE}.cu"
        run("nvcc", "-std=c++20", "-O2", source, f"-I{prefix}/include", *link, "-o", self.program)

    def ask(self, *words: object, cache: object = None) -> list[Json]:
        environment = os.environ | {"GEMM_KERNEL_CACHE": str(cache or self.build / "kernel_cache")}
        return [json.loads(line) for line in run(self.program, *words, env=environment).splitlines()]

    def first(self) -> list[Json]:
        with tempfile.TemporaryDirectory() as empty:
            asked = [(*product, *size) for product in PRODUCTS for size in ((1, 1), (16, 8), (64, 64))]
            return [self.ask("first", *words, cache=empty)[0] for words in asked]

    def widths(self, sample: int, mib: float) -> list[Json]:
        sizes = [f"{m}x{n}" for m, n in pairs(sample)]
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:  # compiles
            parts = [(*product, 0, *sizes[i::4]) for product in PRODUCTS for i in range(min(4, len(sizes)))]
            list(pool.map(lambda words: self.ask("widths", *words), parts))
        return [line for product in PRODUCTS for line in self.ask("widths", *product, mib, *sizes)]

    def stage(self, seconds: float) -> list[Json]:
        found = []
        for n in SIZES:
            file = self.build / "stage.json"
            size = ("--m", n, "--n", n, "--k", n)
            run(self.build / "bin" / STAGE, *size, "--back-to-back", "--seconds", seconds, "--json", file)
            result = json.loads(file.read_text())
            result = result.get("results", [result])[0]
            found.append({"n": n} | {key: result[key] for key in ("gflops", "state", "back_to_back")})
        return found


def measure_cases(
    name: str,
    usage: str,
    kind: Callable[[pathlib.Path], Library],
    judged: Callable[[Json, Json], Json],
    arguments: list[str] | None,
) -> None:
    """`./lab measure NAME`: a program prints bandwidths and then its cases; each of these is judged by them."""
    parser = parser_of(f"./lab measure {name}", usage)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/library")
    parser.add_argument("--mib", type=float, default=1024)
    options = parser.parse_args(arguments)
    if options.mib < 16:
        fail("--mib: at least 16")
    device, driver = card()
    library = kind(options.build.absolute())
    ceilings, *lines = map(json.loads, run(library.program, int(options.mib * 2**20)).splitlines())
    head = {"device": device, "driver": driver, "commit": commit_of_tree(GPU / f"{name}.json")}
    head |= {"command": f"measure {name} --mib {options.mib:g}", "ceilings": ceilings}
    write_cases(options.out, head, [judged(line, ceilings) for line in lines])


def main(arguments: list[str] | None = None) -> None:
    parser = parser_of("./lab measure library", __doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/library")
    parser.add_argument("--sample", type=int, default=24)
    parser.add_argument("--mib", type=float, default=256)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args(arguments)
    device, driver = card()
    record: Json = {"device": device, "driver": driver, "commit": commit_of_tree(GPU / "library.json")}
    library = Library(options.build.absolute())
    steps = {
        "first": library.first,
        "calls": lambda: library.ask("calls"),
        "stage": lambda: library.stage(options.seconds),
        "sgemm": lambda: [line for n in SIZES for line in library.ask("sgemm", n, options.seconds)],
        "shares": lambda: summary(library.widths(options.sample, options.mib)),
    }
    for name, step in steps.items():  # written after each: what is interrupted has measured something
        record[name] = step()
        options.out.write_text(json.dumps(record, indent=1) + "\n")
