// Runs one of the kernels of prototype_kernels.cu once, for a profiler to look at:
//
//   prototype WHICH N      WHICH: 0 to 6; A, B and C are N x N, N a multiple of 128; alpha = 1.5, beta = 0.5
//
// Prints pass or fail and, on the CPU executor, what was counted. Exit status 0 for pass, 1 for fail, 2 for bad usage.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/device.hpp"
#include "common/workbench.hpp"
#include "tests/print_counts.hpp"
#include "tests/prototype_kernels.hpp"

namespace {

int number(const char* text) {
  std::size_t used = 0;
  const int value = std::stoi(text, &used);
  if (text[used] != '\0' || value < 0) throw std::invalid_argument(text);
  return value;
}

int run(int which, int size) {
  gemm::open_device();
  gemm::ProblemSpec spec;
  spec.m = spec.n = spec.k = size;
  spec.alpha = 1.5f;
  spec.beta = 0.5f;
  gemm::Workbench bench(spec);
  gemm::Contender contender;
  contender.id = gemm::prototype_name(which);
  contender.launch = [which](const gemm::SgemmProblem& p, cudaStream_t s) {
    return gemm::launch_prototype(which, p, s);
  };
  const gemm::Verdict verdict = bench.check(contender);
  if (verdict.outcome != gemm::Outcome::pass) {
    std::printf("fail: %s: %s\n", contender.id.c_str(), verdict.reason.c_str());
    return 1;
  }
  std::printf("pass: %s\n", contender.id.c_str());
  gemm::print_counts(verdict.observation);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::invalid_argument("");
    const int which = number(argv[1]), size = number(argv[2]);
    if (which >= gemm::prototype_count || size == 0 || size % 128 != 0) throw std::invalid_argument("");
    return run(which, size);
  } catch (const std::logic_error&) {  // of std::stoi, or ours
    std::fprintf(stderr, "usage: %s WHICH N    WHICH: 0 to %d, N: a multiple of 128\n", argv[0],
                 gemm::prototype_count - 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 2;
}
