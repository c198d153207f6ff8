// 14 register double buffer: as 13b, with loads in flight while a thread multiplies: the next step's words from shared
// memory, and the next tile's from global memory.
//
// Idea      A load takes one issue slot, but its answer takes hundreds of cycles. So load early, into spare registers:
//           a thread holds the words of two steps of k, and its eight float4s of the next tile.
// Base      13b_swizzle
// Change    Two halves of shared memory, 32 KB, hold this tile and the next. One barrier per tile is enough. read()
//           runs one step ahead of the FFMAs, fetch() one tile. 13b is the base because it has no padding to double.
// Limit     Issue slots, as before: 128 FFMA + 6 LDS.128 for a step. The waits of 13b should go: for global memory
//           once per tile, for shared memory every eight steps, for the other warps once instead of twice per tile.
// Number    Stall reasons long_scoreboard, short_scoreboard and barrier. Counts as 13b's, half as many barriers.
// Map       as 12.
// Page      docs/stages/14_register_double_buffer.md
// Source    "software pipelining" in CUTLASS's description of GEMM; the arrangement is ours.
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 16;           // rows and columns of C per block, steps of k
constexpr int WARP_M = 64, WARP_N = 64;                          // ... per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // a warp's lanes, over its tile
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread: 8 x 16
constexpr int THREADS = 32 * (TILE_M / WARP_M) * (TILE_N / WARP_N);
constexpr int APART_M = 4 * LANES_M, APART_N = 4 * LANES_N;  // from a thread's group of 4 rows, columns to its next
static_assert(LANES_M * LANES_N == 32 && ROWS % 4 == 0 && COLS % 4 == 0 && THREADS == 128, "groups of 4 x 4");

// Where row r of A's tile lies in as[k]: at r ^ swizzle(k). The steps of k to which a warp scatters at a time get
// different banks. The lowest two bits of r stay as they are, so that a float4 is still one.
__device__ constexpr int swizzle(int k) {
  constexpr int TOGETHER = 128 / TILE_K;  // rows of one step that a warp scatters: as many banks
  static_assert(TOGETHER % 4 == 0 && TILE_K / 4 * TOGETHER == APART_M, "a float4 stays whole, 32 rows the same 32");
  return k / 4 * TOGETHER;
}

// FRAGMENTS: a step's words are read while the step before is multiplied. GLOBAL: a tile is fetched while the tile
// before is multiplied. VECTOR: rows of all three matrices start at multiples of 16 bytes.
template <bool FRAGMENTS, bool GLOBAL, int UNROLL, bool VECTOR>
__global__ void __launch_bounds__(THREADS, 2)  // two blocks for an SM: 255 registers a thread
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  // A thread fetches every FILL_M-th row of A's tile and every FILL_K-th of B's, one float4 of each.
  constexpr int FILL_M = 4 * THREADS / TILE_K, FILL_K = 4 * THREADS / TILE_N;
  static_assert(TILE_M % FILL_M == 0 && TILE_K % FILL_K == 0, "every thread fetches equally much");
  __shared__ __align__(16) float as[2][TILE_K][TILE_M];  // two tiles, each transposed: as[half][k][row]
  __shared__ __align__(16) float bs[2][TILE_K][TILE_N];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int row = warp / 2 * WARP_M + lane / 2 % LANES_M * 4, col = warp % 2 * WARP_N + (lane / 16 * 2 + lane % 2) * 4;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, tile_col = blockIdx.x % tiles_n * TILE_N;
  const int a_row = thread / (TILE_K / 4), a_k = thread % (TILE_K / 4) * 4;
  const int b_k = thread / (TILE_N / 4), b_col = thread % (TILE_N / 4) * 4;
  const int a_rows = m - tile_row - a_row, b_cols = n - tile_col - b_col;  // how many exist from there on
  a += (tile_row + a_row) * lda + a_k;
  b += b_k * ldb + tile_col + b_col;

  float4 a4[TILE_M / FILL_M], b4[TILE_K / FILL_K];
  const auto fetch = [&](int k0) {
#pragma unroll
    for (int p = 0; p < TILE_M; p += FILL_M)
      a4[p / FILL_M] = gemm::fetch4<VECTOR>(a + p * lda, p < a_rows ? k - k0 - a_k : 0);
#pragma unroll
    for (int p = 0; p < TILE_K; p += FILL_K)
      b4[p / FILL_K] = gemm::fetch4<VECTOR>(b + p * ldb, k0 + p + b_k < k ? b_cols : 0);
    a += TILE_K;
    b += TILE_K * ldb;
  };
  const auto fill = [&](int half) {
#pragma unroll
    for (int p = 0; p < TILE_M; p += FILL_M) {
      as[half][a_k][(p + a_row) ^ swizzle(a_k)] = a4[p / FILL_M].x;
      as[half][a_k + 1][(p + a_row) ^ swizzle(a_k)] = a4[p / FILL_M].y;
      as[half][a_k + 2][(p + a_row) ^ swizzle(a_k)] = a4[p / FILL_M].z;
      as[half][a_k + 3][(p + a_row) ^ swizzle(a_k)] = a4[p / FILL_M].w;
    }
#pragma unroll
    for (int p = 0; p < TILE_K; p += FILL_K) *reinterpret_cast<float4*>(&bs[half][p + b_k][b_col]) = b4[p / FILL_K];
  };
  alignas(16) float a_part[2][ROWS], b_part[2][COLS];  // of even and of odd steps
  const auto read = [&](int half, int i) {
    gemm::read_fours<APART_M>(a_part[i % 2], &as[half][i][row ^ swizzle(i)]);
    gemm::read_fours<APART_N>(b_part[i % 2], &bs[half][i][col]);
  };

  float sum[ROWS][COLS] = {};
  fetch(0);
  fill(0);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  [[maybe_unused]] constexpr int TURN = UNROLL == 8 ? 4 : UNROLL;  // eight steps of k would spill there
