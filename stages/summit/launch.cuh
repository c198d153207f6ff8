// Stage 18: how a problem is launched: packed or not, with which tile, and reduced or not.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/model.hpp"
#include "stages/summit/pack.cuh"
#include "stages/summit/plan.cuh"
#include "stages/summit/reduce.cuh"
#include "stages/summit/shape.cuh"

namespace gemm::summit {

// 18_summit.cu has it.
template <class S, Way WAY, bool SHARED>
__global__ void sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda,
                      const float* __restrict__ b, unsigned ldb, std::int64_t b_panel, float beta,
                      float* __restrict__ c, std::int64_t ldc, Plan plan, bool wide, float4* parts, unsigned* tickets);

// The workspace: a ticket for each shared tile, 0 before and after a launch; then the parts, two a worker, and never
// more workers than places; then packed operands.
inline std::size_t part_words() {
  return 2 * static_cast<std::size_t>(device_limits().multiprocessors) * Large::BLOCKS * Large::TILE_M * Large::TILE_N;
}
static_assert(Small::BLOCKS * Small::TILE_M * Small::TILE_N <= Large::BLOCKS * Large::TILE_M * Large::TILE_N);

template <class S>
inline Status launch(const SgemmProblem& p, const Choice& choice, std::int64_t b_panel, cudaStream_t stream) {
  const Plan& plan = choice.plan;
  unsigned* const tickets = reinterpret_cast<unsigned*>(p.workspace);
  float4* const parts = reinterpret_cast<float4*>(p.workspace + TICKETS);
  const bool wide = has_aligned_rows(p.c, p.ldc);
  if (b_panel == 0) b_panel = S::TILE_N;
  auto kernel = choice.way == Way::words ? sgemm<S, Way::words, true> : sgemm<S, Way::fours, true>;
  if constexpr (std::is_same_v<S, Large>) {
    if (choice.way == Way::packed) kernel = sgemm<S, Way::packed, true>;
    if (plan.workers == 0 && choice.way != Way::words)
      kernel = choice.way == Way::packed ? sgemm<S, Way::packed, false> : sgemm<S, Way::fours, false>;
  }
  const Status status = gemm::launch(
      kernel, {.grid = plan.blocks(), .block = S::THREADS, .dynamic_shared = S::SHARED_BYTES, .stream = stream}, p.m,
      p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b, static_cast<unsigned>(p.ldb), b_panel, p.beta,
      p.c, p.ldc, plan, wide, parts, tickets);
  if (!status || plan.workers == 0 || !plan.reduced) return status;
  unsigned height = 1;  // for about four parts a thread
  while (height < 16 && height * 4 * plan.shared < static_cast<unsigned>(plan.workers)) height *= 2;
  return gemm::launch(reduce<S>,
                      {.grid = static_cast<unsigned>(plan.shared) * (S::TILE_M * S::TILE_N / 4 / WIDTH),
                       .block = {WIDTH, height},
                       .stream = stream},
                      p.m, p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

template <Tile TILE, bool ALWAYS_PACK = false>
inline Status launch(const SgemmProblem& problem, cudaStream_t stream) {
  SgemmProblem p = problem;
  if (p.m == 0 || p.n == 0) return Status::ok();
  if (std::max(p.lda, p.ldb) >= 1 << 30) return Status::unsupported("a leading dimension of 2^30 or more");
  const Choice choice = choose(p, TILE, ALWAYS_PACK);
  if (choice.time == IMPOSSIBLE) return Status::unsupported("no tile fits this GPU's shared memory");
  std::int64_t b_panel = 0;  // from a column of tiles to the next, of packed B
  if (choice.way == Way::packed && p.depth() > 0) {
    float* const to = p.workspace + TICKETS + part_words();
    const Packing a{p.a, p.lda, p.m, to}, b{p.b, p.ldb, pack_b(p) ? p.n : 0, to + packed_words(p.m, p.depth())};
    const Status packed = launch_pack<false>(a, b, p.depth(), stream);
    if (!packed) return packed;
    p.a = a.to;
    if (b.width > 0) p.b = b.to, p.ldb = PANEL, b_panel = static_cast<std::int64_t>(p.depth()) * PANEL;
  }
  return with_shape(choice.tile, [&](auto shape) { return launch<decltype(shape)>(p, choice, b_panel, stream); });
}

inline std::size_t workspace_bytes(const SgemmProblem& p) {
  return sizeof(float) * (TICKETS + part_words() + packed_words(p.m, p.depth()) + packed_words(p.n, p.depth()));
}

// Of a step of a warp: ROWS / 4 float4s of A and COLS / 4 of B, two cycles each, for ROWS * COLS FMAs.
template <Tile TILE, bool ALWAYS_PACK = false>
L1Cycles l1_cycles(const SgemmProblem& p) {
  return with_shape(choose(p, TILE, ALWAYS_PACK).tile, [](auto shape) {
    return L1Cycles{.shared = 0.5 * (shape.ROWS + shape.COLS) / (shape.ROWS * shape.COLS)};
  });
}

}  // namespace gemm::summit
