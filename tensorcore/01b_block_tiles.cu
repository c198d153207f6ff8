// 01b block tiles: a block copies tiles of A and B to shared memory once, for all its warps, in padded rows without
// bank conflicts. A warp still computes 16 x 16 of C.
//
// Idea      Two warps of a block need the same rows of A, and two the same columns of B. A word that the block copies
//           comes from global memory once, not twice, and in whole sectors of a row.
// Base      01_wmma
// Change    copy_tile is the block's, with 16 bytes per thread, and the fragments come from shared memory. Rows are
//           padded by 16 bytes: eight rows, which one load of a fragment takes, begin four banks apart. store_tile is
//           01's, in a header now.
// Limit     The data banks of L1 cache and shared memory. A product of 16 x 8 x 16 takes four wavefronts of fragments,
//           and 10 with the copies, where 01 takes 32. On sm_90 one ends every 1.5 cycles: 15 % of that at most.
// Number    l1tex__data_pipe_lsu_wavefronts per product: 10.
// Map       4 warps, two by two: 32 x 32 of C.
// Page      docs/tensorcore/01b_block_tiles.md
// Source    CUDA C++ Programming Guide, "Shared Memory"; Ootomo and Yokota (2023), section 2.
#include <mma.h>

#include "common/stage.cuh"
#include "tensorcore/store_tile.cuh"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int WARPS_M = 2, WARPS_N = 2, THREADS = WARPS_M * WARPS_N * LANES;  // of a block

constexpr int TILE_K = 64, PAD = 8;  // steps of k of a tile; elements between its rows in shared memory, 16 bytes

// Copies a tile to shared memory. vectors: its rows begin at multiples of 16 bytes. Zeros where no element exists. Below.
template <int THREADS, int ROWS, int COLS, int STRIDE, class T>
__device__ void copy_tile(T* to, const T* from, std::int64_t ld, int rows, int cols, bool vectors);

__global__ void __launch_bounds__(THREADS)
    hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a, std::int64_t lda,  // (m, k)
          const __half* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
          int blocks_n, bool vectors_a, bool vectors_b, bool aligned_c) {
  constexpr int TILE_M = WARPS_M * STEP, TILE_N = WARPS_N * STEP, A_ROW = TILE_K + PAD, B_ROW = TILE_N + PAD;
  __shared__ __align__(32) __half as[TILE_M * A_ROW], bs[TILE_K * B_ROW];
  const int warp = threadIdx.x / LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * STEP, warp_col = warp % WARPS_N * STEP;

  Sum sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const std::int64_t first = k0;
    copy_tile<THREADS, TILE_M, TILE_K, A_ROW>(as, a + tile_row * lda + first, lda, m - tile_row, k - k0, vectors_a);
    copy_tile<THREADS, TILE_K, TILE_N, B_ROW>(bs, b + first * ldb + tile_col, ldb, k - k0, n - tile_col, vectors_b);
    __syncthreads();
#pragma unroll
    for (int slice = 0; slice < TILE_K; slice += STEP) {
      wmma::fragment<wmma::matrix_a, STEP, STEP, STEP, __half, wmma::row_major> x;
      wmma::fragment<wmma::matrix_b, STEP, STEP, STEP, __half, wmma::row_major> y;
      wmma::load_matrix_sync(x, as + warp_row * A_ROW + slice, A_ROW);
      wmma::load_matrix_sync(y, bs + slice * B_ROW + warp_col, B_ROW);
      wmma::mma_sync(sum, x, y, sum);
    }
    __syncthreads();
  }

  float* const staging = reinterpret_cast<float*>(as) + warp * STEP * STEP;
  static_assert(sizeof(as) >= sizeof(float) * STEP * STEP * THREADS / LANES);
  store_tile(c, ldc, tile_row + warp_row, tile_col + warp_col, m, n, aligned_c, alpha, sum, beta, staging);
}

// A tile whose rows begin at multiples of 16 bytes, if `vectors`; of any other those elements that exist, and zeros.
template <int THREADS, int ROWS, int COLS, int STRIDE, class T>
__device__ void copy_tile(T* to, const T* from, std::int64_t ld, int rows, int cols, bool vectors) {
  constexpr int CHUNK = 16 / sizeof(T), ROW_CHUNKS = COLS / CHUNK, STEP_ROWS = THREADS / ROW_CHUNKS;
  static_assert(THREADS % ROW_CHUNKS == 0 && ROWS % STEP_ROWS == 0);
  const int first = threadIdx.x / ROW_CHUNKS, col = threadIdx.x % ROW_CHUNKS * CHUNK;
  if (vectors && rows >= ROWS && cols >= COLS) {
    uint4 words[ROWS / STEP_ROWS];  // all of them are asked for before the first is stored
#pragma unroll
    for (int i = 0; i < ROWS / STEP_ROWS; ++i)
      words[i] = *reinterpret_cast<const uint4*>(from + (first + i * STEP_ROWS) * ld + col);
#pragma unroll
    for (int i = 0; i < ROWS / STEP_ROWS; ++i)
      *reinterpret_cast<uint4*>(to + (first + i * STEP_ROWS) * STRIDE + col) = words[i];
    return;
  }
  for (int row = first; row < ROWS; row += STEP_ROWS) {
    const int existing = row < rows ? cols : 0;  // columns of this row
    for (int e = col; e < col + CHUNK; ++e) to[row * STRIDE + e] = e < existing ? from[row * ld + e] : T(0.0f);
  }
}

// 16 bytes at a time are copied from an address that they divide; a fragment of C is loaded from one that 32 divide.
template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, WARPS_M * STEP), blocks_n = gemm::ceil_div(p.n, WARPS_N * STEP);
  return gemm::launch(hgemm, {.grid = static_cast<unsigned>(blocks_m) * blocks_n, .block = THREADS, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n,
                      is_aligned(p.a, p.lda, 16), is_aligned(p.b, p.ldb, 16), is_aligned(p.c, p.ldc, 32));
}

constexpr gemm::StageInfo info = {
    .idea = "tiles in shared memory, copied once for all warps of a block",
    .base = "01",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
