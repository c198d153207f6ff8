// 16 tuned: 15's kernel with every constant a parameter. A search looks for a better combination among half a million.
// Counting removes most of them before anything is compiled, and nvcc's reports remove some before anything is timed.
//
// Idea      Tile sizes were chosen one at a time. They act together, so a program tries them together.
// Base      15_async_copies
// Change    The kernel is 15's, except that constants come from Shape. There may be any number of stages (two are
//           enough: docs page) and of groups of rows. A loop body has QUADS quads of k.
// Limit     As 15: issue slots, and the cycles in which LDS.128 writes registers. No choice of constants removes them.
// Number    GFLOP/s of the variants, which are points of the search: see the page's table.
// Map       As 15, with the constants of Tuned.
// Page      docs/stages/16_tuned.md
// Source    Kurzak, Tomov, Dongarra, "Autotuning GEMM Kernels for the Fermi GPU", IEEE TPDS 23, 2012 (pruned search).
#include "common/kernel/ptx.cuh"
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"
#include "stages/summit/tuned.cuh"

extern __shared__ __align__(16) float smem[];

namespace {

using gemm::tuned::Shape;  // a point of the search: its constants, and what they must satisfy

// VECTOR: rows of all three matrices start at multiples of 16 bytes, and n is a multiple of 4.
template <class S, bool VECTOR>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, unsigned lda, const float* __restrict__ b,
          unsigned ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  constexpr int TILE_M = S::TILE_M, TILE_N = S::TILE_N, TILE_K = S::TILE_K, WARP_M = S::WARP_M, WARP_N = S::WARP_N;
  constexpr int ROWS = S::ROWS, COLS = S::COLS, LANES_M = S::LANES_M, LANES_N = S::LANES_N, THREADS = S::THREADS;
  constexpr int STAGES = S::STAGES, QUADS = S::QUADS, GROUP = S::GROUP, A_ROW = S::A_ROW;
  constexpr int A_TILE = S::A_TILE, B_TILE = S::B_TILE, A_APART = LANES_M * A_ROW, B_APART = 4 * LANES_N;
  float* const as = smem;                    // [STAGES][TILE_M][A_ROW]
  float* const bs = smem + STAGES * A_TILE;  // [STAGES][TILE_K][TILE_N]
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  // Lanes 1 apart share rows, lanes 2 apart share columns: a 16-byte load whose lanes pair up so takes half the cycles.
  const int lm = lane / 2 % 2 + lane / (2 * LANES_N) * 2, ln = lane % 2 + lane / 4 % (LANES_N / 2) * 2;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int warp_row = warp / (TILE_N / WARP_N) * WARP_M, warp_col = warp % (TILE_N / WARP_N) * WARP_N;

  // Copies. A thread takes WORDS words of every A_STEP-th row of A's tile, and of every B_STEP-th of B's.
  using gemm::ptx::copy_words;
  constexpr int WORDS = VECTOR ? 4 : 1;
  constexpr int A_WIDE = TILE_K / WORDS, B_WIDE = TILE_N / WORDS;  // threads that copy a row
  constexpr int A_STEP = THREADS / A_WIDE, B_STEP = THREADS / B_WIDE;
  static_assert(THREADS % A_WIDE == 0 && THREADS % B_WIDE == 0 && TILE_M % A_STEP == 0 && TILE_K % B_STEP == 0);
  const int a_k = thread % A_WIDE * WORDS, a_row = thread / A_WIDE;
  const int b_col = thread % B_WIDE * WORDS, b_k = thread / B_WIDE;
  // Outside the matrices the last row and the last columns are copied instead; their results are not stored.
  const int last_row = m - 1 - tile_row, last_col = n - WORDS - tile_col;
  const auto row_at = [&](int i) -> std::size_t { return static_cast<unsigned>(min(a_row + i, last_row)); };
  const float* a_from = a + static_cast<std::size_t>(tile_row) * lda + a_k;
  const float* b_from = b + tile_col + static_cast<std::size_t>(b_k) * ldb;
  int left = k;  // steps of k whose copies have not started
  const auto fetch = [&](int stage) {
    float* a_to = as + stage * A_TILE + a_row * A_ROW + a_k;
    float* b_to = bs + stage * B_TILE + b_k * TILE_N + b_col;
    if (left >= TILE_K) {
#pragma unroll
      for (int i = 0; i < TILE_M; i += A_STEP) copy_words<WORDS>(a_to + i * A_ROW, a_from + row_at(i) * lda, WORDS);
      const float* from = b_from + min(b_col, last_col);
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
        const float* from = b_from + min(b_col, last_col) + i * std::size_t{ldb};
        copy_words<WORDS>(b_to + i * TILE_N, exists ? from : b, exists ? WORDS : 0);
      }
    }
    gemm::ptx::cp_async_commit();
    a_from += TILE_K;
    b_from += static_cast<std::size_t>(ldb) * TILE_K;
    left -= TILE_K;
  };

  float sum[ROWS][COLS] = {};
  float4 a4[2][GROUP];          // four steps of GROUP rows
  float x[GROUP], b1[4][COLS];  // one step of them; four of all columns
  const float* const a_lane = as + (warp_row + lm) * A_ROW;
  const float* const b_lane = bs + warp_col + 4 * ln;

