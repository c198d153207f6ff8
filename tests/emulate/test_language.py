#!/usr/bin/env python3
"""The language of a program on the CPU executor: what in_kernels.cu and language_forms.cu do, and what is refused.

usage: test_language.py BUILD
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator

from tools.emulate.build import Unbuildable, build

BUILD = pathlib.Path(sys.argv.pop()).absolute()
HERE = pathlib.Path(__file__).resolve().parent
# What in_kernels.cu prints, and what is said of it. Its lines that end with "// NAME" must be named, too.
IN_KERNELS = {
    "heap": ("17 6 13\n", []),
    "limit": ("8: 0 1 1\n", []),
    "behind": ("", ["out of bounds in behind_the_heap", "0 bytes past the end of an allocation of 8 bytes"]),
    "twice": ("", ["an allocation of 8 bytes that has been freed", "calls free()"]),
    "overlap": ("", ["data race in global memory in copies_two"]),
    "unread": ("", ["data race in shared memory in writes_what_nobody_reads, byte 0 of unread (64 bytes)"]),
    "early": ("", ["data race in shared memory in reads_early", "has not waited for that"]),
    "before": ("", ["out of bounds in reads_before, 4 bytes before an allocation of 64 bytes"]),
    "assert": (
        "cudaErrorAssert\n",
        ["void fails(int): block: [0,0,0], thread: [3,0,0] Assertion `threadIdx.x != 3 || n == 0` failed.\n"],
    ),
    "unasked": ("", ["error that nobody asked for, cudaErrorAssert", "calls cudaDeviceSynchronize()"]),
    "letter": ("", ["out of bounds in behind_a_letter", "past the end of x (4 bytes)"]),
    "neighbour": ("", ["out of bounds in into_another_kernels, 0 bytes past the end of tile (112 bytes)"]),
    "structs": ("", ["out of bounds in into_shared, 0 bytes past the end of tile (84 bytes)"]),
    "updates": ("", ["data race in shared memory in updates_after", "data race in global memory in updates_after"]),
    "trap": ("cudaErrorLaunchFailure\n", []),
    "print": ("0 of prints:  1.50 !\n2 of prints:  1.50 !\n", []),
}


def run(program: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], text=True, capture_output=True, timeout=60)


class Language(unittest.TestCase):
    def test_in_kernels(self) -> None:
        source = HERE / "in_kernels.cu"
        program = build(BUILD, [source], [], [])
        lines = source.read_text().splitlines()
        for name, (printed, said) in IN_KERNELS.items():
            with self.subTest(name):
                done = run(program, name)
                self.assertEqual(done.stdout, printed, done.stderr)
                self.assertEqual(done.stderr != "", bool(said), done.stderr)
                marked = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {name}")]
                for words in [*said, *(f"{source.name}:{number}" for number in marked)]:
                    self.assertIn(words, done.stderr)

    def test_forms(self) -> None:
        done = run(build(BUILD, [HERE / "language_forms.cu"], [], []))
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_each_is_refused_in_one_line(self) -> None:
        calls = ("__shfl(1, 0)", "__shfl_down(1, 1, 16)", "__ballot(1)", "__any(1)", "__all(1)")
        kernels = [f"__global__ void k{i}(int* out) {{ *out = {call}; }}" for i, call in enumerate(calls)]
        with tempfile.TemporaryDirectory() as folder:
            source, said = pathlib.Path(folder, "old.cu"), pathlib.Path(folder, "said")
            source.write_text("\n".join([*kernels, "int main() {}\n"]))
            with said.open("w") as file, errors_into(file.fileno()), self.assertRaises(Unbuildable):
                build(BUILD, [source], [], [])
            errors = said.read_text().splitlines()
        self.assertEqual(len(errors), len(calls), errors)
        for number, (call, error) in enumerate(zip(calls, errors, strict=True), 1):
            self.assertIn(f"old.cu:{number}:", error)
            self.assertIn(f"{call.split('(')[0]}_sync()", error)

    def test_what_is_not_there_is_told_in_one_line(self) -> None:
        ptx = 'int main() {}\n__device__ void f(int& x) {\n  asm volatile("mov.u32 %0, %%laneid;" : "=r"(x));\n}\n'
        many = "void f(cudaTextureObject_t);\nint main() { cudaArray_t a; cudaMallocArray(&a, 0, 4, 4); }\n"
        fragment = (
            "#include <mma.h>\n__device__ nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, int> f;\n"
        )
        unknown = "int f() {\n  cudaIpcMemHandle_t h;\n  return cudaIpcGetMemHandle(&h, 0) + __mat4(h);\n}\n"
        cluster = (
            "#include <cooperative_groups.h>\n__global__ void k() { cooperative_groups::this_cluster().sync(); }\n"
        )
        for text, error in (
            (ptx, "old.cu:3: error: the CPU executor has no inline PTX"),
            ('__device__ void f() { asm("trap;"); }\n', "old.cu:1: error: the CPU executor has no inline PTX"),
            ("texture<float> x;\nint main() {}\n", "old.cu:1: error: the CPU executor has no textures"),
            (many, "old.cu:1: error: the CPU executor has no textures"),
            (cluster, "old.cu:2: error: the CPU executor has no clusters"),
            ("__global__ void __cluster_dims__(2) k() {}\n", "old.cu:1: error: the CPU executor has no clusters"),
            ("\ncudaGraphNodeParams x;\n", "old.cu:2: error: the CPU executor has no cudaGraphAddNode()"),
            ("cudaGraphConditionalHandle x;\n", "old.cu:1: error: the CPU executor has no conditional nodes of graphs"),
            ("cudaExternalSemaphore_t x;\n", "old.cu:1: error: the CPU executor has no memory and semaphores of other"),
            (unknown, "old.cu:2: error: the CPU executor has no cudaIpcMemHandle_t, cudaIpcGetMemHandle, __mat4"),
            ("\n" + fragment, "old.cu:3: error: the CPU executor has no wmma::fragment of this kind"),
            ("int i = cudaDeviceProp{}.l3;\n", "old.cu:1: error: the CPU executor has no cudaDeviceProp::l3"),
            ("\n#include <cuda/barrier>\n#include <cuda/atomic>\n", "old.cu:2: error: the CPU executor has no libcu++"),
        ):
            with tempfile.TemporaryDirectory() as folder, self.subTest(error):
                source, said = pathlib.Path(folder, "old.cu"), pathlib.Path(folder, "said")
                source.write_text(text)
                with said.open("w") as file, errors_into(file.fileno()), self.assertRaises(Unbuildable):
                    build(BUILD, [source], [], [])
                (line,) = said.read_text().splitlines()
                self.assertIn(error, line)


@contextlib.contextmanager
def errors_into(file: int) -> Iterator[None]:
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


if __name__ == "__main__":
    unittest.main()
