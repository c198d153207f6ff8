#!/usr/bin/env python3
"""./lab emulate: its command line, what it prints where, its exit statuses; what is rewritten, wherever it stands.

usage: test_emulate.py BUILD
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).absolute()
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = r"""#include "scale.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void fill(float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i;
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 64;
  float* device = nullptr;
  cudaMalloc(&device, 64 * sizeof(float));
  fill<<<2, 32>>>(device, n);
  FILLED_BY(scale, 2, 32, device, n);
  float host[64];
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", host[1], host[63]);
  std::fprintf(stderr, "said by the program\n");
  if (argc > 2 && !std::strcmp(argv[2], "forever")) for (volatile int i = 0;; i = i + 1) {}
  if (argc > 2) return std::atoi(argv[2]);
}
"""
HEADER = r"""#pragma once
#define FILLED_BY(kernel, blocks, threads, ...) \
  kernel<(2 > 1), int><<<blocks, threads, sizeof(float[threads])>>>(__VA_ARGS__)
template <bool twice, class T>
__global__ void scale(float* to, T n) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? to[i] : 0;
  __syncthreads();
  if (i < n) to[i] = FACTOR * tile[threadIdx.x];
}
"""

LOCK = r"""#include <cstdio>
__device__ int lock;
__global__ void add(int* sum) {
  while (atomicCAS(&lock, 0, 1) != 0) {}
  if (blockIdx.x == 1) __threadfence();
  *sum += blockIdx.x + 1;
  __threadfence();
  atomicExch(&lock, 0);
}
int main() {
  int *sum, host = 0;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  add<<<2, 1>>>(sum);
  cudaMemcpy(&host, sum, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", host);
  return cudaFree(sum);
}
"""

OPENMP = r"""#include <cstdio>
#include <omp.h>
__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
int main() {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    int *device, host[64];
    cudaMalloc(&device, sizeof(host));
    fill<<<1, 64>>>(device, 1 + omp_get_thread_num());
    cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost);
    for (int x : host) sum += x;
    cudaFree(device);
  }
  std::printf("%d\n", sum);
}
"""


class Emulate(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "include").mkdir()
        (self.folder / "include/scale.hpp").write_text(HEADER)
        self.write("program.cu", PROGRAM)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def emulate(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", "-m", "tools.emulate", "--build", BUILD, *words]
        return subprocess.run(
            [str(word) for word in command], cwd=self.folder, env=ENVIRONMENT, text=True, capture_output=True
        )

    def run_program(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.emulate("program.cu", "-Iinclude", "-D", "FACTOR=3", *words)

    def test_output_and_status_are_the_programs(self) -> None:
        done = self.run_program()
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("3 189\n", "said by the program\n", 0))
        done = self.run_program("--", "64", "7")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("3 189\n", "said by the program\n", 7))

    def test_lines_of_headers_and_macros(self) -> None:
        self.write(
            "program.cu", PROGRAM.replace("64 * sizeof", "60 * sizeof").replace("(device, n);", "(device, 60);", 1)
        )
        done = self.run_program("--json", "report.json", "--", "64", "3")
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["status"], 3)  # the program's own
        places = [(pathlib.Path(place["file"]).name, place["line"]) for d in report["defects"] for place in d["places"]]
        wrong = HEADER.splitlines().index("  tile[threadIdx.x] = i < n ? to[i] : 0;") + 1
        copy = PROGRAM.splitlines().index("  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);") + 1
        # The copy is refused before the kernels that it would have waited for run.
        self.assertEqual(places, [("program.cu", copy), ("scale.hpp", wrong)])
        self.assertIn(
            "out of bounds in scale<true, int>, 0 bytes past the end of an allocation of 240 bytes", done.stderr
        )

    def test_counts(self) -> None:
        done = self.run_program("--count")
        self.assertRegex(done.stderr, r"scale<true, int>: a launch of 2 blocks of 32 threads\n")
        self.assertRegex(done.stderr, r"shared store +2 +256 +0 +2 +0\n")
        self.run_program("--json", "report.json")
        fill, scale = json.loads((self.folder / "report.json").read_text())["kernels"]
        self.assertEqual(fill["accesses"], {"global store": scale["accesses"]["global store"]})
        self.assertEqual(scale["accesses"]["global load"]["sectors"], 8)
        self.assertEqual((scale["barriers"], scale["dynamic_shared"]), (2, 128))

    def test_what_is_kept_follows_its_headers(self) -> None:
        self.assertEqual(self.run_program().stdout, "3 189\n")
        (self.folder / "include/scale.hpp").write_text(HEADER.replace("FACTOR *", "2 *"))
        self.assertEqual(self.run_program().stdout, "2 126\n")

    def test_another_order(self) -> None:
        """Who takes the lock first learns nothing by it: that block 0 does not fence shows only if it comes second."""
        self.write("lock.cu", LOCK)
        done = self.emulate("lock.cu", "--json", "report.json")
        self.assertEqual((done.stdout, done.returncode), ("3\n", 1), done.stderr)
        line = LOCK.splitlines().index("  *sum += blockIdx.x + 1;") + 1
        for text in done.stderr.splitlines():
            self.assertRegex(text, rf"^simt: data race .*lock\.cu:{line}.* \(blocks and warps in another order\)$")
        (defect, *_) = json.loads((self.folder / "report.json").read_text())["defects"]
        self.assertEqual({place["line"] for place in defect["places"]}, {line})
        self.write("lock.cu", LOCK.replace("blockIdx.x == 1", "true"))
        done = self.emulate("lock.cu")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("3\n", "", 0))

    def test_openmp(self) -> None:
        self.write("openmp.cu", OPENMP)
        done = self.emulate("-fopenmp", "openmp.cu")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("384\n", "", 0))  # 64 * (1 + 2 + 3)

    def test_c_that_includes_cuda(self) -> None:
        self.write(
            "made.c",
            "#include <cuda_runtime.h>\n#include <stdlib.h>\nint main(void) {\n"
            "  int *a = malloc(4), *on_device;\n  cudaMalloc((void**)&on_device, 4);\n"
            "  cudaMemset(on_device, 0, 4);\n  cudaMemcpy(a, on_device, 4, cudaMemcpyDeviceToHost);\n"
            "  cudaFree(on_device);\n  return *a;\n}\n",
        )
        done = self.emulate("made.c")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_a_library_of_the_hosts(self) -> None:
        self.write("three.c", "int three(void) { return 3; }\n")
        for command in (["gcc", "-c", "three.c"], ["ar", "rc", "libthree.a", "three.o"]):
            subprocess.run(command, cwd=self.folder, check=True)
        self.write("uses.cu", 'extern "C" int three();\nint main() { return three(); }\n')
        done = self.emulate("uses.cu", "-L", ".", "-lthree")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 3))

    def test_stopped(self) -> None:
        done = self.run_program("--timeout", "2", "--", "64", "forever")
        self.assertEqual(done.returncode, 1)
        self.assertIn("simt: stopped after 2 s (--timeout)\n", done.stderr)

    def test_bad_input(self) -> None:
        self.write("broken.cu", "int main() { return what; }\n")
        self.write("no_main.cu", "__global__ void k() {}\n")
        self.write("undefined.cu", "int missing(int);\nint main() { return missing(1); }\n")
        self.write("openmp.cu", OPENMP)
        self.write("note.txt", "int main() {}\n")
        self.write("host.cpp", "int main() { return 3; }\n")
        self.assertEqual(self.emulate("host.cpp").returncode, 3)
        for words, said in (
            ((), "error: the following arguments are required: FILE\n"),
            (("none.cu",), "error: no file 'none.cu'\n"),
            (("include",), "error: 'include' is a folder: name the program's files\n"),
            (("note.txt",), "error: 'note.txt' is none of .cu, .cpp, .cc, .cxx, .c\n"),
            (("program.cu", "host.cpp", "./program.cu"), "error: 'program.cu' is named twice\n"),
            (("program.cu", "-I", "nowhere"), "error: no folder 'nowhere' (-I)\n"),
            (("program.cu", "-D", "FACTOR=3"), "error: program.cu: does not compile\n"),  # without its header
            (("no_main.cu",), "error: no main() in no_main.cu\n"),
            (("undefined.cu",), "error: undefined.cu: nothing there defines missing(int)\n"),
            (
                ("openmp.cu",),
                "error: openmp.cu: nothing there defines omp_get_thread_num (-fopenmp brings OpenMP)\n",
            ),
            (("program.cu", "-L", "nowhere"), "error: no folder 'nowhere' (-L)\n"),
            (("host.cpp", "-lnone_such"), "error: host.cpp: does not link: no library -lnone_such\n"),
            (("program.cu", "--sample", "0"), "error: --sample takes a number of blocks, 1 or more\n"),
            (("program.cu", "--sample", "x"), "error: argument --sample: invalid int value: 'x'\n"),
            (("program.cu", "--timeout", "-1"), "error: --timeout takes seconds; 0: no limit\n"),
            (("program.cu", "--timeout", "nan"), "error: --timeout takes seconds; 0: no limit\n"),
            (("program.cu", "--json", "no/where.json"), "error: can't write no/where.json: no such folder\n"),
            (("program.cu", "--what"), "error: unrecognized arguments: --what\n"),
            (("broken.cu",), "error: broken.cu: does not compile\n"),
        ):
            done = self.emulate(*words)
            self.assertEqual((done.stdout, done.returncode), ("", 2), (words, done))
            self.assertTrue(done.stderr.endswith(said), (words, done.stderr))
            if "does not compile" not in said:  # where g++ says more
                self.assertRegex(done.stderr, r"\A(usage: .*\n( .*\n)*)?error: .*\n\Z")
        self.assertIn("broken.cu:1:21: error: ", done.stderr)  # the author's line


if __name__ == "__main__":
    unittest.main()
