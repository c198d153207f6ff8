// 12 batched: many products of one size in one launch, with 08's fragments: the kernel of the paper's Figure 8.
//
// Idea      A batch has enough blocks for all SMs whatever the size of its matrices, so a block needs no large tile of C
//           and no slices of k. What remains is the blocking: the block's tile, the warp's tile, how many k-tiles are in
//           shared memory, and how many steps of k a fragment has. The paper's blocking is variant `papers`.
// Base      08_split_in_registers
// Change    08 with the matrix of the batch as the grid's second coordinate. Tiles are copied asynchronously, one ahead.
//           A fragment has WARP_K steps of k: Tensor Cores sum that many products before FP32 cores round the sum.
// Limit     Issue slots, as in 08, because each warp splits its own operands. A warp tile splits WARP_M + WARP_N numbers
//           per step of k for WARP_M * WARP_N products, so a larger warp tile splits less and needs more registers.
// Number    Instructions per HMMA in the loop; TFLOP/s for k = 2^7 .. 2^14 beside cuBLAS's batched SGEMM, and 11's.
// Map       TILE_M / WARP_M x TILE_N / WARP_N warps; each computes WARP_M x WARP_N elements of C.
// Page      docs/tensorcore/12_batched.md
// Source    Ootomo and Yokota (2023), section 4.4.2, Figure 8: the blocking, the batch of 256 and the sizes.
#include <algorithm>

#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"
#include "tensorcore/wmma_ext/tcec/tcec.hpp"

extern __shared__ __align__(128) unsigned char smem[];

namespace {

namespace tcec = wmma_ext::tcec;
constexpr int LANES = 32;

// Starts copying a tile, 16 bytes at a time and unchecked, if it is whole and its rows begin at multiples of them: below.
template <class S, int ROWS, int COLS, int STRIDE>
__device__ void copy_tile(float* to, const float* tile, std::int64_t ld, int rows, int cols, bool vectors);

// S: a Blocking, below. A block of the grid's y calculates tiles of matrix y of the batch.
template <class S>
__global__ void __launch_bounds__(S::THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, std::int64_t stride_a,
          const float* __restrict__ b, std::int64_t ldb, std::int64_t stride_b, float beta, float* __restrict__ c,
          std::int64_t ldc, std::int64_t stride_c, int blocks_n, bool vectors_a, bool vectors_b) {
  static_assert(S::TILE_K % S::WARP_K == 0);
  using A = tcec::fragment<wmma_ext::matrix_a, S::WARP_M, S::WARP_N, S::WARP_K, __half, wmma_ext::row_major>;
  using B = tcec::fragment<wmma_ext::matrix_b, S::WARP_M, S::WARP_N, S::WARP_K, __half, wmma_ext::row_major>;
  using Sum = tcec::fragment<wmma_ext::accumulator, S::WARP_M, S::WARP_N, S::WARP_K, __half>;
  float* const tiles = reinterpret_cast<float*>(smem);
  const int warp = threadIdx.x / LANES;
  const int tile_row = blockIdx.x / blocks_n * S::TILE_M, tile_col = blockIdx.x % blocks_n * S::TILE_N;
  const int warp_row = warp / S::WARPS_N * S::WARP_M, warp_col = warp % S::WARPS_N * S::WARP_N;
  a += blockIdx.y * stride_a + tile_row * lda;
  b += blockIdx.y * stride_b + tile_col;
  const auto copy = [&](int k0) {
    float* const to = tiles + k0 / S::TILE_K % S::STAGES * S::TILE;
    if (k0 < k) {
      const std::int64_t first = k0;
      copy_tile<S, S::TILE_M, S::TILE_K, S::A_ROW>(to, a + first, lda, m - tile_row, k - k0, vectors_a);
      copy_tile<S, S::TILE_K, S::TILE_N, S::B_ROW>(to + S::A_TILE, b + first * ldb, ldb, k - k0, n - tile_col,
                                                   vectors_b);
    }
    gemm::ptx::cp_async_commit();
  };

  Sum sum;
  tcec::fill_fragment(sum, 0.0f);
  for (int ahead = 0; ahead < S::STAGES - 1; ++ahead) copy(ahead * S::TILE_K);
  for (int k0 = 0; k0 < k; k0 += S::TILE_K) {
    gemm::ptx::cp_async_wait<S::STAGES - 2>();
    __syncthreads();  // this tile has arrived; all warps have read the last one, which the next copy overwrites
    copy(k0 + (S::STAGES - 1) * S::TILE_K);
    const float* const as = tiles + k0 / S::TILE_K % S::STAGES * S::TILE;
    const float* const bs = as + S::A_TILE;
#pragma unroll
    for (int step = 0; step < S::TILE_K; step += S::WARP_K) {
      A x;
      B y;
      tcec::load_matrix_sync(x, as + warp_row * S::A_ROW + step, S::A_ROW);
      tcec::load_matrix_sync(y, bs + step * S::B_ROW + warp_col, S::B_ROW);
      tcec::mma_rn_sync(sum, x, y, sum);
    }
  }

  float* const out = c + blockIdx.y * stride_c + (tile_row + warp_row) * ldc + tile_col + warp_col;
  const int below = m - tile_row - warp_row, right = n - tile_col - warp_col;
  tcec::foreach_ij<Sum>([&](int e, int i, int j) {
    if (i >= below || j >= right) return;
    float* const element = out + i * ldc + j;
    const float value = alpha * sum.x[e];
    *element = beta == 0.0f ? value : value + beta * *element;
  });
}

template <class S, int ROWS, int COLS, int STRIDE>
__device__ void copy_tile(float* to, const float* tile, std::int64_t ld, int rows, int cols, bool vectors) {
  constexpr int ROW_CHUNKS = COLS / 4, STEP_ROWS = S::THREADS / ROW_CHUNKS;
  static_assert(S::THREADS % ROW_CHUNKS == 0 && ROWS % STEP_ROWS == 0 && STRIDE % 4 == 0);
  const int first = threadIdx.x / ROW_CHUNKS, col = threadIdx.x % ROW_CHUNKS * 4;
  const float* const from = tile + first * ld + col;  // once: a loop that begins at `first` multiplies in each turn
  to += first * STRIDE + col;
  if (vectors && rows >= ROWS && cols >= COLS) {
#pragma unroll
    for (int row = 0; row < ROWS; row += STEP_ROWS) gemm::ptx::cp_async_cg(to + row * STRIDE, from + row * ld);
    return;
  }
#pragma unroll 1
  for (int row = 0; row < ROWS; row += STEP_ROWS) {
    for (int e = 0; e < 4; ++e) {
      const bool exists = first + row < rows && col + e < cols;
      gemm::ptx::cp_async_ca<4>(to + row * STRIDE + e, exists ? from + row * ld + e : tile, exists ? 4 : 0);
    }
  }
}

bool is_aligned(const void* p, std::int64_t ld, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && ld % 4 == 0 && stride % 4 == 0;
}

template <class S>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  constexpr int MOST = 65535;  // of a grid's y
  const int blocks_m = gemm::ceil_div(p.m, S::TILE_M), blocks_n = gemm::ceil_div(p.n, S::TILE_N);
  for (int first = 0; first < p.batch; first += MOST) {
    const float* const a = p.a + first * p.stride_a;
    const float* const b = p.b + first * p.stride_b;
    const gemm::Status status = gemm::launch(
        sgemm<S>,
        {.grid = dim3(static_cast<unsigned>(blocks_m) * blocks_n, std::min(p.batch - first, MOST)),
         .block = S::THREADS,
         .dynamic_shared = S::SHARED_BYTES,
         .stream = stream},
        p.m, p.n, p.depth(), p.alpha, a, p.lda, p.stride_a, b, p.ldb, p.stride_b, p.beta, p.c + first * p.stride_c,
        p.ldc, p.stride_c, blocks_n, is_aligned(a, p.lda, p.stride_a), is_aligned(b, p.ldb, p.stride_b));
    if (!status) return status;
  }
  return gemm::Status::ok();
}

