// Which of the pipelined TSMM kernels to take for a problem: a model of an SM's time for a row of K.
#pragma once

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "common/problem/kernel_options.hpp"
#include "tsm/generated/pipeline_model.hpp"
#include "tsm/generated/rest_columns.cuh"
#include "tsm/generated/warp_rows.cuh"
#include "tsm/generated/warp_tile.cuh"

namespace gemm::generated {

inline constexpr double scale_bytes_a_cycle = 15;  // 3.94 TB/s, read and written, over 132 SMs at 1.98 GHz
inline constexpr int most_tsmm_stages = 4;
inline constexpr int bytes_on_their_way = 24 * 1024;  // of A, wanted in an SM
inline constexpr int most_bytes_of_chunk = 256;       // of a row of A
inline constexpr int most_fmas_of_a_loop = 1024;      // over chunks, which are written out

/// How columns of B are distributed that are left over where a row's lanes do not divide its units.
enum class Rest {
  padded,  ///< as all others, and some lanes have columns that do not exist
  by_rows  ///< see RestLayout
};
/// The faster one by the model.
Rest rest_of(int m, int n, bool is_complex, const KernelOptions& o);

/// What follows from M, N and options; `unroll` is the number of rows that a thread has at a time.
struct TsmmPipelineShape {
  int words, products, unit_n, units_n, pn, along_n, groups, rows, c_bytes, kept_bytes, stages, registers, resident;
  StageLayout layout;
  RestLayout rest;  ///< of no columns if there is none

  TsmmPipelineShape(int m, int n, bool is_complex, const KernelOptions& o, Rows rows_a = Rows::flat,
                    Rows rows_b = Rows::flat)
      : TsmmPipelineShape(m, n, is_complex, o, rows_a, rows_b, rest_of(m, n, is_complex, o)) {}
  TsmmPipelineShape(int m, int n, bool is_complex, const KernelOptions& o, Rows rows_a, Rows rows_b, Rest how)
      : words(is_complex ? 2 : 1),
        products(!is_complex       ? 1
                 : o.products == 3 ? 3
                                   : 4),
        unit_n(2 / words),
        units_n(ceil_div(n, unit_n)),
        pn(how == Rest::by_rows ? n / unit_n / o.threads_per_row : ceil_div(units_n, o.threads_per_row)),
        along_n(o.threads_per_row),
        groups(std::max(32 / along_n, 1)),
        rows(groups * o.unroll),
        c_bytes(m * bytes_of_c_row(along_n, pn, products)) {
    const int element = 8 * words, unit = unit_of(m, element), columns = pn * unit_n, warps = o.threads / 32;
    rest = rest_layout(how == Rest::by_rows ? n - along_n * columns : 0, rows, unit, element);
    c_bytes += m / unit * rest.bytes;
    const bool direct = stored_directly(n, element, rows_b == Rows::displaced ? rows_b : Rows::flat);
    // Beside tiles: what nvcc wants for addresses and counters, some more where there are chunks and where rows are
    // kept.
    const int sums = o.unroll * columns, operands = 2 * (o.unroll * unit + columns);
    registers = 2 * words * (sums + operands) + (products == 3 ? 2 * sums + (o.unroll == 1 ? 16 : 11) : 0) + 26 +
                (m * element > most_bytes_of_chunk ? 3
                 : m * element >= 192              ? 8
                                                   : 0) +
                (direct ? 0 : 12) +
                (rest.columns ? 2 * words * (rest.columns + (1 + smaller(rest.columns, rest.share)) * unit) + 4 -
                                    (products == 3 ? 2 * columns : 0)
                              : 0);
    resident = std::clamp(registers_of_sm / ((registers + 7) / 8 * 8 * o.threads), 1, 4);
    resident = std::min(resident, 2048 / o.threads);
    const int together = rows_together(n * words, groups, o.unroll);
    kept_bytes = stored_directly(n, element, rows_b) ? 0 : ceil_div(together * groups * n * words, 2) * 16;
    // Where a chunk is not the whole row, it has an even number of units.
    const int unit_bytes = unit * element, units = m / unit, most = most_bytes_of_chunk / unit_bytes;
    const double fmas = static_cast<double>(o.unroll) * columns * unit * products;  // of a unit
    int chunk = units;
    if (units > most) {
      const int wanted = std::clamp(static_cast<int>(most_fmas_of_a_loop / fmas), 2, most) / 2 * 2;
      chunk = ceil_div(ceil_div(units, ceil_div(units, wanted)), 2) * 2;
    }
    const auto lay_out = [&] { layout = stage_layout(m, element, rows_a, rows, chunk); };
    const auto fits = [&](int number) {
      return c_bytes + warps * (number * layout.bytes + kept_bytes) <= shared_of_sm / resident - 1024;
    };
    const auto enough = [&](int number) {
      return resident * warps * (number - 1) * layout.bytes >= bytes_on_their_way;
    };
    lay_out();
    while (resident > 1 && !fits(3)) --resident;
    // Pieces of less than 64 bytes would be slow to copy, and so would those of odd rows be, 8 bytes at a time.
    while (chunk * unit_bytes >= 192 && !fits(3) && !layout.in_one) {
      chunk = ceil_div(ceil_div(chunk, 2), 2) * 2;
      lay_out();
    }
    stages = fits(3) ? 3 : 2;
    while (stages < most_tsmm_stages && !enough(stages) && fits(stages + 1)) ++stages;
  }

