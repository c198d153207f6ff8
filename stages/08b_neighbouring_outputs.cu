// 08b neighbouring outputs: as 08, but a thread's 8 x 8 elements of C are 2 x 2 groups of 4 x 4 neighbours. So it reads
// shared memory 16 bytes at a time.
//
// Idea      Four neighbouring rows of A and columns of B are one float4 each: a step of k takes 4 loads, not 16.
// Base      08_rectangular_tiles
// Change    Rows ty + 16 r become 64 g + 4 ty + r, columns likewise. A's tile is transposed, as[k][row], so that rows
//           are neighbours there; a row of it has 132 words, so that storing columns of A causes no bank conflict.
// Limit     Issue slots, because only loads and stores of the tiles are left beside the FFMAs. Shared memory, for a
//           step and a warp: 2 cycles for each float4 of A (two addresses). 4 for each of B: 256 bytes for 16 lanes,
//           the same for the other 16. That is 12 for 64 FMAs, 0.1875; the FP32 cores take 0.25.
// Number    Shared load instructions per FMA: 0.0625, a quarter of 08's as written. Bank conflicts of shared stores:
//           none, and 7 for each store of A in the variant pad=0.
// Map       block (16, 16), on a 128 x 128 tile of C. Thread (tx, ty) computes rows 64 g + 4 ty + 0..3 and columns 64 h
//           + 4 tx + 0..3, for g and h of 0 and 1.
// Page      docs/stages/08b_neighbouring_outputs.md
// Source    the geometry is that of A. Atluri, "Decreasing LDS Memory Requests".
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128;                  // rows and columns of C per block
constexpr int TILE_K = 8;                                  // steps of k between barriers
constexpr int SIDE = 16;                                   // the block has SIDE x SIDE threads
constexpr int ROWS = TILE_M / SIDE, COLS = TILE_N / SIDE;  // outputs of a thread
constexpr int APART = 64;  // from a thread's first group of 4 rows or columns to its second
constexpr int THREADS = SIDE * SIDE;
static_assert(ROWS == 8 && COLS == 8 && APART == 4 * SIDE, "a thread has 2 x 2 groups of 4 x 4");

// PAD: words behind each row of as. With 4, a warp stores its 8 steps of k of 4 rows of A to 32 different banks.
template <int PAD>
__global__ void __launch_bounds__(THREADS, 2)  // two blocks for an SM: 128 registers a thread at most
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  constexpr int FILL_A = THREADS / TILE_K, FILL_B = THREADS / TILE_N;  // rows that the block fills at a time
  static_assert(PAD % 4 == 0, "rows of as start at a float4");
  __shared__ __align__(16) float as[TILE_K][TILE_M + PAD];  // transposed: as[k][row]
  __shared__ __align__(16) float bs[TILE_K][TILE_N];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * SIDE + tx;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, row = tile_row + 4 * ty;
  const int tile_col = blockIdx.x % tiles_n * TILE_N, col = tile_col + 4 * tx;
  const int a_k = thread % TILE_K, a_row = thread / TILE_K, b_col = thread % TILE_N,
            b_k = thread / TILE_N;  // where to start filling

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    // Outside the matrices the tiles hold zeros: they add nothing, and every thread stays to reach the barriers.
    for (int y = a_row, step = 0; step < TILE_M / FILL_A; ++step, y += FILL_A)
      as[a_k][y] = tile_row + y < m && k0 + a_k < k ? a[(tile_row + y) * lda + k0 + a_k] : 0.0f;
    for (int y = b_k, step = 0; step < TILE_K / FILL_B; ++step, y += FILL_B)
      bs[y][b_col] = k0 + y < k && tile_col + b_col < n ? b[(k0 + y) * ldb + tile_col + b_col] : 0.0f;
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
      const float4 a0 = *reinterpret_cast<const float4*>(&as[i][4 * ty]);
      const float4 a1 = *reinterpret_cast<const float4*>(&as[i][4 * ty + APART]);
      const float4 b0 = *reinterpret_cast<const float4*>(&bs[i][4 * tx]);
      const float4 b1 = *reinterpret_cast<const float4*>(&bs[i][4 * tx + APART]);
      const float a_part[ROWS] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b_part[COLS] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
    __syncthreads();  // nobody reads them any more
  }

#pragma unroll  // else sum, indexed by a variable, would not be in registers
  for (int r = 0; r < ROWS; ++r) {
    const int out_row = row + r / 4 * APART + r % 4;
    if (out_row >= m) continue;
#pragma unroll
    for (int s = 0; s < COLS; ++s) {
      const int out_col = col + s / 4 * APART + s % 4;
      if (out_col >= n) continue;
      float* out = c + out_row * ldc + out_col;
      // beta = 0 must not read C, which may hold NaN
      *out = beta == 0.0f ? alpha * sum[r][s] : alpha * sum[r][s] + beta * *out;
    }
  }
}

template <int PAD>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(sgemm<PAD>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {SIDE, SIDE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::Variant variants[] = {
    {.name = "pad=0", .idea = "rows of A's tile 128 words apart: a column is in one bank", .launch = launch<0>},
};

constexpr gemm::StageInfo info = {
    .idea = "8 x 8 outputs as 2 x 2 groups of neighbours: float4 loads from shared memory, 4 for 64 FMAs",
    .base = "08",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 0.1875}; },
    .launch = launch<4>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
