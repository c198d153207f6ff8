#!/usr/bin/env python3
"""./lab mutate: its operators and what it makes of them; and that `check` rejects a sample of all stages' mutants.

usage: test_mutants.py --self-test
       test_mutants.py BUILD [--per-stage N] [--seed S]

BUILD     a build for the CPU executor, with the programs of all stages. With GEMM_SHARE=P/N in the environment every
          N-th stage of the record is tried, from the P-th on. A share is small, and after a change of a stage other
          mutants are drawn, of which one may be equivalent without a proof yet: a share fails if less than 90 % are
          rejected.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from tools.mutate import operators, proofs
from tools.mutate.campaign import Campaign
from tools.mutate.judge import MISSED, PROVEN, REJECTED, SAME_CODE, Verdict, check
from tools.mutate.machine_code import fingerprint
from tools.mutate.mutants import Mutant, drawn, gemm_stages, mutants_in, mutants_of, program_of, text_of
from tools.mutate.report import RECORD, count, survivors
from tools.repository import read_json

MINIMUM = 90

EXAMPLE = """// alpha * 1 in a comment
__global__ void f(int m, int n, int k, float alpha, const float* a, int lda, float beta, float* c, int ldc) {
  const int row = blockIdx.x * 16 + threadIdx.x, col = threadIdx.y;  // row + 1 < m
  static_assert(1 < 2);
  __shared__ float tile[16][17], other[2][16];
  float sum = 0;
  for (int i = 0; i < k; i += 16) {
    gemm::ptx::cp_async_wait<1>();
    sum += a[i + row * lda];
    __syncthreads();
  }
  if (row < m && col < n) c[row * ldc + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * c[row * ldc + col];
}
int host(int alpha) { return alpha * 2; }
"""


class Operators(unittest.TestCase):
    def setUp(self):
        self.found = mutants_of("example.cu", EXAMPLE)

    def lines(self, operator):
        return {mutant.lines_of(mutant.apply(EXAMPLE), mutant.begin) for mutant in self.found[operator]}

    def test_every_operator_has_places(self):
        self.assertEqual(set(self.found), set(operators.NAMES))

    def test_only_kernels_change(self):
        lines = {mutant.line for mutants in self.found.values() for mutant in mutants}
        self.assertLessEqual(lines, {3, 6, 7, 8, 9, 10, 12})

    def test_what_they_make(self):
        self.assertEqual(self.lines("wait weakened"), {"(void)0;", "gemm::ptx::cp_async_wait<(1) + 1>();"})
        self.assertEqual(self.lines("barrier deleted"), {"(void)0;"})
        self.assertIn("sum += a[i + row * k];", self.lines("stride changed"))
        self.assertIn("sum += a[i + row * ldc];", self.lines("stride changed"))
        self.assertIn("sum += a[i - row * lda];", self.lines("arithmetic changed"))
        self.assertIn("for (int i = 1; i < k; i += 16) {", self.lines("constant changed"))
        rest = " c[row * ldc + col] = beta == 0.0f ? alpha * sum : alpha * sum + beta * c[row * ldc + col];"
        for guard in ("if (true)", "if ( col < n)", "if (row < m)"):
            self.assertIn(guard + rest, self.lines("guard dropped"))

    def test_what_only_nvcc_compiles_stays(self):
        text = "__global__ void f(int* x) {\n#ifdef __CUDACC__\n  x[1 + 2] = 3;\n#endif\n  x[4] = 5;\n}\n"
        found = [mutant for mutants in mutants_of("f", text).values() for mutant in mutants]
        self.assertEqual({mutant.line for mutant in found}, {5})

    def test_arrays_keep_their_sizes(self):
        self.assertFalse([line for mutants in self.found.values() for line in mutants if line.line == 5])

    def test_of_a_guard_that_leaves_the_condition_is_false(self):
        text = "__device__ int f(int i, int n) {\n  if (i >= n) continue;\n  if (i < n) return g();\n}\n"
        lines = {mutant.lines_of(mutant.apply(text), mutant.begin) for mutant in mutants_of("f", text)["guard dropped"]}
        self.assertEqual(lines, {"if (false) continue;", "if (true) return g();"})


class Drawing(unittest.TestCase):
    def first(self, stage, seed, number=40):
        return [mutant for _, mutant in zip(range(number), drawn(stage, seed))]

    def test_texts_differ_and_keep_their_lines(self):
        for stage in gemm_stages():
            for mutant in self.first(stage, 1):
                text = text_of(mutant.file)
                self.assertNotEqual(mutant.apply(text), text)
                self.assertEqual(mutant.apply(text).count("\n"), text.count("\n"), mutant)

    def test_seeds_reproduce_and_nothing_is_drawn_twice(self):
        for stage in ("sgemm/08_rectangular_tiles", "tsm/10_pipeline"):
            everything = list(drawn(stage, 7))
            self.assertEqual(everything, list(drawn(stage, 7)))
            self.assertNotEqual(everything[:25], self.first(stage, 8, 25))
            self.assertEqual(len(everything), len(set(everything)))
            self.assertEqual(len(everything), sum(map(len, mutants_in(stage).values())))

    def test_parts_are_drawn_from_and_probes_are_not(self):
        for stage, part in (
            ("sgemm/18_summit", "stages/summit/reduce.cuh"),
            ("tensorcore/10_presplit", "tensorcore/presplit/product.cuh"),
            ("tsm/09_generated", "tsm/generated/walk.cuh"),
        ):
            self.assertIn(part, {mutant.file for mutants in mutants_in(stage).values() for mutant in mutants})
        self.assertNotIn("tensorcore/05_scan", gemm_stages())


class Equivalence(unittest.TestCase):
    def test_every_proof_is_of_a_mutant(self):
        for proof in proofs.proofs():
            mutants = mutants_of(proof.file, text_of(proof.file)).get(proof.operator, [])
            self.assertTrue(any(proof.is_of(mutant) for mutant in mutants), f"{proof.file} has no longer {proof.line}")
            self.assertGreater(len(proof.proof), 40, "a proof is a sentence")

    def test_machine_code_is_the_same_wherever_it_stands(self):
        texts = {
            "as it is": "int f(int x) { return x + 1; }",
            "other lines and words": "\n\nint f(int y) {\n  return 1 + y; }",
            "another constant": "int f(int x) { return x + 2; }",
            "another call": "int g(int); int f(int x) { return g(x); }",
            "a third call": "int h(int); int f(int x) { return h(x); }",
            "one number": "double f(double x) { return x * 0.3; }",
            "another number": "double f(double x) { return x * 0.7; }",
        }
        codes = {}
        with tempfile.TemporaryDirectory() as name:
            for what, text in texts.items():
                source = pathlib.Path(name, f"{what.replace(' ', '_')}.cpp")
                source.write_text(text + "\n")
                subprocess.run(["g++", "-g", "-O1", "-c", source, "-o", f"{source}.o"], check=True)
                codes[what] = fingerprint(pathlib.Path(f"{source}.o"))
        self.assertEqual(codes.pop("other lines and words"), codes["as it is"])
        self.assertEqual(len(set(codes.values())), len(codes), codes)

    def test_the_program_of_a_probe_is_judged_by_how_it_ends(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / "program"
            for ends, passes in (("exit 0", True), ("echo wrong >&2; exit 1", False), ("kill -SEGV $$", False)):
                # It has no command `check`.
                program.write_text(f'#!/bin/sh\n[ "$1" = --check ] || exit 2\n{ends}\n')
                program.chmod(0o755)
                self.assertEqual(check(program, "probe", folder, 10)[0], passes, ends)
            program.write_text("#!/bin/sh\necho no device >&2; exit 2\n")
            self.assertEqual(check(program, "probe", folder, 10), (True, "not judged: no device"))

    def test_what_is_neither_rejected_nor_equivalent_is_missed(self):
        mutant = Mutant("stages/01_naive.cu", 1, "off by one", 0, 1, "")
        verdicts = [
            Verdict("sgemm/01_naive", mutant, outcome, "quick" if outcome == REJECTED else "", "", 1.0)
            for outcome in (REJECTED, REJECTED, REJECTED, SAME_CODE, PROVEN, MISSED)
        ]
        counted = count(verdicts)
        self.assertEqual((counted.drawn, counted.percent), (6, 75.0))
        self.assertAlmostEqual(counted.percent_proven, 100 / 6)
        self.assertEqual(survivors(verdicts).count("stages/01_naive.cu:1"), 2)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--per-stage", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    part, parts = map(int, os.environ.get("GEMM_SHARE", "1/1").split("/"))
    campaign = Campaign(options.build, options.seed, options.per_stage, os.cpu_count() or 1)
    # Of the others nobody has looked at the survivors yet.
    recorded = {each["stage"] for each in read_json(RECORD)["stages"]}
    programs = {file.name for file in (options.build / "bin").iterdir()}
    tried = [each for each in gemm_stages() if each in recorded and program_of(each) in programs]
    for _, verdicts in campaign.run(tried[part - 1 :: parts]):
        for verdict in verdicts:
            print(f"{verdict.stage}: {verdict.mutant.describe()}\n    {verdict.outcome} {verdict.by} {verdict.reason}")
    counted = count(verdict for verdicts in campaign.verdicts.values() for verdict in verdicts)
    print(f"{counted.rejected} of {counted.drawn} rejected, {counted.missed} missed, {campaign.seconds:.0f} s")
    return 0 if counted.drawn and counted.percent >= MINIMUM else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    sys.exit(main())
