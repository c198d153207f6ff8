#include "common/report/probe_report.hpp"

#include <fmt/format.h>

#include "common/kernel/status.hpp"
#include "common/report/result_json.hpp"

namespace gemm {

std::string significant(double x, int digits) {
  return fmt::format("{:.{}g}", x, digits);
}

std::string decimals(double x, int digits) {
  return fmt::format("{:.{}f}", x, digits);
}

void add_times(Json& result, const TimingRun& run) {
  result["time_ms"] = to_json(run.samples[0]);
  result["state"] = to_json(run.state);
}

TimingRun time_probe(const Work& work) {
  TimingOptions options;
  options.seconds = 0.02;
  options.min_samples = 3;
  return time_in_turns({work}, options, {});
}

std::vector<CompiledKernel> compile_probe(const std::string& file) {
  const auto toolchain = find_toolchain();
  if (!toolchain || toolchain->nvdisasm.empty())
    throw UsageError("machine code needs nvcc and nvdisasm, and there is no " +
                     std::string(toolchain ? "nvdisasm" : "nvcc") + " here");
  return compile_kernels(*toolchain, file, GEMM_SOURCE_DIR);
}

}  // namespace gemm
