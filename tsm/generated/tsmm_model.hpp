// Which of the generated TSMM kernels to take for a problem: a model of an SM's time for a row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "common/problem/kernel_options.hpp"
#include "tsm/generated/model.hpp"
#include "tsm/generated/row_threads.cuh"

namespace gemm::generated {

inline constexpr double bytes_a_cycle_both_ways = 17;  // `scale`, 3.93 TB/s over 132 SMs at 1.75 GHz
inline constexpr int per_row_choices[] = {1, 2, 4, 8, 16}, most_unroll = 4;

/// row_thread() for a number of threads that is known at run time.
inline RowThread row_thread(int per_row, int thread) {
  switch (per_row) {
    case 1:
      return row_thread<1>(thread);
    case 2:
      return row_thread<2>(thread);
    case 4:
      return row_thread<4>(thread);
    case 8:
      return row_thread<8>(thread);
    default:
      return row_thread<16>(thread);
  }
}

/// Wavefronts of a warp's load: the most pieces that a bank has to give, in phases of 128 bytes, of which there are
/// half as many if all lanes agree with lane ^ 1, or all with lane ^ 2 (docs/concepts/counts.md). element: what each
/// lane loads, in elements of 8 or 16 bytes.
inline int load_wavefronts(const std::array<int, 32>& element, int words) {
  const auto agree = [&](int distance) {
    for (int lane = 0; lane < 32; ++lane) {
      if (element[lane] != element[lane ^ distance]) return false;
    }
    return true;
  };
  const int lanes = 16 / words * (agree(1) || agree(2) ? 2 : 1), banks = 16 / words;
  int total = 0;
  for (int first = 0; first < 32; first += lanes) {
    std::array<int, 32> piece = element;
    const auto begin = piece.begin() + first, end = begin + lanes;
    std::sort(begin, end);
    int load[16] = {}, most = 0;
    for (auto it = begin, last = std::unique(begin, end); it != last; ++it) most = std::max(most, ++load[*it % banks]);
    total += most;
  }
  return total;
}

/// Whether rows of A begin at multiples of 16 bytes if they are not padded.
inline bool usually_wide(int m, bool is_complex) {
  return is_complex || m % 2 == 0;
}

/// What a warp's accesses cost if no row is padded: wavefronts of a column of A of its rows, of an element of C of each
/// thread, and sectors that the store of an element of each thread writes.
struct TsmmAccess {
  double load_a, load_c, sectors;
};
inline TsmmAccess tsmm_access(int m, int n, int words, int per_row) {
  std::array<int, 32> a, c;
  const bool by_two = words == 1 && usually_wide(m, false);  // columns of A, in a load of 16 bytes
  const int in_unit = by_two ? 2 : 1;
  for (int lane = 0; lane < 32; ++lane) {
    const RowThread mine = row_thread(per_row, lane);
    a[lane] = mine.row * m / in_unit;
    c[lane] = std::min(mine.place, n - 1);
  }
  const int count = ceil_div(n, per_row), in_sector = 4 / words;  // elements
  int sectors = 0;
  for (int j = 0; j < count; ++j) {
    std::array<int, 32> sector;
    int stored = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const RowThread mine = row_thread(per_row, lane);
      const int column = mine.place + j * per_row;
      if (column < n) sector[stored++] = (mine.row * n + column) / in_sector;
    }
    std::sort(sector.begin(), sector.begin() + stored);
    sectors += static_cast<int>(std::unique(sector.begin(), sector.begin() + stored) - sector.begin());
  }
  return {static_cast<double>(load_wavefronts(a, words * in_unit)) / in_unit,
          static_cast<double>(load_wavefronts(c, words)), static_cast<double>(sectors) / count};
}

/// Registers that a thread needs, about: sums, columns of A, elements of C (from memory those in use and some on their
/// way), addresses.
inline int tsmm_registers(int m, int n, bool is_complex, const KernelOptions& o) {
  const int count = ceil_div(n, o.threads_per_row), element = 2 * words(is_complex);
  const int ahead = columns_ahead(is_complex ? 16 : 8, m, o.unroll);
  const int of_c = *o.c_source == CSource::registers ? m * count : count * 3 / 2;
  return element * (o.unroll * (count + ahead) + of_c) + 4 * o.unroll + 28;
}

inline int tsmm_resident(int m, int n, bool is_complex, const KernelOptions& o) {
  const int granted = (tsmm_registers(m, n, is_complex, o) + 7) / 8 * 8;
  const int blocks = std::min(registers_of_sm / (granted * o.threads), most_threads_of_sm / o.threads);
  const int shared = m * n * words(is_complex) * 8 + 1024;
  return std::max(*o.c_source == CSource::shared ? std::min(blocks, 228 * 1024 / shared) : blocks, 1);
}

