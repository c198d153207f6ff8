#include "common/backend/counts.hpp"

#include <algorithm>
#include <limits>

namespace gemm {
namespace {

double ratio(double flops, double bytes) {
  return bytes > 0 ? flops / bytes : std::numeric_limits<double>::infinity();
}

void add(std::optional<std::uint64_t>& to, const std::optional<std::uint64_t>& from) {
  if (from) to = to.value_or(0) + *from;
}

}  // namespace

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  sectors += other.sectors;
  lines += other.lines;
  wavefronts += other.wavefronts;
  conflicts += other.conflicts;
  return *this;
}

Counts& Counts::operator+=(const Counts& other) {
  global_load += other.global_load;
  global_store += other.global_store;
  shared_load += other.shared_load;
  shared_store += other.shared_store;
  global_atomic += other.global_atomic;
  shared_atomic += other.shared_atomic;
  add(fma32, other.fma32);
  add(fma64, other.fma64);
  assumed_fmas += other.assumed_fmas;
  tensor_flops += other.tensor_flops;
  barriers += other.barriers;
  blocks += other.blocks;
  threads += other.threads;
  shared_bytes = std::max(shared_bytes, other.shared_bytes);
  return *this;
}

double Counts::fmas() const {
  return static_cast<double>(fma32 ? *fma32 + fma64.value_or(0) : assumed_fmas);
}
bool Counts::on_tensor_cores() const {
  return static_cast<double>(tensor_flops) > 2.0 * fmas();
}
double Counts::steps() const {
  constexpr double flops_of_mma = 2.0 * 16 * 8 * 16;
  if (on_tensor_cores() && !is_double) return static_cast<double>(tensor_flops) / flops_of_mma;
  return (is_double ? fmas() + static_cast<double>(tensor_flops) / 2 : fmas()) / 32;
}
double Counts::flops() const {
  return 2.0 * fmas() + static_cast<double>(tensor_flops);
}
double Counts::intensity_global() const {
  return ratio(flops(), 32.0 * static_cast<double>(global_load.sectors + global_store.sectors + global_atomic.sectors));
}
double Counts::intensity_shared() const {
  return ratio(flops(), 128.0 * static_cast<double>(shared_load.wavefronts + shared_store.wavefronts));
}
double Counts::intensity_register() const {
  return ratio(flops(),
               static_cast<double>(global_load.bytes + global_store.bytes + shared_load.bytes + shared_store.bytes));
}

double Counts::data_cycles() const {
  return static_cast<double>(global_load.wavefronts + global_store.wavefronts + shared_load.wavefronts +
                             shared_store.wavefronts);
}
double Counts::tag_cycles() const {
  return static_cast<double>(global_load.lines + global_store.lines) / 4.0;
}

}  // namespace gemm
