#!/usr/bin/env python3
"""`./lab show ID --flat`: a stage as one .cu file.

usage: test_flat.py                    what the texts hold, of all stages; needs no compiler
       test_flat.py --compile [NVCC]   nvcc alone compiles each, outside of the tree; with a GPU each runs and must
                                       pass, and copies with a mistake must fail. $GEMM_SHARE = P/N: every N-th
                                       stage from the P-th on
       test_flat.py --run-all [--jobs N] [--nvcc NVCC] [--arch sm_90a]
                                       the same for all stages at once; fails where there is no GPU
       test_flat.py --kernels [NVCC]   the kernels in the files of generating stages are those that the stages ask for
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
from tools.repository import CUDA_WHEELS, ROOT, stage_file, stages

# What has no flat file, and why.
PROBE = "is a probe, which multiplies no matrices given to it"
REFUSED = dict.fromkeys(
    ("tensorcore/04_fragment_map", "tensorcore/05_scan", "tensorcore/06a_householder", "tensorcore/06b_givens"), PROBE
)
FILES = {name: stage_file(name) for name in stages()}
STAGES = [name for name in FILES if name not in REFUSED]
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include.*\n", re.M)
# Lines that are neither the stage's nor a kernel header's: the harness's and the program. They may only become fewer.
MOST_OVERHEAD = {"sgemm": 336, "tensorcore": 352, "tsm": 507}
# Mistakes in 02's text that the program below it must find.
MISTAKES = {
    "the last product is left out": ("i < k; ++i", "i < k - 1; ++i"),
    "a product too many": ("i < k; ++i", "i < k + 1; ++i"),
    "C is not added": ("alpha * sum + beta * *out;", "alpha * sum;"),
    "C is read though beta is 0": ("beta == 0.0f ? alpha * sum : ", ""),
    "alpha is left out": ("alpha * sum", "sum"),
    "a row is not written": ("row >= m ||", "row >= m - 1 ||"),
    "what lies behind a row is written": (
        "if (row >=",
        "if (row < m && col >= n && col < ldc) c[row * ldc + col] = 0;\n  if (row >=",
    ),
    "numbers are rounded to bfloat16": (
        "a[row * lda + i]",
        "__uint_as_float(__float_as_uint(a[row * lda + i]) >> 16 << 16)",
    ),
}


def show(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / "lab", "show", *arguments], capture_output=True, text=True)


def flat(name: str) -> str:
    shown = show(name, "--flat")
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


GPU = threading.Lock()  # one program at a time, so that its time is its own


def with_mistake(title: str) -> str:
    """02's file with a mistake in the stage's own text."""
    above, mark, below = flat("02").partition("// ---- stages/02_coalesced.cu\n")
    stage, end, program = below.partition("// ---- the program\n")
    return above + mark + stage.replace(*MISTAKES[title]) + end + program


class Text(unittest.TestCase):
    def test_stage_is_there_verbatim_and_no_other_file_is_needed(self):
        for name in STAGES:
            text = flat(name)
            with self.subTest(name):
                self.assertIn(INCLUDE.sub("", FILES[name].read_text()).strip("\n"), text)
                self.assertNotRegex(text, r'(?m)^[ \t]*#[ \t]*include[ \t]*"')
                self.assertNotRegex(text, r"@\w+@|fmt::|nlohmann|CLI::|simt::")
                self.assertEqual(len(re.findall(r"^int main\(", text, re.M)), 1)
                self.assertEqual(text, flat(name))

    def test_what_is_neither_stage_nor_kernel_is_short(self):
        for name in STAGES:
            head, *sections = re.split(r"^// ---- (.*)\n", flat(name), flags=re.M)
            overhead = head + "".join(
                text
                for title, text in zip(sections[::2], sections[1::2], strict=True)
                if title in ("the program", "of the harness, what is named below")
            )
            with self.subTest(name):
                self.assertLessEqual(len(overhead.splitlines()), MOST_OVERHEAD[name.partition("/")[0]])

    def test_helpers_that_nobody_names_are_left_out(self):
        self.assertNotIn("mma_m16n8k16", flat("15"))
        self.assertIn("cp_async_cg", flat("15"))
        self.assertNotIn("struct Problem", flat("02"))

    def test_without_flat_it_is_the_file(self):
        self.assertEqual(show("tsm/05").stdout, FILES["tsm/05_tiles"].read_text())
        self.assertEqual(show("tensorcore/05").stdout, FILES["tensorcore/05_scan"].read_text())

    def test_ids(self):
        for name in ("01", "01_naive", "sgemm/01", "sgemm/01_naive"):
            self.assertEqual(flat(name), flat("sgemm/01_naive"))

    def test_refusals_are_one_line(self):
        refused = {(name, "--flat"): why for name, why in REFUSED.items()}
        refused |= {
            ("77", "--flat"): "no stage '77'",
            ("09", "--flat"): "no stage '09'",
            ("09",): "no stage '09'",
            ("nosuch/01",): "no stage 'nosuch/01'",
            ("../01",): "no stage",
            (): "needs a stage",
            ("01", "02"): "takes one stage",
            ("01", "--round"): "takes one stage",
            ("06a:unroll=1", "--flat"): "no variants",
        }
        for arguments, why in refused.items():
            shown = show(*arguments)
            with self.subTest(arguments):
                self.assertEqual((shown.returncode, shown.stdout, shown.stderr.count("\n")), (2, "", 1), shown.stderr)
                self.assertTrue(shown.stderr.startswith("error: "))
                self.assertIn(why, shown.stderr)

    def test_mistakes_can_be_made(self):
        for title in MISTAKES:
            self.assertNotEqual(with_mistake(title), flat("02"))


def find_nvcc() -> str | None:
    places = [
        os.environ.get("CUDACXX"),
        shutil.which("nvcc"),
        "/usr/local/cuda/bin/nvcc",
        str(CUDA_WHEELS / "nvcc"),
    ]
    return next((place for place in places if place and shutil.which(place)), None)


def has_gpu() -> bool:
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
    except OSError:
        return False


def try_one(title: str, text: str, nvcc: str, arch: str, run: bool, passes: bool = True) -> str:
    """Compiles a text, and runs the program. What came of it: a line that begins with ok or WRONG."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "one.cu").write_text(text)
        command = [nvcc, "-std=c++20", "-O3", f"-arch={arch}", "one.cu", "-o", "one"]
        compiled = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if compiled.returncode != 0:
            return f"WRONG {title}: does not compile\n{compiled.stdout[:3000]}"
        if not run:
            return f"ok    {title}: compiles"
        try:
            with GPU:
                command = ["./one"]
                done = subprocess.run(
                    command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
                )
        except subprocess.TimeoutExpired:
            return f"WRONG {title}: runs for more than 300 s"
        lines = done.stdout.strip().splitlines() or [""]
        right = (done.returncode, lines[-1][:5]) == ((0, "PASS ") if passes else (1, "FAIL "))
        return f"{'ok   ' if right else 'WRONG'} {title}: {' | '.join(lines)}"