#else
  [[maybe_unused]] constexpr int TURN = UNROLL;
#endif
  for (int k0 = 0, half = 0; k0 < k; k0 += TILE_K, half ^= 1) {
    const bool more = k0 + TILE_K < k;
    __syncthreads();  // this half is complete, and nobody reads the other one any more
    if (FRAGMENTS) read(half, 0);
    if (GLOBAL && more) fetch(k0 + TILE_K);
#pragma unroll TURN
    for (int i = 0; i < TILE_K; ++i) {
      if (!FRAGMENTS) read(half, i);
      if (FRAGMENTS && i + 1 < TILE_K) read(half, i + 1);
      gemm::add_products(sum, a_part[i % 2], b_part[i % 2]);
    }
    if (!GLOBAL && more) fetch(k0 + TILE_K);
    if (more) fill(half ^ 1);
  }

#pragma unroll  // else sum, indexed by a variable, would not be in registers
  for (int r = 0; r < ROWS; ++r) {
    const int out_row = tile_row + row + r / 4 * APART_M + r % 4;
    if (out_row >= m) continue;
#pragma unroll
    for (int s = 0; s < COLS; s += 4) {
      const int out_col = tile_col + col + s / 4 * APART_N;
      gemm::store4<VECTOR>(c + out_row * ldc + out_col, n - out_col, alpha,
                           {sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]}, beta);
    }
  }
}

template <bool FRAGMENTS, bool GLOBAL, int UNROLL = 8>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const bool vector = gemm::all_have_aligned_rows(p);
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(vector ? sgemm<FRAGMENTS, GLOBAL, UNROLL, true> : sgemm<FRAGMENTS, GLOBAL, UNROLL, false>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {THREADS}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::Variant variants[] = {
    {"fragments_only", "only the next step's words are read ahead", launch<true, false>},
    {"global_only", "only the next tile is fetched ahead", launch<false, true>},
    {"neither", "two halves of shared memory and one barrier a tile, nothing ahead", launch<false, false>},
    {"unroll=16", "all 16 steps of k written out, in place of 8 in a loop", launch<true, true, 16>},
};

constexpr gemm::StageInfo info = {
    .idea = "as 13b, the next step's words and the next tile in flight while this one is multiplied",
    .base = "13b",
    // Wavefronts: 2 for each float4.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .launch = launch<true, true>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
