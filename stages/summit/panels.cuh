// Stages 16b and 17c: a product of packed panels: its copies to shared memory, and its launches.
#pragma once

#include <cuda_runtime.h>

#include "common/kernel/ptx.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/pack.cuh"
#include "stages/summit/parts.cuh"
#include "stages/summit/tile.cuh"

namespace gemm::summit {

constexpr int BLOCKS = 2;                                  // per SM
constexpr int ROW = TILE_M + TILE_N, TILE = TILE_K * ROW;  // words of a step of k: A's, then B's; of a k-tile
static_assert(TILE_M == PANEL && TILE_N == PANEL);

// A warp copies 128 words of a step of A, and of B.
struct PanelCopies {
  static constexpr int STRIDE = THREADS / (PANEL / 4);
  const float *a, *b;
  int thread;
  const int col = thread % (PANEL / 4) * 4, step = thread / (PANEL / 4);
  const float *a_from = nullptr, *b_from = nullptr;
  int left = 0;  // steps of k whose copies have not started

  __device__ void start(int k, int tile_m, int tile_n, int k_begin, int k_end) {
    left = k_end - k_begin;
    a_from = a + (static_cast<std::size_t>(tile_m) * k + k_begin + step) * PANEL + col;
    b_from = b + (static_cast<std::size_t>(tile_n) * k + k_begin + step) * PANEL + col;
  }

  __device__ __forceinline__ void fetch(int buffer, float* smem) {
    float* const to = smem + buffer * TILE + step * ROW + col;
    if (left >= TILE_K) {
#pragma unroll
      for (int i = 0; i < TILE_K; i += STRIDE) ptx::cp_async_cg(to + i * ROW, a_from + i * PANEL, 16);
#pragma unroll
      for (int i = 0; i < TILE_K; i += STRIDE) ptx::cp_async_cg(to + i * ROW + TILE_M, b_from + i * PANEL, 16);
    } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
#pragma unroll 1
      for (int i = 0; i < TILE_K; i += STRIDE) {
        const bool exists = step + i < left;
        ptx::cp_async_cg(to + i * ROW, exists ? a_from + i * PANEL : a, exists ? 16 : 0);
        ptx::cp_async_cg(to + i * ROW + TILE_M, exists ? b_from + i * PANEL : b, exists ? 16 : 0);
      }
    }
    ptx::cp_async_commit();
    a_from += TILE_K * PANEL;
    b_from += TILE_K * PANEL;
    left -= TILE_K;
  }
};

// The steps of k that panels have.
template <bool QUADS>
int steps_of(const SgemmProblem& p) {
  return QUADS ? whole_quads(p.depth()) : p.depth();
}

// Parts of tiles, then the panels.
template <bool QUADS>
std::size_t workspace_bytes(const SgemmProblem& p) {
  const int k = steps_of<QUADS>(p);
  return part_bytes(BLOCKS) + sizeof(float) * (packed_words(p.m, k) + packed_words(p.n, k));
}

// Packs A and B, multiplies the panels, and adds up the parts of shared tiles.
template <bool QUADS, class Sgemm, class Reduce>
Status launch_packed(Sgemm sgemm, unsigned shared_bytes, Reduce reduce, const SgemmProblem& p, cudaStream_t stream) {
  const int k = steps_of<QUADS>(p);
  const StreamK plan = stream_k(ceil_div(p.m, TILE_M), ceil_div(p.n, TILE_N), ceil_div(k, TILE_K),
                                device_limits().multiprocessors * BLOCKS);
  if (plan.blocks() == 0) return Status::ok();
  float4* const parts = reinterpret_cast<float4*>(p.workspace);
  float* const panels = p.workspace + part_bytes(BLOCKS) / sizeof(float);
  const Packing a{p.a, p.lda, p.m, panels}, b{p.b, p.ldb, p.n, panels + packed_words(p.m, k)};
  const unsigned pack_blocks = pack_a_blocks(p.m, k) + pack_b_blocks(p.n, k);
  const bool wide = has_aligned_rows(p.c, p.ldc);
  Status status = Status::ok();
  if (k > 0)
    status = launch(pack<QUADS>, {.grid = pack_blocks, .block = {32, PACK_ROWS}, .stream = stream}, a, b, p.depth());
  if (!status) return status;
  status = launch(sgemm, {.grid = plan.blocks(), .block = THREADS, .dynamic_shared = shared_bytes, .stream = stream},
                  p.m, p.n, k, p.alpha, a.to, b.to, p.beta, p.c, p.ldc, plan, wide, parts);
  if (!status || plan.workers == 0) return status;
  return launch(reduce, {.grid = static_cast<unsigned>(plan.shared) * FOURS, .block = THREADS, .stream = stream}, p.m,
                p.n, p.beta, p.c, p.ldc, plan, wide, parts);
}

}  // namespace gemm::summit
