// 02 shared tiles: a warp computes N x N of C from the block's tiles in shared memory. It uses each fragment N / 16 times
// while it is in registers.
//
// Idea      A fragment is used for N columns of C, N / 16 times: N / 2 flops per byte of shared memory reads. Twice the
//           N means half the traffic per flop and four times the registers for C.
// Base      01b_block_tiles
// Change    Arrays of fragments, and loops around load_matrix_sync and mma_sync. N, the padding and how many steps of k
//           a warp has the fragments of are template parameters, for the variants.
// Limit     Shared memory: a product of 16 x 8 x 16 takes 64 / N wavefronts. On sm_90 one ends every 1.5 cycles. So N =
//           16 reaches at most 37 % of that, N = 32 75 %, N = 64 all, if copies were free. Nothing hides them here.
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared, and registers, of the variants: docs page.
// Map       4 warps, two by two: 2 N x 2 N of C.
// Page      docs/tensorcore/02_shared_tiles.md
// Source    Ootomo and Yokota (2023), section 3.
#include <mma.h>

#include "common/stage.cuh"
#include "tensorcore/store_tile.cuh"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int WARPS_M = 2, WARPS_N = 2, THREADS = WARPS_M * WARPS_N * LANES;  // of a block

constexpr int CHUNK = 8;  // elements in 16 bytes

// Copies a tile to shared memory. vectors: its rows begin at multiples of 16 bytes. Zeros where no element exists. Below.
template <int THREADS, int ROWS, int COLS, int STRIDE, class T>
__device__ void copy_tile(T* to, const T* from, std::int64_t ld, int rows, int cols, bool vectors);

// Has all numbers of the fragments in registers at once. Below.
template <class A, class B, int DEPTH, int F>
__device__ void hold(A (&x)[DEPTH][F], B (&y)[DEPTH][F]);

// PAD: elements between rows in shared memory. DEPTH: of how many steps of k a warp has the fragments at a time.
template <int N, int TILE_K, int PAD, int DEPTH>
__global__ void __launch_bounds__(THREADS)
    hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a, std::int64_t lda,  // (m, k)
          const __half* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
          int blocks_n, bool vectors_a, bool vectors_b, bool aligned_c) {
  constexpr int TILE_M = WARPS_M * N, TILE_N = WARPS_N * N, A_ROW = TILE_K + PAD, B_ROW = TILE_N + PAD, F = N / STEP;
  static_assert(TILE_K % DEPTH == 0 && DEPTH % STEP == 0 && N % STEP == 0 && PAD % CHUNK == 0);
  __shared__ __align__(32) __half as[TILE_M * A_ROW], bs[TILE_K * B_ROW];
  const int warp = threadIdx.x / LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * N, warp_col = warp % WARPS_N * N;

  Sum sum[F][F];
  for (int f = 0; f < F * F; ++f) wmma::fill_fragment(sum[f / F][f % F], 0.0f);
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const std::int64_t first = k0;
    copy_tile<THREADS, TILE_M, TILE_K, A_ROW>(as, a + tile_row * lda + first, lda, m - tile_row, k - k0, vectors_a);
    copy_tile<THREADS, TILE_K, TILE_N, B_ROW>(bs, b + first * ldb + tile_col, ldb, k - k0, n - tile_col, vectors_b);
    __syncthreads();
#pragma unroll
    for (int slice = 0; slice < TILE_K; slice += DEPTH) {
      wmma::fragment<wmma::matrix_a, STEP, STEP, STEP, __half, wmma::row_major> x[DEPTH / STEP][F];
      wmma::fragment<wmma::matrix_b, STEP, STEP, STEP, __half, wmma::row_major> y[DEPTH / STEP][F];
#pragma unroll
      for (int s = 0; s < DEPTH / STEP; ++s) {
#pragma unroll
        for (int i = 0; i < F; ++i) {
          wmma::load_matrix_sync(x[s][i], as + (warp_row + i * STEP) * A_ROW + slice + s * STEP, A_ROW);
          wmma::load_matrix_sync(y[s][i], bs + (slice + s * STEP) * B_ROW + warp_col + i * STEP, B_ROW);
        }
      }
      if constexpr (DEPTH > STEP) hold(x, y);
#pragma unroll
      for (int s = 0; s < DEPTH / STEP; ++s) {
#pragma unroll
        for (int i = 0; i < F; ++i) {
#pragma unroll
          for (int j = 0; j < F; ++j) wmma::mma_sync(sum[i][j], x[s][i], y[s][j], sum[i][j]);
        }
      }
    }
    __syncthreads();
  }

  float* const staging = reinterpret_cast<float*>(as) + warp * STEP * STEP;
  static_assert(sizeof(as) >= sizeof(float) * STEP * STEP * THREADS / LANES);
#pragma unroll
  for (int f = 0; f < F * F; ++f) {
    const int row = tile_row + warp_row + f / F * STEP, col = tile_col + warp_col + f % F * STEP;
    store_tile(c, ldc, row, col, m, n, aligned_c, alpha, sum[f / F][f % F], beta, staging);
  }
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

// `bits` is 0, but nvcc can't know that. So it loads all numbers first, in place of each when it is needed.
template <class A, class B, int DEPTH, int F>
__device__ void hold(A (&x)[DEPTH][F], B (&y)[DEPTH][F]) {
  const auto bits = static_cast<unsigned short>(__syncthreads_or(0));
  for (int f = 0; f < DEPTH * F; ++f) {
    for (auto& element : x[f / F][f % F].x) element = __ushort_as_half(__half_as_ushort(element) | bits);
    for (auto& element : y[f / F][f % F].x) element = __ushort_as_half(__half_as_ushort(element) | bits);
  }
}

// 16 bytes at a time are copied from an address that they divide; a fragment of C is loaded from one that 32 divide.
template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

template <int N, int TILE_K, int PAD, int DEPTH>
gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, WARPS_M * N), blocks_n = gemm::ceil_div(p.n, WARPS_N * N);
  const unsigned blocks = static_cast<unsigned>(blocks_m) * blocks_n;
  const auto kernel = hgemm<N, TILE_K, PAD, DEPTH>;
  return gemm::launch(kernel, {.grid = blocks, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(), p.alpha, p.a,
                      p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n, is_aligned(p.a, p.lda, 16),
                      is_aligned(p.b, p.ldb, 16), is_aligned(p.c, p.ldc, 32));
}

constexpr gemm::Variant variants[] = {
    {"n=16", "a warp has 16 x 16 of C", launch<16, 64, CHUNK, 16>},
    {"n=32", "a warp has 32 x 32 of C", launch<32, 64, CHUNK, 16>},
    {"n=64-packed", "n = 64, rows in shared memory without padding", launch<64, 64, 0, 16>},
    {"n=32-whole", "n = 32, fragments of 32 steps of k at a time", launch<32, 64, CHUNK, 32>},
    {"n=64-whole", "n = 64, fragments of 64 steps of k at a time: they don't fit", launch<64, 64, CHUNK, 64>},
};
constexpr gemm::StageInfo info = {
    .idea = "a warp and 64 x 64 of C: each fragment from shared memory used four times",
    .base = "01b",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .launch = launch<64, 64, CHUNK, 16>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
