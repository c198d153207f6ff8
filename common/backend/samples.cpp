#include <algorithm>
#include <cmath>

#include "common/backend/timing.hpp"

namespace gemm {
namespace {

// The nearest-rank quantile.
double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace

double Samples::median() const {
  if (ms.empty()) return 0.0;
  std::vector<double> sorted = ms;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

double Samples::min() const {
  return quantile(ms, 0.0);
}
double Samples::p90() const {
  return quantile(ms, 0.9);
}

std::string throttle_text(unsigned long long reasons) {
  // The bits of nvmlDeviceGetCurrentClocksEventReasons, NVML API reference.
  static constexpr std::pair<unsigned long long, const char*> names[] = {
      {0x2, "application clocks"},   {0x4, "SW power cap"},         {0x8, "HW slowdown"},     {0x10, "sync boost"},
      {0x20, "SW thermal slowdown"}, {0x40, "HW thermal slowdown"}, {0x80, "HW power brake"}, {0x100, "display clocks"},
  };
  std::string text;
  for (const auto& [bit, name] : names) {
    if (reasons & bit) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

}  // namespace gemm
