// Runs one of the kernels of prototype_kernels.cu once, for tools/measure/counts.py:
//
//   prototype WHICH N [--count --json -]     WHICH: 0 to 6; A, B and C are N x N, N a multiple of 128; alpha = 1.5,
//   beta = 0.5
//
// Prints pass or fail; with --count --json -, which needs the CPU executor, the counts as JSON. Exit status 0 for pass,
// 1 for fail, 2 for bad usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/backend/device.hpp"
#include "common/check/workbench.hpp"
#include "common/commands/program.hpp"
#include "common/problem/shapes.hpp"
#include "common/report/count_json.hpp"
#include "common/report/files.hpp"
#include "common/report/json.hpp"
#include "tests/executor/print_counts.hpp"
#include "tests/executor/prototype_kernels.hpp"

namespace {

using namespace gemm;

int run(int which, int size, bool count, const std::string& json) {
  if (size % 128 != 0) throw UsageError("N must be a multiple of 128");
  open_device();
  ProblemSpec spec = parse_shape(std::to_string(size));
  spec.alpha = 1.5f;
  spec.beta = 0.5f;
  Contender contender;
  contender.id = prototype_name(which);
  contender.launch = [which](const SgemmProblem& p, cudaStream_t s) { return launch_prototype(which, p, s); };
  const Verdict verdict = Workbench(spec).check(contender);
  if (verdict.outcome != Outcome::pass) {
    std::fprintf(stderr, "fail: %s: %s\n", contender.id.c_str(), verdict.reason.c_str());
    return 1;
  }
  const auto counts = count ? counts_of(verdict.observation) : std::nullopt;
  if (count && !counts) throw DeviceError("the CPU executor counts, and this is no build for it");
  if (counts && !json.empty()) {
    write_text(json, Json{{"title", contender.id}, {"counts", to_json(*counts)}}.dump() + "\n");
  } else {
    std::printf("pass: %s (inspected in %.2f s)\n", contender.id.c_str(), verdict.observation.seconds);
    print_counts(verdict.observation);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("one of the kernels with known counts");
  int which = 0, size = 0;
  bool count = false;
  std::string json;
  app.add_option("which", which)->required()->check(CLI::Range(0, prototype_count - 1));
  app.add_option("n", size)->required()->check(CLI::PositiveNumber);
  app.add_flag("--count", count, "count");
  app.add_option("--json", json, "where to");
  return run_program(app, argc, argv, [&] { return run(which, size, count, json); });
}
