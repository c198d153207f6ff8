// What tests/executor/test_half.cpp runs on the device: conversions and arithmetic of __half and __nv_bfloat16, as bits.
#pragma once

#include <cstdint>
#include <vector>

namespace gemm::half_test {

enum class Format { half, bfloat16 };
enum class Direction { nearest, zero, down, up };

/// All 65536 numbers as floats.
std::vector<float> widen_all(Format format);

/// Each float rounded in the given direction.
std::vector<std::uint16_t> narrow(Format format, Direction direction, const std::vector<float>& numbers);

/// All 65536 numbers rounded to int, and each int rounded to the format.
std::vector<int> all_to_int(Format format, Direction direction);
std::vector<std::uint16_t> from_int(Format format, Direction direction, const std::vector<int>& numbers);

/// Of each triple of bits, in this order: a + b, a - b, a * b, a / b, fma(a, b, c), max(a, b), min(a, b), |a|, -a.
constexpr int results_per_triple = 9;
/// Bits 0 to 5 of this: a == b, a != b, a < b, a <= b, a > b, a >= b.
struct Arithmetic {
  std::vector<std::uint16_t> results;
  std::vector<int> comparisons;
  /// The same, computed two at a time: pairs (a, b) and (b, a); the sums of both elements and so on, interleaved:
  /// a + b, b + a, a * b, b * a, fma(a, b, c), fma(b, a, c).
  std::vector<std::uint16_t> pairs;
};
constexpr int results_of_pairs = 6;
Arithmetic arithmetic(Format format, const std::vector<std::uint16_t>& triples);

/// 32-bit patterns of x rounded to tf32: by common/kernel/ptx.cuh, then by nvcuda::wmma. sm_80.
std::vector<std::uint32_t> to_tf32(const std::vector<float>& numbers);

/// Conversions of pairs: for (x, y), the low and high float of __floats2half2_rn and of __float22half2_rn, swapped by
/// __lowhigh2highlow, then both parts taken apart and put together again by __halves2half2: 6 floats.
std::vector<float> convert_pair(Format format, float x, float y);

}  // namespace gemm::half_test