#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) fetch(stage);
  gemm::ptx::cp_async_wait<STAGES - 2>();  // the oldest group has arrived
  __syncthreads();
  const float *a_at = a_lane, *b_at = b_lane;
  if (k > 0) {
    gemm::read_fours<A_APART>(a4[0], a_at);
    gemm::read_fours<B_APART>(b1, b_at, TILE_N);
  }
  int current = 0, free = STAGES - 1;  // the k-tile being read, and the next to fill
#pragma unroll 1
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    fetch(free);  // all threads finished reading it before the last barrier
    free = free + 1 < STAGES ? free + 1 : 0;
#pragma unroll 1
    for (int quads = 0; quads < TILE_K; quads += 4 * QUADS) {
#pragma unroll
      for (int quad = 0; quad < QUADS; ++quad) {
        const float *a_next = a_at + 4, *b_next = b_at + 4 * TILE_N;
#pragma unroll
        for (int group = 0; group < ROWS / GROUP; ++group) {
          const bool last = group == ROWS / GROUP - 1;
          const int half = (quad * (ROWS / GROUP) + group) % 2;  // of a4: this group's, the other the next one's
          if (last && quad == QUADS - 1 && quads == TILE_K - 4 * QUADS) {
            gemm::ptx::cp_async_wait<STAGES - 2>();
            __syncthreads();      // all copies of the next k-tile have arrived; no thread reads this one now
            if (k0 + TILE_K < k)  // else re-read this one: not used
              current = current + 1 < STAGES ? current + 1 : 0;
            a_next = a_lane + current * A_TILE;
            b_next = b_lane + current * B_TILE;
          }
          gemm::read_fours<A_APART>(a4[1 - half], last ? a_next : a_at + (group + 1) * GROUP * A_APART);
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            gemm::take_words(x, a4[half], s);
            gemm::add_products(&sum[group * GROUP], x, b1[s]);
            if (last) gemm::read_fours<B_APART>(b1[s], b_next + s * TILE_N);
          }
        }
        a_at = a_next;
        b_at = b_next;
      }
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

#ifdef GEMM_TUNED  // tools/tune/sgemm.py compiles one point at a time
using Tuned = GEMM_TUNED;
#else
using Tuned = Shape<128, 128, 32, 64, 64, 8, 1, 3, 4, 2>;
#endif

template <class S>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  if (p.lda >= 1ll << 32 || p.ldb >= 1ll << 32) return gemm::Status::unsupported("a leading dimension of 2^32 or more");
  const int tiles_m = gemm::ceil_div(p.m, S::TILE_M), tiles_n = gemm::ceil_div(p.n, S::TILE_N);
  const bool vector = gemm::all_have_aligned_rows(p) && p.n % 4 == 0;
#ifdef GEMM_TUNED
  if (!vector) return gemm::Status::unsupported("the search multiplies aligned matrices only");
  const auto kernel = sgemm<S, true>;
#else
  // Other matrices are Tuned's also for the variants: each then has one kernel less to compile.
  if (!vector && !std::is_same_v<S, Tuned>) return launch<Tuned>(p, stream);
  const auto kernel = vector ? sgemm<S, true> : sgemm<Tuned, false>;
#endif
  return gemm::launch(kernel,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n,
                       .block = S::THREADS,
                       .dynamic_shared = S::SHARED_BYTES,
                       .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, static_cast<unsigned>(p.lda), p.b,
                      static_cast<unsigned>(p.ldb), p.beta, p.c, p.ldc, tiles_n);
}

// A quad of a warp: ROWS float4s of A and COLS of B, two cycles each where lanes pair up, for 4 * ROWS * COLS FMAs.
template <class S>
gemm::L1Cycles cycles(const gemm::SgemmProblem&) {
  return {.shared = (S::ROWS + S::COLS) * 2.0 / (4 * S::ROWS * S::COLS)};
}

template <class S>
constexpr gemm::Variant variant(std::string_view name, std::string_view idea) {
  return {.name = name, .idea = idea, .launch = launch<S>, .l1_cycles = cycles<S>};
}

#ifndef GEMM_TUNED
constexpr gemm::Variant variants[] = {
    variant<Shape<256, 128, 32, 64, 64, 8, 1, 3, 4, 1>>("256x128x32", "one block an SM: a barrier stops all of it"),
    variant<Shape<64, 128, 16, 64, 64, 8, 1, 3, 4, 4>>("64x128x16", "two warps a block, four blocks an SM"),
    variant<Shape<64, 64, 16, 64, 64, 8, 1, 3, 4, 8>>("64x64x16", "one warp a block, eight blocks an SM"),
    variant<Shape<128, 128, 16, 64, 64, 8, 1, 3, 4, 2>>("128x128x16", "twice as many barriers"),
    variant<Shape<128, 128, 32, 64, 64, 4, 1, 3, 4, 2>>("thread=16x8", "16 rows and 8 columns a thread"),
    variant<Shape<128, 128, 32, 64, 64, 8, 1, 2, 4, 2>>("stages=2", "the next tile alone in flight"),
};
#endif

constexpr gemm::StageInfo info = {
    .idea = "15 with every constant a parameter, for a search to choose",
    .base = "15",
    .l1_cycles = cycles<Tuned>,
    .min_compute_capability = 80,
    .launch = launch<Tuned>,
#ifndef GEMM_TUNED
    .variants = variants,
#endif
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
