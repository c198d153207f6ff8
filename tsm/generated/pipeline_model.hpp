// Which of the pipelined kernels to take for a problem: a model of an SM's time for a row of K.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/problem/kernel_options.hpp"
#include "tsm/generated/model.hpp"
#include "tsm/generated/places.cuh"
#include "tsm/generated/stream.cuh"

namespace gemm::generated {

inline constexpr int pipeline_stages = 4;
inline constexpr int shared_of_sm = 227 * 1024;  // less what each block takes for itself
inline constexpr int most_shared_of_block = shared_of_sm - 1024;
inline constexpr double bytes_of_stages =
    24 * 1024;                         // wanted in a stage of all blocks of an SM: three stages are in flight
inline constexpr int most_turns = 16;  // they are written out
// Cycles of a scheduler (docs/tsm/probes.md): of each six FMAs one reads a register more, since nvcc lets another warp
// go first there; and whatever is no FMA reads registers that FMAs would.
inline constexpr double fma_and_yield = 13.0 / 6, other_cycles = 1.3;

/// How a matrix lies in memory; displaced where `aligned_to` does not divide its address.
template <class T>
Rows rows_of(const T* matrix, std::int64_t ld, int width, int aligned_to = 16) {
  if (reinterpret_cast<std::uintptr_t>(matrix) % 16 != 0) return Rows::any;
  if (ld == width) return reinterpret_cast<std::uintptr_t>(matrix) % aligned_to == 0 ? Rows::flat : Rows::displaced;
  return ld * sizeof(T) % 16 == 0 && width * sizeof(T) % 16 == 0 ? Rows::wide : Rows::any;
}
/// What follows from M, N and options: `unroll` is the number of rows of a stage for each slice. Units have 16 bytes
/// where tiles have an even number of columns; in rows of an odd number of doubles only if no load reads several rows.
struct PipelineShape {
  int unit_m, unit_n, units_m, units_n, pm, pn;
  Places places;
  bool shifted;  ///< units of two in rows of an odd number
  int slices, turns, rows, stage_bytes, sum_bytes, registers, resident;

  /// gram: B is A, and is not copied.
  PipelineShape(int m, int n, bool is_complex, const KernelOptions& o, bool gram = false)
      : unit_m(is_complex || o.tile_m % 2 != 0 ? 1 : 2), unit_n(is_complex || o.tile_n % 2 != 0 ? 1 : 2) {
    const auto deal_out = [&] {
      units_m = ceil_div(m, unit_m);
      units_n = ceil_div(n, unit_n);
      pm = ceil_div(o.tile_m, unit_m);
      pn = ceil_div(o.tile_n, unit_n);
      places = places_of(units_m, units_n, pm, pn);
      shifted = m % unit_m != 0 || n % unit_n != 0;
    };
    deal_out();
    if (shifted && swizzled(places.count)) {
      unit_m = unit_of(m, 8);
      unit_n = unit_of(n, 8);
      deal_out();
    }
    slices = slices_of_block(o.threads, places.count, shifted);
    const int words = is_complex ? 2 : 1;
    const int sums = pm * pn * unit_m * unit_n, operands = pm * unit_m + pn * unit_n;
    registers =
        is_complex && o.products == 3 ? 2 * (3 * sums + 5 * operands) + 24 : 2 * words * (sums + operands * 2) + 48;
    resident = std::max(std::min(registers_of_sm / ((registers + 7) / 8 * 8 * o.threads), 2048 / o.threads), 1);
    resident = std::min(resident, 4);
    const int row_bytes = 8 * words * (gram ? m : m + n);
    const double wanted = bytes_of_stages / resident;
    // An even number: rows go through two sets of registers alternately.
    turns = o.unroll ? o.unroll
                     : 2 * std::clamp(static_cast<int>(wanted / (2 * row_bytes * std::max(slices, 1)) + 0.5), 1,
                                      most_turns / 2);
    // In the end one slice's sums, at least, must fit where the stages were.
    sum_bytes = slices > 1 ? places.count * sums * 8 * words : 0;
    const auto bytes = [&] { return std::max(slices, 1) * turns * row_bytes; };
    while (!o.unroll && bytes() * pipeline_stages < sum_bytes) turns += 2;
    while (turns > 2 && !o.unroll && bytes() * pipeline_stages > shared_of_sm / resident - 1024) turns -= 2;
    while (resident > 1 && bytes() * pipeline_stages > shared_of_sm / resident - 1024) --resident;
    rows = slices * turns;
    stage_bytes = bytes();
  }