def try_all(names: list[str], nvcc: str, arch: str, jobs: int, run: bool) -> int:
    """An exit status. Programs compile side by side, and run one after the other."""
    tasks = [(name, flat(name), nvcc, arch, run, True) for name in names]
    if run and "sgemm/02_coalesced" in names:
        tasks += [(f"02, {title}", with_mistake(title), nvcc, arch, run, False) for title in MISTAKES]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for line in pool.map(lambda task: try_one(*task), tasks):
            print(line, flush=True)
            wrong += line.startswith("WRONG")
    only = "" if run else "; compiled only, because there is no GPU"
    print(f"{len(tasks) - wrong} of {len(tasks)} as they should be{only}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", nargs="?", const="", metavar="NVCC")
    parser.add_argument("--kernels", nargs="?", const="", metavar="NVCC")
    parser.add_argument("--run-all", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--arch", default="sm_90a")
    options = parser.parse_args()
    if options.compile is None and options.kernels is None and not options.run_all:
        return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1
    nvcc = options.compile or options.kernels or options.nvcc or find_nvcc()
    if not nvcc:
        print("SKIPPED, NOT RUN: no nvcc")
        return 1 if options.run_all else 0
    if options.kernels is not None:
        command = [sys.executable, "-B", "-m", "tools.flat", "--check", nvcc]
        return subprocess.run(command, cwd=ROOT).returncode
    if options.run_all:
        if not has_gpu():
            print("error: no GPU here", file=sys.stderr)
            return 2
        return try_all(STAGES, nvcc, options.arch, options.jobs, True)
    part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))
    return try_all(STAGES[part - 1 :: parts], nvcc, options.arch, options.jobs, has_gpu())


if __name__ == "__main__":
    sys.exit(main())
