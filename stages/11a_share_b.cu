// 11a B shared between lanes: as 09b, but each lane reads half of its eight words of B and gets the others from its
// neighbour, by a shuffle.
//
// Idea      Two neighbouring lanes that work on the same columns need the same two float4s of B. So the even lane reads
//           the first, the odd lane the second, and they exchange them from register to register.
// Base      09b_vector_shared_loads
// Change    Lanes go along A, so that neighbours share columns. One LDS.128 per step of k becomes four SHFL.
// Limit     The pipe of shared memory, because a SHFL passes through it, too. One step of k of a warp needs 10
//           wavefronts of LDS, 4 of SHFL and 4 for filling the tiles: 72 cycles for four warps. Issue slots are almost
//           as many: 64 FFMA, 3 LDS and 4 SHFL are 71. Without the idea: 64 and 68. (On AMD it is part of the FMA.)
// Number    smsp__inst_executed_op_shared_ld: 192 for each tile of 128 x 128 x 8, against 256.
// Map       256 threads as 16 x 16, ty = thread mod 16; each has rows 4 ty + {0..3, 64..67} and columns 4 tx + the same
//           of a 128 x 128 tile of C.
// Page      docs/stages/11a_share_b.md
// Source    A. Atluri, "Decreasing LDS Memory Requests".
#include "common/kernel/vector.cuh"
#include "common/stage.cuh"

namespace {

constexpr int TILE_M = 128, TILE_N = 128, TILE_K = 8;  // rows and columns of C per block; steps of k between barriers
constexpr int SIDE = 16;                               // the block has SIDE x SIDE threads
constexpr int ROWS = TILE_M / SIDE, COLS = TILE_N / SIDE;  // outputs of a thread
constexpr int APART = 64;  // from a thread's first group of 4 rows or columns to its second
constexpr int PAD = 8;     // shifts B's second half by 8 banks: neighbouring lanes read both halves at once
static_assert(ROWS == 8 && COLS == 8 && APART == 4 * SIDE, "a thread has 2 x 2 groups of 4 x 4");

// SHARE: the idea; without it both halves are read. EXTRA: words per step that pass through a SHFL without change.
template <bool SHARE, int EXTRA>
__global__ void __launch_bounds__(SIDE* SIDE, 2)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int tiles_n, bool vector) {
  __shared__ __align__(16) float as[TILE_K][TILE_M];  // transposed: as[k][row]
  __shared__ __align__(16) float bs[TILE_K][2][APART + PAD];
  const int thread = threadIdx.x, tx = thread / SIDE, ty = thread % SIDE;
  const int mine = SHARE ? thread % 2 : 0;  // which half of B this lane reads
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
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
      alignas(16) float a_part[ROWS], b_part[COLS];  // this step's words of A and of B
      gemm::read_fours<APART>(a_part, &as[i][4 * ty]);
      *reinterpret_cast<float4*>(b_part) = *reinterpret_cast<const float4*>(&bs[i][mine][4 * tx]);
      if constexpr (SHARE) {
        for (int j = 0; j < 4; ++j) b_part[4 + j] = __shfl_xor_sync(0xffffffff, b_part[j], 1);
      } else {
        *reinterpret_cast<float4*>(b_part + 4) = *reinterpret_cast<const float4*>(&bs[i][1][4 * tx]);
      }
      for (int j = 0; j < EXTRA; ++j) {
        float& word = j < 8 ? b_part[j] : a_part[j - 8];
        word = __shfl_xor_sync(0xffffffff, word, 0);  // from itself
      }
      for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < COLS; ++s) sum[r][s] += a_part[r] * b_part[s];
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

template <bool SHARE, int EXTRA>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const bool vector = gemm::all_have_aligned_rows(p);
  const int tiles_m = gemm::ceil_div(p.m, TILE_M), tiles_n = gemm::ceil_div(p.n, TILE_N);
  return gemm::launch(sgemm<SHARE, EXTRA>,
                      {.grid = static_cast<unsigned>(tiles_m) * tiles_n, .block = {SIDE * SIDE}, .stream = stream}, p.m,
                      p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, tiles_n, vector);
}

// Wavefronts per 64 FMAs of a warp: 4 for each float4 of A, and 2 for one of B, which only two columns of threads need.
gemm::L1Cycles unshared(const gemm::SgemmProblem&) {
  return {.shared = (2 * 4 + 2 * 2) / 64.0};
}

constexpr gemm::Variant variants[] = {
    {"unshared", "the same kernel, every lane reads both halves", launch<false, 0>, unshared},
    {"extra=4", "unshared, and 4 words a step of k pass through a shuffle from the lane itself", launch<false, 4>,
     unshared},
    {"extra=8", "8 words", launch<false, 8>, unshared},
    {"extra=16", "16 words, all of them", launch<false, 16>, unshared},
};
constexpr gemm::StageInfo info = {
    .idea = "even and odd lanes each read half of B's words and shuffle them to each other",
    .base = "09b",
    .l1_cycles = [](const gemm::SgemmProblem&) { return gemm::L1Cycles{.shared = (2 * 4 + 2) / 64.0}; },
    .launch = launch<true, 0>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