  int shared_bytes() const { return pipeline_stages * stage_bytes; }
  bool holds_sums() const { return shared_bytes() >= sum_bytes; }
};

template <class Shape>
std::string refusal_of_stages(const Shape& s) {
  if (s.turns % 2 != 0) return "the pipeline unrolls an even number of rows";
  if (!s.holds_sums()) return "its stages are too small for the sums of a slice";
  if (s.shared_bytes() > most_shared_of_block) return "its stages take more shared memory than there is";
  return {};
}

/// Why there is no such kernel; empty if there is one.
template <bool gram = false>
std::string pipeline_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  const PipelineShape s(m, n, is_complex, o, gram);
  if (!*o.transposed || *o.leapfrog || *o.reduction != Reduction::ordered)
    return "the pipeline has interleaved columns, no leapfrogging and an ordered reduction";
  if (is_complex ? o.products != 3 && o.products != 4 : o.products != 0)
    return "three or four products of real numbers make one of complex ones";
  if (swizzled(s.places.count) &&
      (s.unit_m != unit_of(m, is_complex ? 16 : 8) || s.unit_n != unit_of(n, is_complex ? 16 : 8)))
    return "the pipeline's tiles of a narrow matrix with an even number of columns have an even number";
  if ((s.pm - 1) * s.places.along_m >= s.units_m || (s.pn - 1) * s.places.along_n >= s.units_n)
    return "a tile of " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n) +
           " leaves threads without columns";
  if (s.slices < 1)
    return "tiles of " + std::to_string(o.tile_m) + " x " + std::to_string(o.tile_n) + " take " +
           std::to_string(s.places.count) + " threads for C, and a block has " + std::to_string(o.threads);
  if (gram && s.unit_m != s.unit_n) return "A and B have units of different sizes, and B is to be A";
  return refusal_of_stages(s);
}

/// An SM's cycles for a row of K.
inline double pipeline_cycles(int m, int n, bool is_complex, const KernelOptions& o) {
  const PipelineShape s(m, n, is_complex, o);
  const int words = is_complex ? 2 : 1;
  const double warps = o.threads / 32.0 / s.slices;  // for a row
  const double loads = s.pm + s.pn,
               fmas = o.products == 3 ? 3 * s.pm * s.pn + loads : s.pm * s.pn * s.unit_m * s.unit_n * words * words;
  // A warp's load of 16 bytes a lane: two wavefronts if lanes pair up, or four; and more if it reads more than that.
  const double in_a_warp = std::max(32.0 / s.places.count, 1.0);  // slices
  const auto wavefronts = [&](int along, int bytes) {
    return std::max((s.places.paired() ? 2.0 : 4.0) * bytes / 16, in_a_warp * std::min(along, 32) * bytes / 128.0);
  };
  const double memory = (m + n) * 8.0 * words / bytes_a_cycle;
  const double l1 = warps * (s.pm * wavefronts(s.places.along_m, 8 * words * s.unit_m) +
                             s.pn * wavefronts(s.places.along_n, 8 * words * s.unit_n));
  // Whatever else a warp does: it starts copies, counts, and waits for the others.
  const double copies = s.stage_bytes / 16.0 / o.threads, others = (2 * copies + 40) / s.turns;
  // A block's warps go to the four schedulers round robin, and so the fifth of each block to the same one.
  const double uneven = ceil_div(o.threads, 128) * 128.0 / o.threads;
  const double schedulers = uneven * warps * (fmas * fma_and_yield + (loads + others) * other_cycles) / 4;
  return std::max({memory, schedulers, l1}) + 0.1 * (schedulers + l1);
}

/// What all pipelined kernels of TSMTTSM have.
inline KernelOptions interleaved(KernelOptions asked) {
  if (!asked.transposed) asked.transposed = true;
  if (!asked.leapfrog) asked.leapfrog = false;
  if (!asked.reduction) asked.reduction = Reduction::ordered;
  return asked;
}

/// Visits kernels with the options that are asked for and all values of the others; but only an exhaustive search tries
/// other numbers of rows than what the stages' size makes of it, and twice as many.
template <bool gram = false>
void each_pipeline(int m, int n, bool is_complex, const KernelOptions& asked, Search search, const Visit& visit) {
  const int most = is_complex ? 8 : 16;  // columns of a tile
  constexpr int twice = 1;               // no number of rows, since those are even
  static constexpr int blocks[] = {128, 160, 192, 224, 256, 288, 320, 352, 384}, turns[] = {0, twice, 2, 4, 8, 16};
  KernelOptions o = interleaved(asked);
  // Of complex numbers by as many products as are asked for, or both.
  const bool both = is_complex && !asked.products;
  for (int products = both ? 3 : asked.products; products <= (both ? 4 : asked.products); ++products) {
    for (int tile_m = 1; tile_m <= most; ++tile_m) {
      for (int tile_n = 1; tile_n <= most; ++tile_n) {
        for (const int threads : blocks) {
          for (const int unroll : turns) {
            if (unroll > twice && search == Search::promising) continue;
            o.products = products;
            o.tile_m = asked.tile_m ? asked.tile_m : tile_m;
            o.tile_n = asked.tile_n ? asked.tile_n : tile_n;
            o.threads = asked.threads ? asked.threads : threads;
            o.unroll = asked.unroll ? asked.unroll : unroll == twice ? 0 : unroll;
            if (unroll == twice && !asked.unroll) o.unroll = 2 * PipelineShape(m, n, is_complex, o).turns;
            if (o.unroll > most_turns) continue;
            const bool works = pipeline_refusal(m, n, is_complex, o).empty();
            const PipelineShape s(m, n, is_complex, o);
            o.unroll = s.turns;
            const bool fits = s.registers <= std::min(most_registers, registers_of_sm / o.threads);
            const double cycles = pipeline_cycles(m, n, is_complex, o) * (fits ? 1 : too_many_registers);
            if (gram && !asked.unroll) {  // rows of one matrix are copied, so a stage has more of them
              o.unroll = 0;
              o.unroll = PipelineShape(m, n, is_complex, o, true).turns;
            }
            visit(o, works ? cycles : impossible);
          }
        }
      }
    }
  }
}

}  // namespace gemm::generated
