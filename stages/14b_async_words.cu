// 14b asynchronous words: k-tiles go from global to shared memory without passing through registers. Two k-tiles are in
// flight while a third is multiplied. A is transposed on the way: each copy moves one word, to where 14 stores it.
//
// Idea      cp.async names a source and a target and does not wait: no registers for words in flight, no stores.
// Base      14_register_double_buffer
// Change    Fetch and store become one instruction. Shared memory has room for three k-tiles of 32 steps. A copy of four
//           words cannot transpose, so A's copies have 4 bytes: 32 for a thread and k-tile, and 8 of 16 bytes for B.
// Limit     Issue slots: per 32 steps of k 4096 FFMA, 198 LDS.128, 40 copies and 276 others, 89 %. If each LDS.128 costs
//           three slots more, 79 % of the peak, 52 TFLOP/s. A copy of 4 bytes may cost more than its slot.
// Number    stall_barrier, predicted half of 14's, because a k-tile is twice as deep. No STS.
// Map       As 12: 4 warps of 64 x 64; lane (lm, ln) of 8 x 4 has rows 4 lm + 32 r + 0..3, columns 4 ln + 16 g + 0..3.
// Page      docs/stages/14b_async_words.md
// Source    CUDA C++ Programming Guide, "Asynchronous Data Copies"; PTX ISA, cp.async. The arrangement is ours.
#include "common/kernel/ptx.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 32;           // of C per block; steps of k between barriers
constexpr int WARP_M = 64, WARP_N = 64;                          // of C per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // how a warp's lanes lie over its part of C
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread
constexpr int THREADS = 32 * (TILE_M / WARP_M) * (TILE_N / WARP_N);
constexpr int STAGES = 3;  // k-tiles in shared memory: one is read, two are in flight
constexpr int A_TILE = TILE_K * TILE_M, B_TILE = TILE_K * TILE_N;
constexpr unsigned SHARED_BYTES = STAGES * (A_TILE + B_TILE) * sizeof(float);
constexpr int B_APART = 4 * LANES_N;  // to a thread's next columns of B
static_assert(LANES_M * LANES_N == 32 && ROWS % 4 == 0 && COLS % 4 == 0 && LANES_M % 8 == 0 && TILE_K % 8 == 0);

