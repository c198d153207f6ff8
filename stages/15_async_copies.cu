// 15 asynchronous copies: as 14b, with copies of 16 bytes for A, too; they cannot transpose, so A is stored by rows.
//
// Idea      A float4 of A's tile is four steps of one row, in place of one step of four rows: as many loads, and a
//           quarter of the copies. The registers that 14b freed hold four steps of B.
// Base      14b_async_words
// Change    as[row][k]; a float4 of it holds a row's next four steps, so the inner loop walks k in quads: 8 float4s of A,
//           16 of B, 512 FMAs. The next quad is read across the barrier between k-tiles. Padding, no swizzle.
// Limit     Issue slots: 512 FFMA, 24 LDS.128 and 19 others per quad, 92 %. If each LDS.128 costs three slots more,
//           because it writes four registers: 512 / (555 + 72) = 82 % of the peak, 53 TFLOP/s (docs page).
// Number    Issue slots used, and stall_barrier.
// Map       4 warps of 64 x 64; lane (lm, ln) of 8 x 4 computes rows lm + 8 r and columns 4 ln + 16 g + 0..3 of them.
// Page      docs/stages/15_async_copies.md
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
// Words to the next row of as, and to a thread's next one. Rows are 4 banks apart, so 8 lanes' float4s fill all 32.
constexpr int A_ROW = TILE_K + 4, A_APART = LANES_M * A_ROW;
constexpr int A_TILE = TILE_M * A_ROW, B_TILE = TILE_K * TILE_N;
constexpr unsigned SHARED_BYTES = STAGES * (A_TILE + B_TILE) * sizeof(float);
constexpr int B_APART = 4 * LANES_N;  // to a thread's next columns of B
static_assert(LANES_M * LANES_N == 32 && ROWS % 2 == 0 && COLS % 4 == 0 && TILE_K % 4 == 0);

// VECTOR: rows of all three matrices start at multiples of 16 bytes, and n is a multiple of 4.
template <bool VECTOR>
__global__ void __launch_bounds__(THREADS, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  float* const as = smem;                    // [STAGES][TILE_M][A_ROW]
  float* const bs = smem + STAGES * A_TILE;  // [STAGES][TILE_K][TILE_N]
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  // Lanes 1 apart share rows, lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
  const int lm = lane / 2 % 2 + lane / 8 * 2, ln = lane % 2 + lane / 4 % 2 * 2;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int warp_row = warp / (TILE_N / WARP_N) * WARP_M, warp_col = warp % (TILE_N / WARP_N) * WARP_N;

  // Copies. A thread takes WORDS words of every A_STEP-th row of A's tile, and of every B_STEP-th of B's.
  using gemm::ptx::copy_words;
  constexpr int WORDS = VECTOR ? 4 : 1;
  constexpr int A_WIDE = TILE_K / WORDS, B_WIDE = TILE_N / WORDS;  // threads that copy a row
  constexpr int A_STEP = THREADS / A_WIDE, B_STEP = THREADS / B_WIDE;
  const int a_k = thread % A_WIDE * WORDS, a_row = thread / A_WIDE;
  const int b_col = thread % B_WIDE * WORDS, b_k = thread / B_WIDE;
  // Outside the matrices the last row and the last columns are copied instead; their results are not stored.
  const int last_row = m - 1 - tile_row, last_col = n - WORDS - tile_col;
  const auto row_at = [&](int i) -> std::size_t { return static_cast<unsigned>(min(a_row + i, last_row)); };
  const float* a_from = a + static_cast<std::size_t>(tile_row) * lda + a_k;
  const float* b_from = b + tile_col + min(b_col, last_col) + static_cast<std::size_t>(b_k) * ldb;
  int left = k;  // steps of k whose copies have not started
  const auto fetch = [&](int stage) {
    float* a_to = as + stage * A_TILE + a_row * A_ROW + a_k;
    float* b_to = bs + stage * B_TILE + b_k * TILE_N + b_col;
    if (left >= TILE_K) {
#pragma unroll
      for (int i = 0; i < TILE_M; i += A_STEP) copy_words<WORDS>(a_to + i * A_ROW, a_from + row_at(i) * lda, WORDS);
      const float* from = b_from;
#pragma unroll
      for (int i = 0; i < TILE_K; i += B_STEP, from += static_cast<std::size_t>(ldb) * B_STEP)
        copy_words<WORDS>(b_to + i * TILE_N, from, WORDS);
    } else if (left > 0) {  // the last tile, if it is not complete: zeros behind the end of k
      const int a_words = max(min(left - a_k, WORDS), 0);
#pragma unroll 4
      for (int i = 0; i < TILE_M; i += A_STEP) {
        const std::size_t row = row_at(i);
        copy_words<WORDS>(a_to + i * A_ROW, a_words > 0 ? a_from + row * lda : a, a_words);
      }
#pragma unroll 4
      for (int i = 0; i < TILE_K; i += B_STEP) {
        const bool exists = b_k + i < left;
        copy_words<WORDS>(b_to + i * TILE_N, exists ? b_from + i * std::size_t{ldb} : b, exists ? WORDS : 0);
      }
    }
    gemm::ptx::cp_async_commit();
    a_from += TILE_K;
    b_from += static_cast<std::size_t>(ldb) * TILE_K;
    left -= TILE_K;
  };

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
    .idea = "as 14b, A copied by 16 bytes, too, so by rows; read four steps of k at a time",
    .base = "14b",
    // A quad of a warp: 8 float4s of A and 16 of B, two cycles each, for 512 FMAs.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .min_compute_capability = 80,
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
