// Which of the generated kernels to take for a problem: a model of registers and of an SM's time for a row of K.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/problem/kernel_options.hpp"
#include "tsm/generated/slices.cuh"

namespace gemm::generated {

inline constexpr int registers_of_sm = 65536, most_threads_of_sm = 2048, most_registers = 255;
inline constexpr double bytes_a_cycle = 17.4;  // 4.54 TB/s over 132 SMs at 1.98 GHz
inline constexpr double latency = 1050;        // 530 ns: under load (docs/tsm/probes.md#bandwidth)
inline constexpr double fma_cycles = 0.5;      // of a warp: 64 lanes a cycle

inline int words(bool is_complex) {
  return is_complex ? 2 : 1;
}
inline int rows_held(const KernelOptions& o) {
  return o.unroll * (*o.leapfrog ? 2 : 1);
}

// Wavefronts of the first warp's load of an element each, from rows of `width` elements without padding: the most
// pieces that one bank has to give, half a warp at a time for 8 bytes a lane, a quarter for 16. `part` is a lane's
// column, in tiles of `tile`.
template <class Part>
double wavefronts(int width, int tile, bool transposed, int slice, int words, Part part) {
  int total = 0;
  const int lanes = 16 / words, banks = 32 / (2 * words);  // in units of an element
  for (int first = 0; first < 32; first += lanes) {
    int piece[16], pieces = 0, load[16] = {}, most = 0;
    for (int lane = first; lane < first + lanes; ++lane) {
      const int column = transposed ? part(lane % slice) : std::min(part(lane % slice) * tile, width - tile);
      const int element = lane / slice * width + column;
      if (std::find(piece, piece + pieces, element) != piece + pieces) continue;
      piece[pieces++] = element;
      most = std::max(most, ++load[element % banks]);
    }
    total += most;
  }
  return total;
}

/// Registers that a thread needs, about: the sums, the rows that are held, 16 for addresses and counters. With
/// leapfrogging, one row at a time and real numbers that is 2 (TM TN + 2 (TM + TN) + 8), the line of Ernst et al.
inline int register_line(const KernelOptions& o, bool is_complex) {
  return 2 * (words(is_complex) * (o.tile_m * o.tile_n + rows_held(o) * (o.tile_m + o.tile_n)) + 8);
}

/// How many blocks an SM of 65536 registers holds, at least 1. nvcc takes 8 to 20 registers more than that line for
/// kernels that have them (of a whole SM, one block fits up to the line of 255: it then does with less).
inline int resident_blocks(const KernelOptions& o, bool is_complex) {
  constexpr int more = 16;
  const int granted = (register_line(o, is_complex) + more + 7) / 8 * 8;  // registers are given out by eights
  return std::max(std::min(registers_of_sm / (granted * o.threads), most_threads_of_sm / o.threads), 1);
}

/// An SM's cycles for a row of K, by what would bound it alone (the numbers are an H200's).
struct RowCycles {
  double memory;   ///< its share of the read bandwidth
  double latency;  ///< as many rows in flight as its registers hold
  double fma;      ///< FP64 cores
  double l1;       ///< wavefronts of the loads

  double bound() const;
};
inline double RowCycles::bound() const {
  // What bounds it, and a little of what else is issued: they don't overlap perfectly.
  return std::max({memory, latency, fma, l1}) + 0.1 * (fma + l1);
}

inline RowCycles row_cycles(int m, int n, bool is_complex, const KernelOptions& o) {
  const int along_n = ceil_div(n, o.tile_n), slice = ceil_div(m, o.tile_m) * along_n, slices = o.threads / slice;
  const double warps = o.threads / 32.0 / slices;  // for a row
  const int number = words(is_complex);
  const double of_a = wavefronts(m, o.tile_m, *o.transposed, slice, number, [&](int place) { return place / along_n; });
  const double of_b = wavefronts(n, o.tile_n, *o.transposed, slice, number, [&](int place) { return place % along_n; });
  const double rows = static_cast<double>(resident_blocks(o, is_complex)) * slices * rows_held(o);
  return {.memory = (m + n) * 8.0 * number / bytes_a_cycle,
          .latency = latency / rows,
          .fma = warps * o.tile_m * o.tile_n * number * number * fma_cycles,
          .l1 = warps * (o.tile_m * of_a + o.tile_n * of_b)};
}

/// Why there is no such kernel for this problem; empty if there is one.
inline std::string refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  if (o.products && (!is_complex || o.products != 4)) return "a product of complex numbers is four of real ones here";
  if (o.tile_m > m || o.tile_n > n) {
    return "a tile of " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n) + " is larger than C, " +
           std::to_string(m) + " x " + std::to_string(n);
  }
  const int slice = ceil_div(m, o.tile_m) * ceil_div(n, o.tile_n);
  if (slice > o.threads) {
    return "tiles of " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n) + " take " +
           std::to_string(slice) + " threads for C, and a block has " + std::to_string(o.threads);
  }
  return {};
}

