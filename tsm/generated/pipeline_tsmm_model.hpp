// Which of the pipelined TSMM kernels to take for a problem: a model of an SM's time for a row of K.
#pragma once

#include <algorithm>
#include <string>

#include "common/kernel_options.hpp"
#include "tsm/generated/pipeline_model.hpp"

namespace gemm::generated {

inline constexpr double scale_bytes_a_cycle = 15;  // 3.94 TB/s, read and written, over 132 SMs at 1.98 GHz

/// What follows from M, N and options; `unroll` is the number of rows that a thread has at a time. A stage has them
/// `turns` times.
struct TsmmPipelineShape {
  int per_unit, units_m, units_n, pn, along_n, groups, turns, rows, stage_bytes, c_bytes, kept_bytes, resident;

  TsmmPipelineShape(int m, int n, bool is_complex, const KernelOptions& o)
      : per_unit(is_complex ? 1 : 2),
        units_m(ceil_div(m, per_unit)),
        units_n(ceil_div(n, per_unit)),
        pn(ceil_div(units_n, o.threads_per_row)),
        along_n(ceil_div(units_n, pn)),
        groups(o.threads / 32 * (32 / along_n)) {
    const int words = is_complex ? 2 : 1, columns = pn * per_unit;
    registers_ = 2 * words * (o.unroll * columns + 2 * o.unroll * per_unit + 2 * columns) + 48;
    resident = std::clamp(registers_of_sm / ((registers_ + 7) / 8 * 8 * o.threads), 1, 4);
    resident = std::min(resident, 2048 / o.threads);
    const int row_bytes = 16 * units_m, of_a_turn = std::max(groups, 1) * o.unroll * row_bytes;
    c_bytes = units_m * per_unit * units_n * 16;
    kept_bytes = is_complex ? 0 : groups * units_n * 16;  // of rows of B that do not begin with 16 bytes
    turns = std::max(static_cast<int>(bytes_of_stages / 2 / resident / of_a_turn + 0.5), 1);
    const auto fits = [&] {
      return c_bytes + kept_bytes + turns * of_a_turn * pipeline_stages <= shared_of_sm / resident - 1024;
    };
    while (turns > 1 && !fits()) --turns;
    while (resident > 1 && !fits()) --resident;
    rows = groups * o.unroll * turns;
    stage_bytes = turns * of_a_turn;
  }

  int registers() const { return registers_; }
  int shared_bytes() const { return c_bytes + kept_bytes + pipeline_stages * stage_bytes; }

 private:
  int registers_;
};

/// Why there is no such kernel; empty if there is one.
inline std::string tsmm_pipeline_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  const TsmmPipelineShape s(m, n, is_complex, o);
  if (*o.c_source != CSource::shared) return "the pipeline has C in shared memory";
  if (s.along_n != o.threads_per_row)
    return std::to_string(o.threads_per_row) + " threads for a row leave some without columns";
  if (s.groups < 1) return "rows of " + std::to_string(s.along_n) + " units want more threads than a warp has";
  if (s.shared_bytes() > shared_of_sm - 1024) return "its stages take more shared memory than there is";
  return {};
}

/// An SM's cycles for a row of K.
inline double tsmm_pipeline_cycles(int m, int n, bool is_complex, const KernelOptions& o) {
  const TsmmPipelineShape s(m, n, is_complex, o);
  const int words = is_complex ? 2 : 1, columns = s.pn * s.per_unit;
  const double warps = o.threads / 32.0 / (s.groups * o.unroll);  // for a row
  const double fmas = static_cast<double>(o.unroll) * columns * s.units_m * s.per_unit * words * words;
  const Places places = places_of_warp(s.along_n);
  const double rows_of_a_warp = std::max(32.0 / s.along_n, 1.0), of_c = s.along_n * 16 / 128.0;
  const double least = places.paired() ? 2 : 4;
  const double l1 = warps * s.units_m *
                    (o.unroll * std::max(least, rows_of_a_warp * 16 / 128) + s.per_unit * s.pn * std::max(least, of_c));
  const double memory = (m + n) * 8.0 * words / scale_bytes_a_cycle, fma = warps * fmas * fma_cycles;
  const double others = 12.0 * o.unroll * columns + 60;  // storing, counting
  const double issue = warps * (fmas + s.units_m * (o.unroll + s.per_unit * s.pn) + others) / 4;
  return std::max({memory, fma, l1, issue}) + 0.1 * (fma + l1) + 0.25 * warps * others / 4;
}

/// Visits kernels with the options that are asked for and all values of the others.
template <class Visit>
void each_tsmm_pipeline(int m, int n, bool is_complex, const KernelOptions& asked, Visit visit) {
  const int per_unit = is_complex ? 1 : 2;
  static constexpr int blocks[] = {128, 160, 192, 224, 256, 288, 320, 384};
  KernelOptions o = asked;
  if (!o.c_source) o.c_source = CSource::shared;
  for (int rows = 1; rows <= 8; ++rows) {
    for (int pn = 1; pn <= 8; ++pn) {
      for (const int threads : blocks) {
        o.unroll = asked.unroll ? asked.unroll : rows;
        o.threads_per_row = asked.threads_per_row ? asked.threads_per_row : ceil_div(ceil_div(n, per_unit), pn);
        o.threads = asked.threads ? asked.threads : threads;
        const TsmmPipelineShape s(m, n, is_complex, o);
        const bool works = tsmm_pipeline_refusal(m, n, is_complex, o).empty();
        const bool fits = s.registers() <= std::min(most_registers, registers_of_sm / o.threads);
        visit(o, works ? tsmm_pipeline_cycles(m, n, is_complex, o) * (fits ? 1 : too_many_registers) : impossible);
      }
    }
  }
}

inline KernelOptions choose_tsmm_pipeline(int m, int n, bool is_complex, const KernelOptions& asked) {
  return least_of([&](auto visit) { each_tsmm_pipeline(m, n, is_complex, asked, visit); });
}
inline std::vector<Candidate> tsmm_pipeline_candidates(int m, int n, bool is_complex, const KernelOptions& asked,
                                                       Search search) {
  return sorted([&](auto visit) { each_tsmm_pipeline(m, n, is_complex, asked, visit); }, search);
}

}  // namespace gemm::generated
