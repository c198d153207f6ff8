// 09b vector shared loads: as 08b, but the tiles are fetched from global memory 16 bytes at a time, too, as in 09a. The
// padding that 08b gave to A's tile lets the four words of a float4 be stored without a conflict.
//
// Idea      Both ideas at once: a step of k takes 4 loads from shared memory, and a k-tile 2 from global memory.
// Base      08b_neighbouring_outputs
// Change    Four guarded loads of an operand become one float4 load; C is stored as float4s. The next float4s are
//           fetched before the barrier that frees the tiles, not after it.
// Limit     Issue slots: 64 FFMA + 4 LDS.128 per step, 94 % of the FP32 peak, less what filling the tiles takes. Shared
//           memory, for a step and a warp, as in 08b: 2 cycles for each float4 of A (two addresses). 4 for each of B:
//           256 bytes for 16 lanes, the same for the other 16. That is 12 for 64 FMAs, 0.1875; the FP32 cores take
//           0.25.
// Number    Shared load instructions per FMA: 0.0625, a quarter of 09a's. Bank conflicts of shared stores: none.
// Map       block (16, 16), on a 128 x 128 tile of C. Thread (tx, ty) computes rows 64 g + 4 ty + 0..3 and columns 64 h
//           + 4 tx + 0..3, for g and h of 0 and 1.
// Page      docs/stages/09b_vector_shared_loads.md
// Source    "SGEMM on Pascal", kernel 8; the geometry is that of A. Atluri, "Decreasing LDS Memory Requests".
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128;                  // rows and columns of C per block
constexpr int SIDE = 16;                                   // the block has SIDE x SIDE threads
constexpr int ROWS = TILE_M / SIDE, COLS = TILE_N / SIDE;  // outputs of a thread
constexpr int APART = 64;  // from a thread's first group of 4 rows or columns to its second
constexpr int PAD = 4;     // words behind each row of as: rows four apart start 16 banks apart
static_assert(ROWS == 8 && COLS == 8 && APART == 4 * SIDE, "a thread has 2 x 2 groups of 4 x 4");
static_assert(4 * (TILE_M + PAD) % 32 == 16 && PAD % 4 == 0, "no conflict when scattering; rows start at a float4");

// VECTOR: rows of all three matrices start at multiples of 16 bytes.
template <int TILE_K, bool PREFETCH, bool VECTOR>
__global__ void __launch_bounds__(SIDE* SIDE, 2)  // two blocks for an SM: 128 registers a thread at most
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n) {
  __shared__ __align__(16) float as[TILE_K][TILE_M + PAD];  // transposed: as[k][row]
  __shared__ __align__(16) float bs[TILE_K][TILE_N];
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * SIDE + tx;
  const int tile_row = blockIdx.x / tiles_n * TILE_M, row = tile_row + 4 * ty;
  const int tile_col = blockIdx.x % tiles_n * TILE_N, col = tile_col + 4 * tx;
  // The float4 of each tile that this thread fetches, one for 8 steps of k: two threads for a row of A's, a warp for a
  // row of B's.
  const int a_row = thread / 2, a_k = thread % 2 * 4;
  const int b_k = thread / 32, b_col = thread % 32 * 4;
  const int a_inside = tile_row + a_row < m ? k - a_k : 0, b_inside = n - tile_col - b_col;
  a += (tile_row + a_row) * lda + a_k;
  b += b_k * ldb + tile_col + b_col;

  float4 a4[TILE_K / 8], b4[TILE_K / 8];
  const auto fetch = [&](int k0) {
    for (int p = 0; p < TILE_K; p += 8) {
      a4[p / 8] = gemm::fetch4<VECTOR>(a + p, a_inside - k0 - p);
      b4[p / 8] = gemm::fetch4<VECTOR>(b + p * ldb, k0 + p + b_k < k ? b_inside : 0);
    }
    a += TILE_K;
    b += TILE_K * ldb;
  };
  if (PREFETCH) fetch(0);

  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    if (!PREFETCH) fetch(k0);
    __syncthreads();  // nobody reads the tiles any more
    for (int p = 0; p < TILE_K; p += 8) {
      as[p + a_k][a_row] = a4[p / 8].x;
      as[p + a_k + 1][a_row] = a4[p / 8].y;
      as[p + a_k + 2][a_row] = a4[p / 8].z;
      as[p + a_k + 3][a_row] = a4[p / 8].w;
      *reinterpret_cast<float4*>(&bs[p + b_k][b_col]) = b4[p / 8];
    }
    __syncthreads();  // the tiles are complete
    if (PREFETCH) fetch(k0 + TILE_K);
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
      alignas(16) float a_part[ROWS], b_part[COLS];
      gemm::read_fours<APART>(a_part, &as[i][4 * ty]);
      gemm::read_fours<APART>(b_part, &bs[i][4 * tx]);
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
      }
    }
  }

#pragma unroll  // else sum, indexed by a variable, would not be in registers
  for (int r = 0; r < ROWS; ++r) {
    const int out_row = row + r / 4 * APART + r % 4;
    if (out_row >= m) continue;
#pragma unroll
    for (int s = 0; s < COLS; s += 4) {
      const int out_col = col + s / 4 * APART;
      gemm::store4<VECTOR>(c + out_row * ldc + out_col, n - out_col, alpha,
                           {sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]}, beta);
    }
  }
}

template <int TILE_K, bool PREFETCH>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const bool vector = gemm::all_have_aligned_rows(p);
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(vector ? sgemm<TILE_K, PREFETCH, true> : sgemm<TILE_K, PREFETCH, false>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {SIDE, SIDE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n);
}

constexpr gemm::Variant variants[] = {
    {.name = "k16", .idea = "16 steps of k between barriers: half as many barriers", .launch = launch<16, false>},
    {.name = "prefetch",
     .idea = "the next tiles are fetched before the present ones are multiplied",
     .launch = launch<8, true>},
    {.name = "k16-prefetch", .idea = "both", .launch = launch<16, true>},
};

constexpr gemm::StageInfo info = {
    .idea = "float4 loads from global memory, as 09a, and from shared memory, as 08b; scattered without conflicts",
    .base = "08b",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = 0.1875}; },
    .launch = launch<8, false>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
