// 11b two rows a load: as 11a, but four lanes share two rows of B, so one load per lane serves two steps of k.
//
// Idea      In two steps of k a thread multiplies sixteen words of B, which are four float4s. The four lanes of a quad
//           work on the same columns. Each lane reads one float4, and three exchanges give it the other three.
// Base      11a_share_b
// Change    One LDS.128 of B for two steps of k, not for each step; 12 SHFL for two steps, not 8. Each lane starts with
//           the row that it has read itself, which changes only the addresses of A.
// Limit     The pipe of shared memory. One step of k of a warp needs 10 wavefronts of LDS as in 11a: a quad now reads
//           four addresses, so a load takes 4. With 6 of SHFL and 4 for filling: 80 cycles for four warps, against 72
//           in 11a. Issue slots: 64 FFMA, 2.5 LDS and 6 SHFL are 72.5, against 71.
// Number    smsp__inst_executed_op_shared_ld: 160 for each tile of 128 x 128 x 8, against 192 in 11a.
// Map       as 11a: ty = thread mod 16; rows 4 ty + {0..3, 64..67}, columns 4 tx + the same of a 128 x 128 tile of C.
// Page      docs/stages/11b_two_rows.md
// Source    A. Atluri, "Decreasing LDS Memory Requests".
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 8;  // rows and columns of C per block; steps of k between barriers
constexpr int SIDE = 16;                               // the block has SIDE x SIDE threads
constexpr int ROWS = TILE_M / SIDE, COLS = TILE_N / SIDE;  // outputs of a thread
constexpr int APART = 64;  // from a thread's first group of 4 rows or columns to its second
constexpr int PAD = 8;     // a quad reads both halves of two rows of B at once: 8 banks from each to the next
static_assert(ROWS == 8 && COLS == 8 && APART == 4 * SIDE, "a thread has 2 x 2 groups of 4 x 4");
static_assert(TILE_K % 2 == 0, "k goes in steps of two");

// UNROLL: how many of the TILE_K / 2 double steps the compiler unrolls.
template <int UNROLL>
__global__ void __launch_bounds__(SIDE* SIDE, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n, bool vector) {
  __shared__ __align__(16) float as[TILE_K][TILE_M];  // transposed: as[k][row]
  __shared__ __align__(16) float bs[TILE_K][2][APART + PAD];
  const int thread = threadIdx.x, tx = thread / SIDE, ty = thread % SIDE;
  const int mine = thread % 2, first = thread / 2 % 2;  // which half of B this lane reads, and from which of two rows
  const int tile_row = blockIdx.x / tiles_n * TILE_M, row = tile_row + 4 * ty;
  const int tile_col = blockIdx.x % tiles_n * TILE_N, col = tile_col + 4 * tx;
  // The float4 of each tile that this thread fetches.
  const int a_row = thread / 2, a_k = thread % 2 * 4;
  const int b_k = thread / 32, b_col = thread % 32 * 4;
  const int a_inside = tile_row + a_row < m ? k - a_k : 0, b_inside = n - tile_col - b_col;
  a += (tile_row + a_row) * lda + a_k;
  b += b_k * ldb + tile_col + b_col;

  float sum[ROWS][COLS] = {};  // the second four columns are those of the half that is not mine
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const float4 a4 = gemm::fetch4(a + k0, a_inside - k0, vector);
    const float4 b4 = gemm::fetch4(b + k0 * ldb, k0 + b_k < k ? b_inside : 0, vector);
    as[a_k][a_row] = a4.x;
    as[a_k + 1][a_row] = a4.y;
    as[a_k + 2][a_row] = a4.z;
    as[a_k + 3][a_row] = a4.w;
    *reinterpret_cast<float4*>(&bs[b_k][b_col / APART][b_col % APART]) = b4;
    __syncthreads();  // the tiles are complete
#pragma unroll UNROLL
    for (int i = 0; i < TILE_K; i += 2) {
      // A's words of one step, B's of two; b_part[0] is the row that this lane reads.
      alignas(16) float a_part[ROWS], b_part[2][COLS];
      *reinterpret_cast<float4*>(b_part[0]) = *reinterpret_cast<const float4*>(&bs[i + first][mine][4 * tx]);
      for (int j = 0; j < 4; ++j) {
        b_part[0][4 + j] = __shfl_xor_sync(0xffffffff, b_part[0][j], 1);  // the same row, the other half
        b_part[1][j] = __shfl_xor_sync(0xffffffff, b_part[0][j], 2);      // the other row, the same half
        b_part[1][4 + j] = __shfl_xor_sync(0xffffffff, b_part[0][j], 3);
      }
      for (int step = 0; step < 2; ++step) {
        const float* a_now = as[i + (first ^ step)];
        gemm::read_fours<APART>(a_part, &a_now[4 * ty]);
        for (int r = 0; r < ROWS; ++r) {
          for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[step][s];
        }
      }
    }
    __syncthreads();  // nobody reads them any more
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int out_row = row + r / 4 * APART + r % 4;
#pragma unroll
    for (int s = 0; s < COLS; s += 4) {
      const int out_col = col + (s / 4 ^ mine) * APART;
      gemm::store4(c + out_row * ldc + out_col, out_row < m ? n - out_col : 0, alpha, sum[r] + s, beta, vector);
    }
  }
}

template <int UNROLL>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const bool vector = gemm::all_have_aligned_rows(p);
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(sgemm<UNROLL>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {SIDE * SIDE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n, vector);
}

// Wavefronts per 64 FMAs of a warp: 4 for each float4 of A, and 4 for one of B in two steps.
gemm::L1Cycles cycles(const gemm::SgemmProblem&) {
  return {.shared = (2 * 4 + 4 / 2.0) / 64};
}

constexpr gemm::Variant variants[] = {
    {"unroll=1", "the loop's body is two rows of B, not the whole tile: a quarter of the code", launch<1>, cycles},
};
constexpr gemm::StageInfo info = {
    .idea = "as 11a, and four lanes share two rows of B: one load a lane for two steps of k",
    .base = "11a",
    .l1_cycles = cycles,
    .launch = launch<TILE_K / 2>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