  int shared_bytes(int threads) const { return c_bytes + threads / 32 * (stages * layout.bytes + kept_bytes); }
};

/// Why there is no such kernel; empty if there is one.
inline std::string tsmm_pipeline_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  const TsmmPipelineShape s(m, n, is_complex, o);
  if (*o.c_source != CSource::shared) return "the pipeline has C in shared memory";
  if (is_complex ? o.products != 3 && o.products != 4 : o.products != 0)
    return "three or four products of real numbers make one of complex ones";
  if (o.products == 3 && m < least_terms_of_three_products)
    return "three products are for sums of " + std::to_string(least_terms_of_three_products) + " terms and more";
  if (s.along_n > s.units_n) return std::to_string(o.threads_per_row) + " threads for a row leave some without columns";
  if (s.along_n > 32) return "rows of " + std::to_string(s.along_n) + " units want more threads than a warp has";
  // Whatever the alignment: rows of B that leave through shared memory take the most.
  const auto fits = [&](const TsmmPipelineShape& its) { return its.shared_bytes(o.threads) <= shared_of_sm - 1024; };
  if (!fits(s) || !fits(TsmmPipelineShape(m, n, is_complex, o, Rows::any, Rows::any)) ||
      !fits(TsmmPipelineShape(m, n, is_complex, o, Rows::any, Rows::displaced)))
    return "its stages take more shared memory than there is";
  return {};
}

/// An SM's cycles for a row of K.
inline double cycles_of(int m, int n, const KernelOptions& o, const TsmmPipelineShape& s) {
  const StageLayout& a = s.layout;
  const int element = 8 * s.words, columns = s.pn * s.unit_n, sums = o.unroll * columns;
  // Numbers of an element of C, and of a sum; loads of a row of C.
  const int parts = s.products == 3 ? 3 : s.words, loads_of_y = s.pn + (s.products == 3 ? ceil_div(s.pn, 2) : 0);
  const RestLayout& rest = s.rest;
  // Of units of A that the rest's lanes read one after the other; its FMAs, four for a complex number.
  const double steps = rest.columns ? (a.chunks - 1) * ceil_div(a.chunk, rest.parts) + ceil_div(a.last, rest.parts) : 0,
               loads_of_rest = rest.bytes / 16.0, fmas_of_rest = steps * a.unit * rest.columns * s.words * s.words;
  // Of a warp for its rows:
  const double fmas = static_cast<double>(sums) * m * s.products,
               loads = a.units * o.unroll + m * loads_of_y + steps * (1 + loads_of_rest);
  const double pieces = s.rows * static_cast<double>(m) * element / (element == 8 && m % 2 != 0 && !a.in_one ? 8 : 16);
  const double copies = pieces / 32 + 18.0 * a.chunks;  // and what belongs to a stage
  const bool direct = stored_directly(n, element, Rows::flat);
  const int together = direct ? 1 : rows_together(n * s.words, s.groups, o.unroll);
  const double kept = together * s.groups * n * s.words;
  const double stores = 20 + (direct ? o.unroll * (s.pn + 1)
                                     : sums + o.unroll / together * (10 + 2 * ceil_div(static_cast<int>(kept), 64)));
  // Of the rest: addresses, sums of parts, stores.
  const double of_rest =
      rest.columns ? 2 * a.chunks + 10 + rest.columns * (2 * s.words * std::countr_zero(unsigned(rest.parts)) + 2) : 0;
  const bool unrolled = a.chunks == 1 || fmas <= 2048;
  const double zeros = unrolled ? 0 : sums * parts;
  // Three products: of each word of A the sum of its parts, and three for each element of B.
  const double additions = s.products == 3 ? o.unroll * m + 3 * sums : 0;
  const double moves = 2 * ((a.last % 2 ? s.words * o.unroll * a.unit : 0) + (m % 2 ? parts * columns : 0));
  const double others = copies + stores + zeros + moves + of_rest;
  // A warp's load of 16 bytes a lane: two wavefronts if lanes pair up, or four; and more if it reads more than that.
  const Places places = places_of_warp(s.along_n);
  const double least = places.paired() ? 2 : 4, unit_bytes = a.unit * element;
  const double of_x = std::max(least * unit_bytes / 16, s.groups * unit_bytes / 128),
               of_y = std::max(least, s.along_n * 16 / 128.0);
  const double moved = s.rows * (m + n) * element / 128.0;  // into shared memory, and to device memory
  const double l1 = (a.units * o.unroll * of_x + m * loads_of_y * of_y +
                     steps * (std::max(unit_bytes / 4, 2.0) + 2 * loads_of_rest) + moved * (direct ? 1 : 2)) /
                    s.rows;
  const double memory = (m + n) * 8.0 * s.words / scale_bytes_a_cycle;
  const double schedulers =
      ((fmas + fmas_of_rest + additions) * fma_and_yield + (loads + others) * other_cycles) / 4 / s.rows;
  // Warps are distributed among four schedulers; one that has few has nothing to do while these wait.
  const double warps = o.threads / 32.0 * s.resident / 4, uneven = std::ceil(warps) / warps;
  const double waits = 1 + 0.2 / (warps * warps);
  // Each block makes its own C and fills its own stages: measured, two of 128 threads are so much behind one of 256.
  const double beginnings = o.threads <= 128 && s.resident > 1 ? 1.1 : 1;
  return beginnings * waits * (std::max({memory, schedulers * uneven, l1}) + 0.05 * (schedulers + l1));
}