/// Why there is no such kernel for this problem; empty if there is one.
inline std::string tsmm_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  if (o.products && (!is_complex || o.products != 4)) return "a product of complex numbers is four of real ones here";
  if (o.unroll > most_unroll) return "TSMM unrolls up to " + std::to_string(most_unroll) + " rows";
  if (32 % o.threads_per_row != 0 || o.threads_per_row == 32) return "a row belongs to 1, 2, 4, 8 or 16 threads here";
  if (o.threads_per_row > 1 && o.threads_per_row / 2 >= n) {
    return std::to_string(o.threads_per_row) + " threads for rows of " + std::to_string(n) +
           ": half of them would have nothing to do";
  }
  const int count = ceil_div(n, o.threads_per_row), needed = 2 * words(is_complex) * (m + o.unroll) * count;
  if (*o.c_source == CSource::registers && needed > most_registers - 28) {
    return "C and the sums would take " + std::to_string(needed) + " registers a thread, and it has " +
           std::to_string(most_registers);
  }
  if (const int bytes = m * n * words(is_complex) * 8; *o.c_source == CSource::shared && bytes > 227 * 1024)
    return "C would take " + std::to_string(bytes) + " bytes of shared memory";
  return {};
}

/// An SM's cycles for a row, by what would bound it alone. What each is weighted with was fitted to 3,961 kernels on an
/// H100 (docs/tsm/12_tsmm_generated.md#prediction): the latency is that of a lone load rather than of one under load,
/// C costs four times as much through the L1 cache, which holds A's rows at the same time, as from shared memory.
inline RowCycles tsmm_cycles(int m, int n, bool is_complex, const KernelOptions& o) {
  const int number = words(is_complex), count = ceil_div(n, o.threads_per_row);
  const TsmmAccess access = tsmm_access(m, n, number, o.threads_per_row);
  const double rows = 32.0 / o.threads_per_row * o.unroll;  // of a warp at a time
  const double on_their_way = tsmm_resident(m, n, is_complex, o) * o.threads / 32.0 * rows;
  const double each_c = *o.c_source == CSource::registers ? 0 : *o.c_source == CSource::shared ? 1 : 3.9;
  const double loads_of_a = 1.1 * m * o.unroll * access.load_a, loads_of_c = each_c * m * count * access.load_c;
  const double stores = 0.52 * count * o.unroll * access.sectors;
  return {.memory = 1.4 * (m + n) * 8.0 * number / bytes_a_cycle_both_ways,
          .latency = 0.63 * ceil_div(m, columns_ahead(8 * number, m, o.unroll)) * latency / on_their_way,
          .fma = 2 * (m + 1) * count * o.unroll * number * number * fma_cycles / rows,
          .l1 = (loads_of_a + loads_of_c + stores) / rows};
}

/// The time of a row: between the longest of them and their sum.
inline double tsmm_time(const RowCycles& c) {
  const auto power = [](double x) { return std::pow(x, 2.9); };
  return std::pow(power(c.memory) + power(c.latency) + power(c.fma) + power(c.l1), 1 / 2.9);
}

/// Visits kernels with the options that are asked for and all values of the others.
inline void each_tsmm(int m, int n, bool is_complex, const KernelOptions& asked, Search search, const Visit& visit) {
  KernelOptions o = asked;
  if (!o.turns) o.turns = turns_of(m, n, is_complex, 600, 4);
  const auto consider = [&] {
    if (!tsmm_refusal(m, n, is_complex, o).empty()) return visit(o, impossible);
    // Of equals the one with fewer registers.
    const double registers = tsmm_registers(m, n, is_complex, o) / static_cast<double>(most_registers);
    const double worse = registers > 1 ? too_many_registers : 1 + 0.1 * registers;
    visit(o, tsmm_time(tsmm_cycles(m, n, is_complex, o)) * worse);
  };
  for (const CSource source : {CSource::registers, CSource::shared, CSource::global}) {
    o.c_source = asked.c_source.value_or(source);
    for (const int per_row : per_row_choices) {
      o.threads_per_row = asked.threads_per_row ? asked.threads_per_row : per_row;
      for (const int threads : {256, 128, 64, 512}) {
        if (search == Search::promising && (threads == 64 || threads == 512)) continue;
        o.threads = asked.threads ? asked.threads : threads;
        for (int unroll = 1; unroll <= most_unroll; ++unroll) {
          o.unroll = asked.unroll ? asked.unroll : unroll;
          consider();
        }
      }
    }
  }
}

}  // namespace gemm::generated
