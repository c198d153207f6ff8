#!/usr/bin/env python3
"""Loops that access no memory, because g++ reads a plain flag once and before them: the race on the flag is told, and
the program ends. A thread that only computes is left alone, and so is one that waits for what a thread of the host will
write. A program that is stopped tells where it stood.

usage: test_endless.py BUILD
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).absolute()
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).resolve().parents[2]))
PROGRAM = r"""#include <unistd.h>
#include <cstdlib>
#include <mutex>
#include <thread>
__device__ int flag, done, data;
__global__ void shared_flag() {
  __shared__ int here;
  if (threadIdx.x == 0) here = 0;
  __syncthreads();
  if (threadIdx.x == 64) here = 1;  // shared_flag
  if (threadIdx.x < 64) while (here == 0) {}
}
__global__ void flag_of_block() {
  if (blockIdx.x == 1) atomicExch(&flag, 1);
  if (blockIdx.x == 0) while (flag == 0) {}  // flag_of_block
}
__global__ void computes(long steps) {
  if (blockIdx.x == 1) {
    unsigned x = 1;
    for (long i = 0; i < steps; ++i) x = x * 1664525 + (x >> 3);  // stopped
    data = x;
    __threadfence();
    atomicExch(&done, 1);
  } else {
    while (atomicAdd(&done, 0) == 0) {}  // waits
    __threadfence();
    data += 1;
  }
}
__global__ void for_host(volatile int* flag, int* data) {
  while (*flag == 0) {}  // for_host
  __threadfence_system();
  *data += 1;
}
int waits_for_host(bool sleeps) {
  int* data;
  cudaMallocManaged(&data, 2 * sizeof(int));
  volatile int* flag = data + 1;
  *flag = 0;
  for_host<<<1, 1>>>(flag, data);
  std::mutex forever;
  forever.lock();
  std::thread writer([&] {
    sleeps ? (void)sleep(7) : forever.lock();
    *data = 1;
    *flag = 1;
  });
  const cudaError_t error = cudaDeviceSynchronize();
  forever.unlock();
  writer.join();
  return error || *data != 2;
}
int main(int, char** arguments) {
  const int which = std::atoi(arguments[1]);
  if (which == 0) shared_flag<<<1, 96>>>();
  if (which == 1) flag_of_block<<<2, 1>>>();
  if (which < 0) return waits_for_host(which == -1);
  if (which >= 2) computes<<<2, 1>>>(which * 1000L * 1000);
  return cudaDeviceSynchronize();
}
"""


class Endless(unittest.TestCase):
    def emulate(self, argument: int, *options: str) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "endless.cu")
            source.write_text(PROGRAM)
            command = [sys.executable, "-B", "-m", "tools.emulate", "--build", BUILD, source, *options, "--", argument]
            words = [str(word) for word in command]
            done = subprocess.run(words, env=ENVIRONMENT, text=True, capture_output=True, timeout=300)
        return done.returncode, done.stderr.splitlines()

    def place_of(self, mark: str) -> str:
        return f"endless.cu:{next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(f'// {mark}'))}"

    def test_flags_that_are_read_once(self) -> None:
        for argument, mark in enumerate(("shared_flag", "flag_of_block")):
            with self.subTest(mark):
                status, said = self.emulate(argument)
                self.assertEqual(status, 1)
                race, deadlock = sorted(said)
                self.assertRegex(race, rf"^simt: data race in .* in {mark}, .*{self.place_of(mark)}\b")
                self.assertRegex(deadlock, rf"^simt: deadlock in {mark}, a loop without an access to memory")

    def test_who_computes_is_no_deadlock(self) -> None:
        self.assertEqual(self.emulate(2000), (0, []))

    def test_threads_of_the_host(self) -> None:
        self.assertEqual(self.emulate(-1), (0, []))
        status, said = self.emulate(-2)  # the thread that would write waits itself
        self.assertEqual(status, 1)
        self.assertRegex(said[0], rf"^simt: deadlock in for_host, .*{self.place_of('for_host')}\b")

    def test_stopped(self) -> None:
        status, said = self.emulate(1_000_000, "--timeout", "3")
        self.assertEqual((status, said[0]), (1, "simt: stopped after 3 s (--timeout)"))
        computing = rf"\(1, 0, 0\) at .*{self.place_of('stopped')}"
        waiting = rf"\(0, 0, 0\) at .*{self.place_of('waits')}"  # if it was looking for a moment
        self.assertRegex(said[1], rf"^simt: stopped in computes: .* of block ({computing}|{waiting})$")


if __name__ == "__main__":
    unittest.main()