// VECTOR: rows of all three matrices start at multiples of 16 bytes, and n is a multiple of 4.
template <bool VECTOR>
__global__ void __launch_bounds__(THREADS, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  float* const as = smem;                    // [STAGES][TILE_K][TILE_M]
  float* const bs = smem + STAGES * A_TILE;  // [STAGES][TILE_K][TILE_N]
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  // Lanes 1 apart share rows, lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
  const int lm = lane / 2 % LANES_M, ln = lane / 16 * 2 + lane % 2;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int warp_row = warp / (TILE_N / WARP_N) * WARP_M, warp_col = warp % (TILE_N / WARP_N) * WARP_N;

  // Copies. A thread takes a word of every A_STEP-th row of A's tile, and WORDS words of every B_STEP-th of B's. As in 13b
  // A's float4s change places, number f of step k with f ^ k % 8, so that a warp's words get different banks.
  using gemm::ptx::copy_words;
  constexpr int WORDS = VECTOR ? 4 : 1;
  constexpr int A_WIDE = 8, B_WIDE = TILE_N / WORDS;  // threads that copy a row; of A's a sector, 32 bytes
  constexpr int A_STEP = THREADS / A_WIDE, B_STEP = THREADS / B_WIDE;
  const int a_k = thread % A_WIDE, a_row = thread / A_WIDE;
  const int b_col = thread % B_WIDE * WORDS, b_k = thread / B_WIDE;
  // Outside the matrices the last row and the last columns are copied instead; their results are not stored.
  const int last_row = m - 1 - tile_row, last_col = n - WORDS - tile_col;
  const auto row_at = [&](int i) -> std::size_t { return static_cast<unsigned>(min(a_row + i, last_row)); };
  const float* a_from = a + static_cast<std::size_t>(tile_row) * lda + a_k;
  const float* b_from = b + tile_col + min(b_col, last_col) + static_cast<std::size_t>(b_k) * ldb;
  int left = k;                        // steps of k whose copies have not started
  const auto fetch = [&](int stage) {  // zeros behind the end of k
    float* a_to = as + stage * A_TILE + a_k * TILE_M;
    float* b_to = bs + stage * B_TILE + b_k * TILE_N + b_col;
#pragma unroll
    for (int i = 0; i < TILE_M; i += A_STEP) {
      const std::size_t row = row_at(i);
#pragma unroll
      for (int s = 0; s < TILE_K; s += A_WIDE)
        copy_words<1>(a_to + s * TILE_M + ((a_row + i) ^ (4 * a_k)), a_from + row * lda + s, a_k + s < left ? 1 : 0);
    }
#pragma unroll
    for (int i = 0; i < TILE_K; i += B_STEP) {
      const bool exists = b_k + i < left;
      copy_words<WORDS>(b_to + i * TILE_N, b_from + i * std::size_t{ldb}, exists ? WORDS : 0);
    }
    gemm::ptx::cp_async_commit();
    a_from += TILE_K;
    b_from += static_cast<std::size_t>(ldb) * TILE_K;
    left -= TILE_K;
  };

  float sum[ROWS][COLS] = {};
  alignas(16) float a_part[2][ROWS], b_part[2][COLS];  // of even and of odd steps
  const float* const a_lane = as + warp_row;
  const float* const b_lane = bs + warp_col + 4 * ln;
  fetch(0);
  fetch(1);
  const auto read = [&](int stage, int i) {
    gemm::read_fours<4 * LANES_M>(a_part[i % 2], a_lane + stage * A_TILE + i * TILE_M + 4 * (lm ^ i % A_WIDE));
    gemm::read_fours<B_APART>(b_part[i % 2], b_lane + stage * B_TILE + i * TILE_N);
  };
  int current = 0, free = 2;  // the k-tile being read, and the next to fill
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    gemm::ptx::cp_async_wait<STAGES - 2>();  // for all but the latest
    __syncthreads();  // all copies of this k-tile have arrived; no thread reads the one before it
    fetch(free);
    free = free + 1 < STAGES ? free + 1 : 0;
    read(current, 0);
#pragma unroll 8
    for (int i = 0; i < TILE_K; ++i) {
      if (i + 1 < TILE_K) read(current, i + 1);
      gemm::add_products(sum, a_part[i % 2], b_part[i % 2]);
    }
    current = current + 1 < STAGES ? current + 1 : 0;
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = tile_row + warp_row + 4 * lm + r / 4 * (4 * LANES_M) + r % 4;
#pragma unroll
    for (int g = 0; g < COLS; g += 4) {
      const int col = tile_col + warp_col + 4 * ln + g * LANES_N;
      gemm::store_sums4<VECTOR>(c + row * ldc + col, row, col, m, n, alpha, &sum[r][g], beta);
    }
  }
}

gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  // 32 bits, because 64-bit products in the addresses cost the loop several percent: docs page.
  if (p.lda >= 1ll << 32 || p.ldb >= 1ll << 32) return gemm::Status::unsupported("a leading dimension of 2^32 or more");
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  const bool vector = gemm::all_have_aligned_rows(p) && p.n % 4 == 0;
  return gemm::launch(vector ? sgemm<true> : sgemm<false>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n,
                       .block = THREADS,
                       .dynamic_shared = SHARED_BYTES,
                       .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b,
                      static_cast<unsigned>(p.ldb), p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::StageInfo info = {
    .idea = "tiles copied asynchronously, two ahead; A transposed word by word",
    .base = "14",
    // A step of a warp: 6 float4s of a thread, two cycles each, for 128 FMAs.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .min_compute_capability = 80,
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