inline Rest rest_of(int m, int n, bool is_complex, const KernelOptions& o) {
  const int unit_n = is_complex ? 1 : 2, along_n = o.threads_per_row, rows = 32 / std::min(along_n, 32) * o.unroll;
  if (along_n > n / unit_n || ceil_div(n, unit_n) % along_n == 0 || rows > 32) return Rest::padded;
  const auto cycles = [&](Rest how) {
    const TsmmPipelineShape s(m, n, is_complex, o, Rows::flat, Rows::flat, how);
    const TsmmPipelineShape most(m, n, is_complex, o, Rows::any, Rows::any, how);
    const bool fits = s.registers <= std::min(most_registers, registers_of_sm / o.threads) &&
                      std::max(s.shared_bytes(o.threads), most.shared_bytes(o.threads)) <= shared_of_sm - 1024;
    return cycles_of(m, n, o, s) * (fits ? 1 : too_many_registers);
  };
  return cycles(Rest::by_rows) < cycles(Rest::padded) ? Rest::by_rows : Rest::padded;
}

/// Visits kernels with the options that are asked for and all values of the others.
inline void each_tsmm_pipeline(int m, int n, bool is_complex, const KernelOptions& asked, Search, const Visit& visit) {
  const int per_unit = is_complex ? 1 : 2;
  KernelOptions o = asked;
  if (!o.c_source) o.c_source = CSource::shared;
  if (!o.turns) o.turns = turns_of(m, n, is_complex, 128, 2);
  // Of complex numbers by as many products as are asked for, or both.
  const bool both = is_complex && !asked.products;
  const int units = ceil_div(n, per_unit);
  // As many as it takes, or some more, so that lanes pair up.
  std::vector<int> threads_of_rows;
  for (int pn = 1; pn <= 8; ++pn) threads_of_rows.push_back(ceil_div(units, pn));
  const auto add = [&](int number) {
    if (std::ranges::find(threads_of_rows, number) == threads_of_rows.end()) threads_of_rows.push_back(number);
  };
  for (int pn = 1; pn <= 8 && pn <= n / per_unit; ++pn) add(n / per_unit / pn);  // fewer, with a rest
  for (const int number : {4, 8, 16})
    if (number <= units) add(number);
  for (int products = both ? 3 : asked.products; products <= (both ? 4 : asked.products); ++products) {
    for (int rows = 1; rows <= 10; ++rows) {
      for (const int of_row : threads_of_rows) {
        for (const int threads : {128, 256, 384, 512}) {
          o.products = products;
          o.unroll = asked.unroll ? asked.unroll : rows;
          o.threads_per_row = asked.threads_per_row ? asked.threads_per_row : of_row;
          o.threads = asked.threads ? asked.threads : threads;
          const TsmmPipelineShape s(m, n, is_complex, o);
          const bool works = tsmm_pipeline_refusal(m, n, is_complex, o).empty();
          const bool fits = s.registers <= std::min(most_registers, registers_of_sm / o.threads);
          // The model is of blocks that live to the end. Those that end after some turns are small: then a warp waits
          // for one other only before the next block comes.
          if (o.turns && !asked.threads) o.threads = 64;
          visit(o, works ? cycles_of(m, n, o, s) * (fits ? 1 : too_many_registers) : impossible);
        }
      }
    }
  }
}

}  // namespace gemm::generated
