// Which of TSMM's kernels for FP64 Tensor Cores to take for a problem: a model of an SM's time for a row of K.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "common/problem/kernel_options.hpp"
#include "tsm/generated/fragment_rows.cuh"
#include "tsm/generated/pipeline_tsmm_model.hpp"
#include "tsm/generated/tensor_costs.hpp"

namespace gemm::generated {

/// Bytes of A and B that a warp has by a ticket, at least. Of an H200 a counter gave 410 million tickets in a second, so with
/// pieces of 10 kB it bounds what memory could do (docs/tsm/13c_tsmm_tensor_cores.log.md).
inline constexpr int least_piece_for_a_ticket = 11 * 1024;

/// What follows from M, N and options; `unroll` is the number of times 16 rows that a warp has at a time.
struct TsmmTensorShape {
  int fn, rows, piece_bytes, c_bytes, stage_bytes, stages, registers, resident;

  TsmmTensorShape(int m, int n, bool is_complex, const KernelOptions& o)
      : fn(ceil_div(n, 8)),
        rows(16 * o.unroll),
        piece_bytes(rows * (m + n) * (is_complex ? 16 : 8)),
        c_bytes(bytes_of_c_fragments(m, n, is_complex ? 16 : 8)),
        stage_bytes(bytes_of_tensor_stage(m, n, is_complex ? 16 : 8, rows)) {
    const int words = is_complex ? 2 : 1, operands = 2 * (2 * o.unroll + fn) * 2 * words;
    registers = o.unroll * fn * 8 * words + operands + (is_complex ? 4 * o.unroll : 0) + 44;
    resident = std::clamp(registers_of_sm / ((registers + 7) / 8 * 8 * o.threads), 1, 4);
    const auto fits = [&](int number) {
      return c_bytes + o.threads / 32 * number * stage_bytes <= shared_of_sm / resident - 1024;
    };
    while (resident > 1 && !fits(2)) --resident;
    // With one, the next rows come while another warp of the scheduler multiplies: if these are few.
    stages = fits(2) || o.unroll > 1 ? 2 : 1;
    while (stages < most_tsmm_stages && fits(stages + 1) &&
           resident * o.threads / 32 * (stages - 1) * stage_bytes < bytes_on_their_way)
      ++stages;
  }

  int shared_bytes(int threads) const { return c_bytes + threads / 32 * stages * stage_bytes; }
};

/// Why there is no such kernel; empty if there is one.
inline std::string tensor_tsmm_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  if (*o.c_source != CSource::shared) return "Tensor Cores have C in shared memory here";
  if (o.products != (is_complex ? 4 : 0)) return "a product of complex numbers is four of real ones here";
  if (o.threads_per_row != 4) return "a row of a fragment belongs to four threads";
  if (TsmmTensorShape(m, n, is_complex, o).shared_bytes(o.threads) > most_shared_of_block)
    return "its stages take more shared memory than there is";
  return {};
}

/// A block's turns. Where C is loaded soon, a warp has one piece of A and B, or as many as are 3 KB, and its block ends.
/// 0, all that there are, for a larger C, and for pieces that are better in turns.
inline int tensor_tsmm_turns(int m, int n, bool is_complex, int piece_bytes) {
  constexpr int least = 3 * 1024, most = 25 * 512;
  const bool ends_soon = m * n * 8 * words(is_complex) <= most_bytes_of_narrow_c && piece_bytes <= most;
  return ends_soon ? std::min(ceil_div(least, piece_bytes), 4) : 0;
}

/// An SM's cycles for a row of K. What decides is how many bytes of A and B a warp has at a time: on an H200 a piece of
/// half or twice the best size cost up to a fifth (docs/tsm/13c_tsmm_tensor_cores.log.md#rows-threads-and-turns).
inline double tensor_tsmm_cycles(int m, int n, bool is_complex, const KernelOptions& o) {
  const TsmmTensorShape s(m, n, is_complex, o);
  const int word = words(is_complex), warps = o.threads / 32 * s.resident;
  const double fmas = ceil_div(m, 4) * 4.0 * s.fn * 8 * word * word, uneven = ceil_div(warps, 4) * 4.0 / warps;
  const double tensor = fmas / tensor_fmas_a_cycle * uneven, memory = (m + n) * 8.0 * word / scale_bytes_a_cycle;
  const bool short_lived = o.turns > 0 && o.turns <= 8;  // else its blocks take turns to the end, as far as they know
  const double best_piece = (short_lived ? 7.5 : 20) * 1024;
  const double piece = 0.2 * std::abs(std::log2(s.piece_bytes / best_piece));
  // Small blocks come and go easily. But few warps leave Tensor Cores idle, and 384 threads have few registers each.
  const double block = short_lived ? (o.threads > 128 ? 0.1 : 0)
                                   : 0.05 + (o.threads == 256  ? 0
                                             : o.threads < 256 ? 0.04
                                                               : 0.1);
  return std::max(memory, tensor) * (1 + piece + block);
}

/// Visits kernels with the options that are asked for and all values of the others.
inline void each_tensor_tsmm(int m, int n, bool is_complex, const KernelOptions& asked, Search, const Visit& visit) {
  KernelOptions o = asked;
  if (!o.c_source) o.c_source = CSource::shared;
  if (!asked.products) o.products = is_complex ? 4 : 0;
  if (!asked.threads_per_row) o.threads_per_row = 4;
  for (int sixteens = 1; sixteens <= 4; ++sixteens) {
    for (const int threads : {128, 256, 384}) {
      o.unroll = asked.unroll ? asked.unroll : sixteens;
      o.threads = asked.threads ? asked.threads : threads;
      const TsmmTensorShape s(m, n, is_complex, o);
      if (!asked.turns) o.turns = tensor_tsmm_turns(m, n, is_complex, s.piece_bytes);
      const bool works = tensor_tsmm_refusal(m, n, is_complex, o).empty();
      visit(o, works ? tensor_tsmm_cycles(m, n, is_complex, o) * crowding(s.registers, o.threads) : impossible);
    }
  }
}

}  // namespace gemm::generated
