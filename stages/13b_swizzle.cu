// 13b swizzle: as 12:k=16, with A's tile in an order that changes with k, so that its stores do not conflict at all.
//
// Idea      The rows of `as` stay where they are, unlike in 13a. The order inside them changes: row r of step k lies at
//           r ^ 8 (k / 4). XOR with a constant is a permutation: no word is lost, and no memory is added.
// Base      13a_padding
// Change    as[k][row] becomes as[k][row ^ swizzle(k)], where it is written and where it is read.
// Limit     The four steps of k to which a warp stores at a time get 8 banks each: 32 banks, one cycle. A float4
//           stays whole, and what a warp reads at once is still 128 neighbouring bytes, in another order: 2 cycles,
//           as before. It costs five instructions for eight steps of k.
// Number    Cycles of shared stores, for a warp and a tile: 16 x 1 for A and 4 x 4 for B, 32 instead of 80; conflicts
//           none. Shared memory: 16,384 bytes per block, as 12:k=16.
// Map       as 12.
// Page      docs/stages/13b_swizzle.md
// Source    swizzled layouts are CUTLASS's; this one is ours.
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128;                        // rows and columns of C per block
constexpr int WARP_M = 64, WARP_N = 64;                          // ... per warp
constexpr int LANES_M = 8, LANES_N = 4;                          // a warp's lanes, over its tile
constexpr int ROWS = WARP_M / LANES_M, COLS = WARP_N / LANES_N;  // outputs of a thread: 8 x 16
constexpr int THREADS = 32 * (TILE_M / WARP_M) * (TILE_N / WARP_N);
constexpr int APART_M = 4 * LANES_M, APART_N = 4 * LANES_N;  // from a thread's group of 4 rows, columns to its next
static_assert(LANES_M * LANES_N == 32 && ROWS % 4 == 0 && COLS % 4 == 0 && THREADS == 128, "groups of 4 x 4");

// Where row r of A's tile lies in as[k]: at r ^ swizzle(k). The steps of k to which a warp scatters at a time get
// different banks. The lowest two bits of r stay as they are, so that a float4 is still one.
template <int TILE_K>
__device__ constexpr int swizzle(int k) {
  constexpr int TOGETHER = 128 / TILE_K;  // rows of one step that a warp scatters: as many banks
  static_assert(TOGETHER % 4 == 0 && TILE_K / 4 * TOGETHER == APART_M, "a float4 stays whole, 32 rows the same 32");
  return k / 4 * TOGETHER;
}

// VECTOR: rows of all three matrices start at multiples of 16 bytes.
template <int TILE_K, int UNROLL, bool VECTOR>
__global__ void __launch_bounds__(THREADS, 2)  // two blocks for an SM: 255 registers a thread
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  // A thread fetches every FILL_M-th row of A's tile and every FILL_K-th of B's, one float4 of each.
  constexpr int FILL_M = 4 * THREADS / TILE_K, FILL_K = 4 * THREADS / TILE_N;
  static_assert(TILE_M % FILL_M == 0 && TILE_K % FILL_K == 0, "every thread fetches equally much");
  __shared__ __align__(16) float as[TILE_K][TILE_M];  // transposed: as[k][row]
  __shared__ __align__(16) float bs[TILE_K][TILE_N];
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

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    fetch(k0);
    __syncthreads();  // nobody reads the tiles any more
#pragma unroll
    for (int p = 0; p < TILE_M; p += FILL_M) {
      as[a_k][(p + a_row) ^ swizzle<TILE_K>(a_k)] = a4[p / FILL_M].x;
      as[a_k + 1][(p + a_row) ^ swizzle<TILE_K>(a_k)] = a4[p / FILL_M].y;
      as[a_k + 2][(p + a_row) ^ swizzle<TILE_K>(a_k)] = a4[p / FILL_M].z;
      as[a_k + 3][(p + a_row) ^ swizzle<TILE_K>(a_k)] = a4[p / FILL_M].w;
    }
#pragma unroll
    for (int p = 0; p < TILE_K; p += FILL_K) *reinterpret_cast<float4*>(&bs[p + b_k][b_col]) = b4[p / FILL_K];
    __syncthreads();  // the tiles are complete
#pragma unroll UNROLL
    for (int i = 0; i < TILE_K; ++i) {
      alignas(16) float a_part[ROWS], b_part[COLS];
#pragma unroll
      for (int r = 0; r < ROWS; r += 4)
        *reinterpret_cast<float4*>(&a_part[r]) =
            *reinterpret_cast<const float4*>(&as[i][(row ^ swizzle<TILE_K>(i)) + r / 4 * APART_M]);
      gemm::read_fours<APART_N>(b_part, &bs[i][col]);
      gemm::add_products(sum, a_part, b_part);
    }
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

template <int TILE_K, int UNROLL>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const bool vector = gemm::all_have_aligned_rows(p);
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(vector ? sgemm<TILE_K, UNROLL, true> : sgemm<TILE_K, UNROLL, false>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {THREADS}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::Variant variants[] = {
    {.name = "unroll=16", .idea = "all 16 steps of k written out, in place of 8 in a loop", .launch = launch<16, 16>},
    {.name = "k=32", .idea = "32 steps of k between barriers; no conflicts either", .launch = launch<32, 8>},
};

constexpr gemm::StageInfo info = {
    .idea = "as 12:k=16, A's rows in another order at each fourth step of k: no conflicts, no more memory",
    .base = "13a",
    // Wavefronts: 2 for each float4.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .launch = launch<16, 8>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
