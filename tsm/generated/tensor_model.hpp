// Which of the kernels for FP64 Tensor Cores to take for a problem: a model of an SM's time for a row of K.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/problem/kernel_options.hpp"
#include "tsm/generated/chunks.cuh"
#include "tsm/generated/pipeline_model.hpp"
#include "tsm/generated/tensor_costs.hpp"

namespace gemm::generated {

/// Warps that C takes, each with one tile; of a Gram matrix, the tiles that reach above its diagonal.
inline int places_of_tensor(int m, int n, const KernelOptions& o, bool gram) {
  const int tall = std::max(o.tile_m / 16, 1) * 16, wide = std::max(o.tile_n / 8, 1) * 8;
  const int along_m = ceil_div(m, tall), along_n = ceil_div(n, wide);
  return gram ? tiles_above(along_m, along_n, tall, wide) : along_m * along_n;
}

/// What follows from M, N and options. A warp has tile_m x tile_n elements of C, whole fragments of 16 x 8; `unroll` is the
/// number of times that each slice has four rows of a stage.
struct TensorShape {
  int fm, fn, places, slices, turns, rows, stage_bytes, sum_bytes, registers, resident;

  /// gram: B is A.
  TensorShape(int m, int n, bool is_complex, const KernelOptions& o, bool gram = false)
      : fm(std::max(o.tile_m / 16, 1)),
        fn(std::max(o.tile_n / 8, 1)),
        places(places_of_tensor(m, n, o, gram)),
        slices(o.threads / 32 / places) {
    const int words = is_complex ? 2 : 1, fragment = 8 * words, operands = 2 * (2 * fm + fn) * 2 * words;
    registers = fm * fn * fragment + operands + (is_complex ? 4 * fm : 0) + 48;
    if (o.products == 3) registers += 8 * fm * fn + 4 * fn;
    resident = std::clamp(registers_of_sm / ((registers + 7) / 8 * 8 * o.threads), 1, 4);
    const int row_bytes = 8 * words * (gram ? m : m + n), all = std::max(slices, 1);
    turns = o.unroll ? o.unroll
                     : 2 * std::clamp(static_cast<int>(bytes_of_stages / resident / (8 * row_bytes * all) + 0.5), 1,
                                      most_turns / 2);
    sum_bytes = slices > 1 ? places * 32 * fm * fn * fragment * 4 : 0;
    const auto lay_out = [&] {
      rows = all * turns * 4;
      const auto bytes = [&](int width) {
        return ceil_div(4 * chunk_stride(rows / 4 * width * 8 * words, 32), 16) * 16;
      };
      stage_bytes = bytes(m) + (gram ? 0 : bytes(n));
    };
    lay_out();
    for (; !o.unroll && turns + 2 <= most_turns && !holds_sums(); lay_out()) turns += 2;
    for (; !o.unroll && turns > 2 && shared_bytes() > shared_of_sm / resident - 1024; lay_out()) turns -= 2;
    while (resident > 1 && shared_bytes() > shared_of_sm / resident - 1024) --resident;
  }

  int shared_bytes() const { return pipeline_stages * stage_bytes; }
  bool holds_sums() const { return shared_bytes() >= sum_bytes; }
};

/// Why there is no such kernel; empty if there is one.
template <bool gram = false>
std::string tensor_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  if (!*o.transposed || *o.leapfrog || *o.reduction != Reduction::ordered)
    return "Tensor Cores have interleaved columns, no leapfrogging and an ordered reduction here";
  if (is_complex ? o.products != 3 && o.products != 4 : o.products != 0)
    return "three or four products of real numbers make one of complex ones";
  if (o.tile_m % 16 != 0 || o.tile_n % 8 != 0)
    return "a warp has tiles of 16 x 8 elements, not " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n);
  const TensorShape s(m, n, is_complex, o, gram);
  if (16 * s.fm >= m + 16 || 8 * s.fn >= n + 8)
    return "a tile of " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n) + " is larger than C, " +
           std::to_string(m) + " x " + std::to_string(n);
  if (s.slices < 1)
    return "tiles of " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n) + " take " +
           std::to_string(s.places) + " warps for C, and a block has " + std::to_string(o.threads / 32);
  return refusal_of_stages(s);
}