/// Cycles of what can't be, and a factor for what has too many registers.
inline constexpr double impossible = 1e30, too_many_registers = 1e3;

/// A block's turns in TSMM, or 0 for all that there are: memory is read and written faster by blocks that live shortly
/// (docs/tsm/probes.md#lives), but each of them has to load C.
inline int turns_of(int m, int n, bool is_complex, int most_bytes_of_c, int turns) {
  return m * n * 8 * words(is_complex) <= most_bytes_of_c ? turns : 0;
}

/// What a model says of its kernels: visits those with the options that are asked for and all values of the others.
using Visit = std::function<void(const KernelOptions& options, double cycles)>;
using EachKernel = void(int m, int n, bool is_complex, const KernelOptions& asked, Search search, const Visit& visit);

/// All options: what was asked for, and for the rest what takes the least time by the model; the first of all if none can
/// be, for a refusal to tell why.
template <EachKernel* each>
KernelOptions choose(int m, int n, bool is_complex, const KernelOptions& asked) {
  KernelOptions best;
  double least = 0;
  each(m, n, is_complex, asked, Search::promising, [&](const KernelOptions& options, double cycles) {
    if (best.threads && cycles >= least) return;
    best = options;
    least = cycles;
  });
  return best;
}

/// All of them that can be, the best first; of the promising ones none with too many registers.
template <EachKernel* each>
std::vector<Candidate> candidates(int m, int n, bool is_complex, const KernelOptions& asked, Search search) {
  std::map<KernelOptions, double> found;  // what follows from other options may come twice
  each(m, n, is_complex, asked, search, [&](const KernelOptions& options, double cycles) {
    const double limit = search == Search::exhaustive ? impossible : impossible / too_many_registers;
    if (cycles < limit) found.emplace(options, cycles);
  });
  std::vector<Candidate> all;
  for (const auto& [options, cycles] : found) all.push_back({options, cycles});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  return all;
}

/// 09's kernels. The published experience is that
/// interleaved columns and leapfrogging are best together: only an exhaustive search tries the rest.
inline void each_tsmttsm(int m, int n, bool is_complex, const KernelOptions& asked, Search search, const Visit& visit) {
  static constexpr int widest = 16, unrolls[] = {1, 2, 4, 8};
  const bool all = search == Search::exhaustive;
  KernelOptions o = asked;
  if (!o.reduction) o.reduction = Reduction::ordered;
  const auto range = [](int said, int most) {
    return std::pair(said ? said : 1, said ? said : std::min(most, widest));
  };
  const auto [first_m, last_m] = range(asked.tile_m, m);
  const auto [first_n, last_n] = range(asked.tile_n, n);
  for (const bool usual : {true, false}) {
    for (const bool ahead : {true, false}) {
      for (const int threads : {256, 128, 512}) {
        if (!all && (!usual || !ahead || threads != 256)) continue;
        o.transposed = asked.transposed.value_or(usual);
        o.leapfrog = asked.leapfrog.value_or(ahead);
        o.threads = asked.threads ? asked.threads : threads;
        for (o.tile_m = first_m; o.tile_m <= last_m; ++o.tile_m) {
          for (o.tile_n = first_n; o.tile_n <= last_n; ++o.tile_n) {
            for (const int unroll : unrolls) {
              o.unroll = asked.unroll ? asked.unroll : unroll;
              if (!refusal(m, n, is_complex, o).empty()) {
                visit(o, impossible);
                continue;
              }
              // Of equals the one with fewer registers.
              const double line = register_line(o, is_complex) / static_cast<double>(most_registers);
              const double worse = line > 1 ? too_many_registers : 1 + 0.1 * line;
              visit(o, row_cycles(m, n, is_complex, o).bound() * worse);
            }
          }
        }
      }
    }
  }
}

}  // namespace gemm::generated
