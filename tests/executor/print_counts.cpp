// Runs the stages that are linked in once each and prints what the CPU executor counted, line by line:
//
//   print_counts M N K
#include "tests/executor/print_counts.hpp"

#include <cstdio>
#include <cstdlib>

#include "common/check/workbench.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  gemm::ProblemSpec spec;
  spec.m = std::atoi(argv[1]);
  spec.n = std::atoi(argv[2]);
  spec.k = std::atoi(argv[3]);
  spec.alpha = 1.5f;
  spec.beta = 0.5f;
  for (const gemm::Stage& stage : gemm::stages()) {
    if (stage.op != gemm::Operation::gemm) continue;
    spec.type = *stage.type;
    gemm::Workbench bench(spec);
    const gemm::Verdict verdict = bench.check(gemm::contender(stage));
    std::printf("%s %s %s\n", verdict.outcome == gemm::Outcome::pass ? "pass:" : "fail:", stage.id.c_str(),
                verdict.reason.c_str());
    gemm::print_counts(verdict.observation);
    if (verdict.outcome == gemm::Outcome::fail) return 1;
  }
  return 0;
}
