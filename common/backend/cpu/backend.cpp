// What the harness asks of a back end, answered for the CPU executor.
#include <fmt/format.h>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/backend/timing.hpp"
#include "common/check/contender.hpp"
#include "common/simt/run/executor.hpp"

namespace gemm {

const DeviceInfo& open_device() {
  static const DeviceInfo info = [] {
    if (const std::string why = simt::oversized_shared_variable(); !why.empty()) throw StageError(why);
    DeviceInfo device;
    device.name = fmt::format("CPU executor, {} worker{}", simt::worker_count(), simt::worker_count() == 1 ? "" : "s");
    device.sm_count = static_cast<int>(simt::worker_count());
    return device;
  }();
  return info;
}

std::optional<KernelResources> kernel_resources(const void*) {
  return std::nullopt;
}

const std::vector<Contender>& baselines(Type) {
  static const std::vector<Contender> none;
  return none;
}

namespace {
[[noreturn]] void no_clock() {
  throw DeviceError("no device to time on: the CPU executor checks, and can't tell a GPU's speed");
}
}  // namespace

TimingRun time_in_turns(const std::vector<Work>&, const TimingOptions&, const std::function<void()>&) {
  no_clock();
}
double time_launches(const Work&, int) {
  no_clock();
}

std::optional<Ceilings> measure_ceilings() {
  return std::nullopt;
}

}  // namespace gemm
