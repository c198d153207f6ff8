#!/usr/bin/env python3
"""The executor as a CMake package: a project that knows nothing of this one finds it, where it is installed, and
its CUDA program of two files runs, is looked at, and has its mistake named.

usage: test_package.py BUILD
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop())
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES CXX)
find_package(staged_simt REQUIRED)
simt_add_executable(squares main.cu kernel.cu)
target_compile_definitions(squares PRIVATE NUMBERS=1000)
"""
HEADER = """#pragma once
void square(float* numbers, int n);
extern __device__ int calls;
"""
KERNEL = """#include "kernel.hpp"
__device__ int calls;
__global__ void square_all(float* numbers, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] *= numbers[i];
  if (i == 0) ++calls;
}
void square(float* numbers, int n) {
  square_all<<<(n + 127) / 128, 128>>>(numbers, n);
}
"""
MAIN = """#include <cstdio>
#include <vector>
#include "kernel.hpp"
int main(int argc, char**) {
  std::vector<float> host(NUMBERS, 3);
  float* device = nullptr;
  cudaMalloc(&device, NUMBERS * sizeof(float));
  cudaMemcpy(device, host.data(), NUMBERS * sizeof(float), cudaMemcpyHostToDevice);
  square(device, NUMBERS + argc - 1);
  cudaMemcpy(host.data(), device, NUMBERS * sizeof(float), cudaMemcpyDeviceToHost);
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  std::printf("%g %g %d\\n", host.front(), host.back(), count);
  cudaFree(device);
}
"""


def run(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


class Package(unittest.TestCase):
    def test_outside(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run("cmake", "--install", BUILD, "--component", "staged_simt", "--prefix", folder / "prefix")
            (folder / "CMakeLists.txt").write_text(PROJECT)
            for file, text in (("kernel.hpp", HEADER), ("kernel.cu", KERNEL), ("main.cu", MAIN)):
                (folder / file).write_text(text)
            run("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")
            run("cmake", "--build", folder / "build", "-j2")
            report = folder / "report.json"
            program = [folder / "build/squares"]
            environment = dict(os.environ, SIMT_JSON=str(report))
            done = subprocess.run(program, text=True, capture_output=True, env=environment)
            self.assertEqual((done.stdout, done.stderr, done.returncode), ("9 9 1\n", "", 0))
            (kernel,) = json.loads(report.read_text())["kernels"]
            self.assertEqual((kernel["kernel"], kernel["launches"]), ("square_all", 1))
            # One of 1000 numbers too many, in the line of the kernel.
            done = subprocess.run([*program, "more"], text=True, capture_output=True)
            self.assertEqual(done.returncode, 1)
            line = KERNEL.splitlines().index("  if (i < n) numbers[i] *= numbers[i];") + 1
            self.assertRegex(done.stderr, rf"^simt: out of bounds in square_all, .* at \S*kernel\.cu:{line}\n$")
            # Who changes a header builds what includes it.
            (folder / "kernel.hpp").write_text(HEADER + "#error changed\n")
            done = subprocess.run(["cmake", "--build", folder / "build"], text=True, capture_output=True)
            self.assertIn("#error changed", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