/// An SM's cycles for a row of K.
inline double tensor_cycles(int m, int n, bool is_complex, const KernelOptions& o, bool gram = false) {
  const TensorShape s(m, n, is_complex, o, gram);
  const int words = is_complex ? 2 : 1;
  const int products = is_complex ? o.products : 1;
  // Of a row, with what tiles have behind C's edges; three products come with additions, by plain cores of half the speed.
  const double fmas = s.places * (s.fm * s.fn * 128.0 * products + (products == 3 ? 32 * (s.fm + s.fn) : 0));
  // Four Tensor Cores: warps go to them round robin.
  const int busy = s.slices * s.places * s.resident;
  const double uneven = ceil_div(busy, 4) * 4.0 / busy;
  const double tensor = fmas / tensor_fmas_a_cycle * uneven;
  const double l1 = s.places * (2 * s.fm + s.fn) * 2.0 * words / 4;
  const double memory = (gram ? m : m + n) * 8.0 * words / bytes_a_cycle;
  const double copies = s.stage_bytes / 16.0 / o.threads, others = (8 * copies + 60) / s.turns / 4;
  const double slots = s.places * (s.fm * s.fn * products + (2 * s.fm + s.fn) + others * 4) / 4 / 4;
  return std::max({memory, tensor, l1, slots}) + 0.1 * (tensor + l1 + slots);
}

/// Threads of a block. A complex Gram matrix has many products for a byte: best is one block an SM, and each of its warps
/// with a tile (docs/tsm/strides.log.md).
inline std::vector<int> blocks_of(int m, int n, bool is_complex, const KernelOptions& o, bool gram) {
  if (!gram || !is_complex) return {128, 256, 384};
  constexpr int least_warps = 12, most_warps = 20;
  std::vector<int> blocks;
  const int places = places_of_tensor(m, n, o, gram);
  for (int warps = ceil_div(least_warps, places) * places; warps <= most_warps; warps += places)
    blocks.push_back(32 * warps);
  return blocks;
}

/// Visits kernels with the options that are asked for and all values of the others.
template <bool gram = false>
void each_tensor(int m, int n, bool is_complex, const KernelOptions& asked, Search search, const Visit& visit) {
  const int spared = gram && is_complex ? 0 : 24;  // 16 x 16 elements a warp, in 640 threads, have variables in memory
  KernelOptions o = interleaved(asked);
  if (!asked.products) o.products = is_complex ? 4 : 0;
  const int most_m = asked.tile_m ? 1 : std::min(ceil_div(m, 16), 4),
            most_n = asked.tile_n ? 1 : std::min(ceil_div(n, 8), 8);
  for (int fm = 1; fm <= most_m; ++fm) {
    for (int fn = 1; fn <= most_n; ++fn) {
      o.tile_m = asked.tile_m ? asked.tile_m : 16 * fm;
      o.tile_n = asked.tile_n ? asked.tile_n : 8 * fn;
      for (const int threads : blocks_of(m, n, is_complex, o, gram)) {
        for (const int unroll : {0, 2, 4, 8}) {
          if (unroll && search == Search::promising) continue;
          o.threads = asked.threads ? asked.threads : threads;
          o.unroll = asked.unroll ? asked.unroll : unroll;
          const TensorShape s(m, n, is_complex, o, gram);
          const bool works = tensor_refusal<gram>(m, n, is_complex, o).empty();
          o.unroll = s.turns;
          visit(o, works ? tensor_cycles(m, n, is_complex, o, gram) * crowding(s.registers, o.threads, spared)
                         : impossible);
        }
      }
    }
  }
}

}  // namespace gemm::generated
