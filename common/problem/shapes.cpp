#include "common/problem/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <random>

#include "common/kernel/status.hpp"

namespace gemm {

ProblemSpec parse_shape(const std::string& text) {
  std::int64_t sizes[3] = {};
  int count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  bool complete = false;  // the text ended behind a number
  while (count < 3 && !complete) {
    const auto [next, error] = std::from_chars(at, end, sizes[count]);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (error != std::errc() || sizes[count] < 0 || (count < 2 && sizes[count] > most)) break;
    ++count;
    complete = next == end;
    if (!complete && *next != 'x') break;
    at = next + 1;
  }
  if (!complete || count == 2) throw UsageError("a shape is N or MxNxK, not '" + text + "'");
  if (count == 1) sizes[1] = sizes[2] = sizes[0];
  ProblemSpec spec;
  spec.m = static_cast<int>(sizes[0]);
  spec.n = static_cast<int>(sizes[1]);
  spec.k = sizes[2];
  return spec;
}

const std::vector<std::string>& standard_shapes() {
  static const std::vector<std::string> all = {
      "256",           "512",           "1000",           "1023",         "1024",
      "2047",          "2048",          "3000",           "4095",         "4096",
      "4097",          "8192",          "16384",          "4096x4096x64", "128x128x65536",
      "65536x128x128", "1024x8192x512", "8192x1024x4096", "333x777x1555", "64x64x1048576"};
  return all;
}

const std::vector<std::string>& calibration_shapes() {
  static const std::vector<std::string> all = {"256",           "512",           "1000",        "1024", "2048",
                                               "4095",          "4096",          "4097",        "8192", "333x777x1555",
                                               "128x128x65536", "65536x128x128", "4096x4096x64"};
  return all;
}

std::vector<std::string> sweep_shapes(int step) {
  constexpr int dense = 4096, last = 8192, coarse = 512;
  if (step < 16 || step > dense) throw UsageError(fmt::format("a sweep's step must be 16 to {}, not {}", dense, step));
  std::vector<std::string> shapes;
  for (int size = step; size <= dense; size += step) shapes.push_back(std::to_string(size));
  for (int size = dense + std::max(step, coarse); size <= last; size += std::max(step, coarse))
    shapes.push_back(std::to_string(size));
  return shapes;
}

std::vector<std::string> random_shapes(std::uint64_t seed) {
  constexpr std::uint64_t least = 200, most = 8192;
  std::mt19937_64 engine(seed);  // the standard fixes what it yields
  const auto size = [&] { return least + engine() % (most - least + 1); };
  std::vector<std::string> shapes;
  for (int i = 0; i < 10; ++i) {
    const auto m = size(), n = size(), k = size();
    shapes.push_back(fmt::format("{}x{}x{}", m, n, k));
  }
  return shapes;
}

}  // namespace gemm
