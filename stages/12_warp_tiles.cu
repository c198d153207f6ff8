// 12 warp tiles: as 09b, with a tile for the warp between the block's and the thread's: 64 x 64 instead of 16 x 128.
//
// Idea      For a step of k, a warp reads the rows plus the columns of its tile from shared memory. A square tile has
//           the smallest sum. And the larger a thread's tile is, the fewer loads it needs per FMA.
// Base      09b_vector_shared_loads
// Change    128 threads: four warps of 64 x 64, 8 x 16 outputs per thread. It may use up to 255 registers, and two
//           blocks still fit an SM. 8 steps of k between barriers, as in 09b, because there is no padding here. With 16
//           (the variant k=16) the stores of A conflict 4-fold instead of 2-fold. Stages 13a and 13b take up both.
// Limit     Issue slots: 128 FFMA + 6 LDS.128 for a step, 95.5 % of the FP32 peak, less what filling the tiles takes.
//           Shared memory, for a step and a warp: 2 cycles for each of 6 float4s. Lanes n and n^1 want the same words
//           of A, n and n^2 the same of B. That is 12 cycles for 128 FMAs, half of 09b's 0.1875.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld per warp-wide FMA: 0.094; instructions for it: 0.047.
// Map       warp w computes 64 x 64 outputs from row 64 (w / 2) and column 64 (w mod 2) of the block's 128 x 128. Lane
//           bits 1 to 3 are y, bits 0 and 4 are x. Rows 32 g + 4 y + 0..3 for 2 g, columns 16 h + 4 x + 0..3 for 4 h.
// Page      docs/stages/12_warp_tiles.md
// Source    the hierarchy of tiles is CUTLASS's, which the PA2 report names as its future work; the lane map is ours.
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
      as[a_k][p + a_row] = a4[p / FILL_M].x;
      as[a_k + 1][p + a_row] = a4[p / FILL_M].y;
      as[a_k + 2][p + a_row] = a4[p / FILL_M].z;
      as[a_k + 3][p + a_row] = a4[p / FILL_M].w;
    }
#pragma unroll
    for (int p = 0; p < TILE_K; p += FILL_K) *reinterpret_cast<float4*>(&bs[p + b_k][b_col]) = b4[p / FILL_K];
    __syncthreads();  // the tiles are complete
#pragma unroll UNROLL
    for (int i = 0; i < TILE_K; ++i) {
      alignas(16) float a_part[ROWS], b_part[COLS];
      gemm::read_fours<APART_M>(a_part, &as[i][row]);
      gemm::read_fours<APART_N>(b_part, &bs[i][col]);
#pragma unroll
      for (int f = 0; f < ROWS * COLS; ++f) {  // down one column, up the next: each word of b 8 times in a row
        const int s = f / ROWS, r = s % 2 ? ROWS - 1 - f % ROWS : f % ROWS;
        sum[r][s] += a_part[r] * b_part[s];
      }
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
    {.name = "k=16", .idea = "16 steps of k between barriers; the scatter conflicts 4-fold", .launch = launch<16, 8>},
    {.name = "unroll=4", .idea = "16 steps between barriers, 4 of them written out in a loop", .launch = launch<16, 4>},
    {.name = "unroll=16", .idea = "16 steps between barriers, all of them written out", .launch = launch<16, 16>},
    {.name = "k=32", .idea = "32 steps of k between barriers; the scatter conflicts 8-fold", .launch = launch<32, 8>},
};

constexpr gemm::StageInfo info = {
    .idea = "64 x 64 outputs for a warp, 8 x 16 for a thread: half as many cycles of shared loads as 09b",
    .base = "09b",
    // Wavefronts: 2 for each float4.
    .l1_cycles =
        [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 2.0 * (ROWS + COLS) / 4 / (ROWS * COLS)}; },
    .launch = launch<8, 8>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
