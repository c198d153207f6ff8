// 17a rasterisation: blocks that run at the same time compute tiles of C that form a compact patch, not a long row. So
// they read the same rows of A and columns of B, and find them in the L2 cache.
//
// Idea      264 blocks run at the same time. A patch of 8 x 33 tiles reads 8 + 33 k-tiles of A and B. A wave in rows
//           reads as many of A as it has rows, and B from its first column to its last: at 16384, 3 + 128.
// Base      15_async_copies
// Change    place_in_bands(): tiles are numbered in bands of HEIGHT rows, column by column. The kernel is 15's.
// Limit     15's. At 16384 a wave of blocks asks DRAM for 131 k-tiles at a time in rows, for 43 in bands. That is 0.40
//           and 0.13 TB/s of an H200's 4.65, so we predict little gain: docs page.
// Number    dram_bytes: about 3 times as many in rows at 16384. l2_hit rises.
// Map       As 15: 4 warps of 64 x 64; lane (lm, ln) of 8 x 4 computes rows lm + 8 r, columns 4 ln + 16 g + 0..3.
// Page      docs/stages/17a_rasterisation.md
// Source    CUTLASS, "Efficient GEMM in CUDA", threadblock rasterisation.
#include "common/kernel/ptx.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/rows.cuh"
#include "stages/summit/tile.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

using namespace gemm::summit;
// Tiles in bands of HEIGHT rows of tiles, column by column; the last band may be lower. Height 1: row by row, as 15.
template <int HEIGHT>
__device__ void place_in_bands(int tile, int tiles_m, int tiles_n, int& row, int& col) {
  const int band = tile / (HEIGHT * tiles_n), in = tile % (HEIGHT * tiles_n);
  const int height = min(HEIGHT, tiles_m - band * HEIGHT);
  row = band * HEIGHT + in % height;
  col = in / height;
}

// VECTOR: rows of all three matrices start at multiples of 16 bytes, and n is a multiple of 4.
template <int HEIGHT, bool VECTOR>
__global__ void __launch_bounds__(THREADS, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_m, int tiles_n) {
  float* const as = smem;                    // [STAGES][TILE_M][A_ROW]
  float* const bs = smem + STAGES * A_TILE;  // [STAGES][TILE_K][TILE_N]
  const int thread = threadIdx.x;
  const auto [lm, ln, warp_row, warp_col] = place_of(thread);
  int tile_m, tile_n;
  place_in_bands<HEIGHT>(blockIdx.x, tiles_m, tiles_n, tile_m, tile_n);
  const int tile_row = tile_m * TILE_M, tile_col = tile_n * TILE_N;

  RowCopies<VECTOR> copies{a, b, lda, ldb, thread};
  copies.stay_inside(m, n, tile_row, tile_col);
  copies.start(tile_row, tile_col, 0, k);
  const auto fetch = [&](int stage) { copies.fetch(as, bs, stage); };

  float sum[ROWS][COLS] = {};
  float4 a4[2][ROWS / 2];          // four steps of each half of the rows
  float x[ROWS / 2], b1[4][COLS];  // one step of a half; four of all columns
  const float* const a_lane = as + (warp_row + lm) * A_ROW;
  const float* const b_lane = bs + warp_col + 4 * ln;
  fetch(0);
  fetch(1);
  gemm::ptx::cp_async_wait<STAGES - 2>();  // for all but the latest
  __syncthreads();
  const float *a_at = a_lane, *b_at = b_lane;
  if (k > 0) {
    gemm::read_fours<A_APART>(a4[0], a_at);
    gemm::read_fours<B_APART>(b1, b_at, TILE_N);
  }
  int current = 0, free = 2;  // the k-tile being read, and the next to fill
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    fetch(free);  // all threads finished reading it before the last barrier
    free = free + 1 < STAGES ? free + 1 : 0;
#pragma unroll 1
    for (int quad = 0; quad < TILE_K; quad += 4) {
      const float *a_next = a_at + 4, *b_next = b_at + 4 * TILE_N;
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // of the rows; the other half's words arrive
        if (half == 1 && quad == TILE_K - 4) {
          gemm::ptx::cp_async_wait<STAGES - 2>();
          __syncthreads();      // all copies of the next k-tile have arrived; no thread reads this one now
          if (k0 + TILE_K < k)  // else re-read this one: not used
            current = current + 1 < STAGES ? current + 1 : 0;
          a_next = a_lane + current * A_TILE;
          b_next = b_lane + current * B_TILE;
        }
        gemm::read_fours<A_APART>(a4[1 - half], half == 1 ? a_next : a_at + ROWS / 2 * A_APART);
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          gemm::take_words(x, a4[half], s);
          gemm::add_products(&sum[half * ROWS / 2], x, b1[s]);
          if (half == 1) gemm::read_fours<B_APART>(b1[s], b_next + s * TILE_N);
        }
      }
      a_at = a_next;
      b_at = b_next;
    }
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = tile_row + warp_row + lm + r * LANES_M;
#pragma unroll
    for (int g = 0; g < COLS; g += 4) {
      const int col = tile_col + warp_col + 4 * ln + g * LANES_N;
      gemm::store_sums4<VECTOR>(c + row * ldc + col, row, col, m, n, alpha, &sum[r][g], beta);
    }
  }
}

template <int HEIGHT>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  // 32 bits, because 64-bit products in the addresses cost the loop several percent: page of 15.
  if (p.lda >= 1ll << 32 || p.ldb >= 1ll << 32) return gemm::Status::unsupported("a leading dimension of 2^32 or more");
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  const bool vector = gemm::all_have_aligned_rows(p) && p.n % 4 == 0;
  return gemm::launch(vector ? sgemm<HEIGHT, true> : sgemm<HEIGHT, false>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n,
                       .block = THREADS,
                       .dynamic_shared = SHARED_BYTES,
                       .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b,
                      static_cast<unsigned>(p.ldb), p.beta, p.c, p.ldc, tiles_m, tiles_n);
}

constexpr gemm::Variant variants[] = {
    {.name = "height=1", .idea = "tiles row by row, as in 15", .launch = launch<1>},
    {.name = "height=4", .idea = "bands of 4 rows of tiles", .launch = launch<4>},
    {.name = "height=16", .idea = "bands of 16", .launch = launch<16>},
    {.name = "height=64", .idea = "bands of 64", .launch = launch<64>},
};

constexpr gemm::StageInfo info = {
    .idea = "blocks that run together take tiles in bands of 8 rows, column by column",
    .base = "15",
    // A quad of a warp: 8 float4s of A and 16 of B, two cycles each, for 512 FMAs.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .min_compute_capability = 80,
    .launch = launch<8>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
