// The part of common/check/compare.hpp that needs no device. (Apart from compare.cu also because nvcc can't compile fmt
// 9 as C++20.)
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/check/compare.hpp"

namespace gemm {

double tolerance(Accuracy accuracy, std::int64_t k) {
  return 4.0 * unit_roundoff(accuracy) * std::sqrt(static_cast<double>(std::max<std::int64_t>(k, 1)));
}

std::string Comparison::reason() const {
  if (passed()) return {};
  const double seen = std::isnan(got) ? std::abs(got) : got;  // a sign of NaN says nothing
  if (unwritten > 0)
    return fmt::format("{0} elements of {1} were never written, {1}({2}, {3}) among them", unwritten, result, worst_row,
                       worst_col);
  if (wrong > 0 && exact) {
    return fmt::format("{}({}, {}) is {:.{}g}, should be {:.{}g}; {} of {} elements are wrong", result, worst_row,
                       worst_col, seen, digits, expected, digits, wrong, elements);
  }
  if (wrong > 0 || !(max_ratio <= 1.0)) {
    return fmt::format("{}({}, {}) is {:.{}g}, should be {:.{}g} ({:.3g} times its bound); {} wrong in all", result,
                       worst_row, worst_col, seen, digits, expected, digits, max_ratio, wrong);
  }
  return fmt::format("Frobenius residual {:.3g} is {:.3g} times its bound", frobenius, frobenius_ratio);
}

}  // namespace gemm