template <int TILE_M_, int TILE_N_, int TILE_K_, int WARP_M_, int WARP_N_, int WARP_K_, int STAGES_>
struct Blocking {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_, STAGES = STAGES_;  // tiles kept
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_, WARP_K = WARP_K_;                    // of a fragment
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * LANES;
  // Lane 4 g + t loads A's pair (g, 2 t) and B's elements (2 t, g) and (2 t + 1, g): with rows so far apart, modulo 32
  // banks, a request meets each bank once (A: half a warp; a pair is two words).
  static constexpr int A_ROW = TILE_K + 8, B_ROW = TILE_N + 4, A_TILE = TILE_M * A_ROW, TILE = A_TILE + TILE_K * B_ROW;
  static constexpr unsigned SHARED_BYTES = STAGES * TILE * sizeof(float);
};

#ifdef GEMM_BLOCKING  // tools/tune/blockings.py compiles a grid, a point at a time
using Chosen = Blocking<GEMM_BLOCKING>;
#else
using Chosen = Blocking<128, 64, 32, 32, 64, 32, 2>;

constexpr gemm::Variant variants[] = {
    {"papers", "the paper's blocking, fragments of (32, 32, 32)", launch<Blocking<128, 128, 32, 32, 32, 32, 2> >},
    {"papers-k16", "the same, fragments of half the k", launch<Blocking<128, 128, 32, 32, 32, 16, 2> >},
    {"128x128", "the paper's block, half of the warps, larger", launch<Blocking<128, 128, 32, 32, 64, 32, 2> >},
    {"32x32", "as the stage, twice the warps", launch<Blocking<128, 64, 32, 32, 32, 32, 2> >},
    {"two-ahead", "as the stage, two tiles ahead", launch<Blocking<128, 64, 32, 32, 64, 32, 3> >},
};
#endif

constexpr gemm::StageInfo info = {
    .idea = "a batch in one launch, fragments split in registers, tiles copied one ahead",
    .base = "08",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch<Chosen>,
    .emulation = {.fp16_products = 3, .fp16_range = true},
    .batch = true,
#ifndef GEMM_BLOCKING
    .variants = variants,
#endif
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
