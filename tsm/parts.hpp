// Stage 08: the blocks that an SM has room for, and the parts of C that they leave.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/problem/problem.hpp"
#include "tsm/tiles.hpp"

namespace gemm::tiles {

/// Blocks per SM that the registers allow, as in 07: sums, the words of two rows, and 38 more.
template <class T>
constexpr int blocks(int tm, int tn) {
  const int registers = static_cast<int>(sizeof(T) / 4) * (tm * tn + 2 * (tm + tn)) + 38;
  return std::min(65536 / (std::min(registers, 255) * THREADS), 16);
}

/// Bytes of the parts, one of C for each chunk of K. A slice has at least ROWS rows. REAL, COMPLEX: the tiles of a type.
template <auto& REAL, auto& COMPLEX, int ROWS>
std::size_t bytes_of_parts(const Problem& p) {
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), sms = device_limits().multiprocessors;
  const Cut cut = p.type == Type::f64 ? choose(REAL, m, n).cut(m, n, sms) : choose(COMPLEX, m, n).cut(m, n, sms);
  return p.result_bytes() * cut.chunks(p.k, ROWS);
}

/// Rows that a slice reads one after another.
template <auto& TILES, int ROWS>
double rows_of_slice(int m, int n, std::int64_t k, int sms) {
  const Cut cut = choose(TILES, m, n).cut(m, n, sms);
  return static_cast<double>(k) / std::max(cut.chunks(k, ROWS) * cut.slices, 1);
}

}  // namespace gemm::tiles
