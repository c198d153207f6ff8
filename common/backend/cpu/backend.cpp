// What the harness asks of a back end, answered for the CPU executor.
#include <fmt/format.h>

#include "common/backend/ceilings.hpp"
#include "common/backend/device.hpp"
#include "common/backend/named_matrix.hpp"
#include "common/backend/timing.hpp"
#include "common/check/contender.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/observe/global_memory.hpp"
#include "common/simt/run/executor.hpp"
#include "common/simt/run/shared_limits.hpp"

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

const CurrentDevice& current_device() {
  open_device();
  static const CurrentDevice executor;
  return executor;
}

std::optional<KernelResources> kernel_resources(const void*) {
  return std::nullopt;
}

std::string kernel_name(const void* kernel) {
  return simt::function_at(reinterpret_cast<std::uintptr_t>(kernel)).name;
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
TimingRun time_back_to_back(const Work&, const TimingOptions&) {
  no_clock();
}
double time_launches(const Work&, int) {
  no_clock();
}

namespace {
simt::MatrixPlace place_of(const NamedMatrix& matrix, const std::string& why) {
  const auto first = reinterpret_cast<std::uintptr_t>(matrix.first);
  return {matrix.name, first, matrix.rows, matrix.cols, matrix.ld, matrix.element_bytes, why.empty() ? "" : ": " + why};
}
}  // namespace

void name_matrix(const NamedMatrix& matrix) {
  simt::GlobalMemory::instance().name(place_of(matrix, ""));
}

void forbid_reading(const NamedMatrix& matrix, const std::string& why) {
  auto& memory = simt::GlobalMemory::instance();
  const simt::MatrixPlace place = place_of(matrix, why);
  memory.name(place);
  if (!why.empty()) return memory.mark_unwritten(place.first, place.end() - place.first);
  const std::size_t row = matrix.cols * matrix.element_bytes,
                    padding = (matrix.ld - matrix.cols) * matrix.element_bytes;
  for (std::int64_t r = 0; padding > 0 && r < matrix.rows - 1; ++r)
    memory.mark_unwritten(place.first + r * (row + padding) + row, padding);
}

bool allocate_sparse(NamedMatrix& matrix) {
  simt::MatrixPlace place = place_of(matrix, "");
  if (!simt::GlobalMemory::instance().allocate_sparse(place)) return false;
  matrix.first = reinterpret_cast<const void*>(place.first);
  return true;
}

std::optional<Ceilings> measure_ceilings() {
  return std::nullopt;
}

}  // namespace gemm
