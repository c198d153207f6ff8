// 12 batched: many products of one size in one launch, with 08's fragments: the kernel of the paper's Figure 8.
//
// Idea      A batch has enough blocks for all SMs whatever the size of its matrices, so a block needs no large tile of C
//           and no slices of k. What remains is the blocking: the block's tile, the warp's tile, how many k-tiles are in
//           shared memory, and how many steps of k a fragment has. The paper's blocking is variant `papers`.
// Base      08_split_in_registers
// Change    08 with the blocks of all matrices in one grid. Tiles are copied asynchronously, one ahead. A fragment has
//           STEP steps of k: Tensor Cores sum that many products before FP32 cores round the sum.
// Limit     Issue slots are used most, because each warp splits its own operands; a barrier per k-tile keeps warps from
//           using all. A warp tile splits WARP_M + WARP_N numbers per step of k for WARP_M * WARP_N products, so a
//           larger warp tile splits less and needs more registers.
// Number    Instructions per HMMA in the loop; TFLOP/s for k = 2^7 .. 2^14 beside cuBLAS's batched SGEMM, and 11's.
// Map       TILE_M / WARP_M x TILE_N / WARP_N warps; each computes WARP_M x WARP_N elements of C.
// Page      docs/tensorcore/12_batched.md
// Source    Ootomo and Yokota (2023), section 4.4.2, Figure 8: the blocking, the batch of 256 and the sizes.
#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"
#include "tensorcore/copy_tile.cuh"
#include "tensorcore/wmma_ext/tcec/tcec.hpp"

namespace {

namespace tcec = wmma_ext::tcec;
constexpr int LANES = 32;

// How C is divided. Lane 4 g + t loads A's pair (g, 2 t) and B's elements (2 t, g) and (2 t + 1, g): with rows so far
// apart, modulo 32 banks, a request meets each bank once (A: half a warp; a pair is two words).
template <int TILE_M_, int TILE_N_, int TILE_K_, int WARP_M_, int WARP_N_, int STEP_, int STAGES_>
struct Blocking {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_, STAGES = STAGES_;  // k-tiles kept
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_, STEP = STEP_;                        // of a fragment
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * LANES;
  static constexpr int A_ROW = TILE_K + 8, B_ROW = TILE_N + 4, A_TILE = TILE_M * A_ROW, TILE = A_TILE + TILE_K * B_ROW;
  static constexpr unsigned SHARED_BYTES = STAGES * TILE * sizeof(float);
};

// S: a Blocking. Blocks of a matrix of the batch follow those of the one before.
template <class S>
__global__ void __launch_bounds__(S::THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n, bool vectors_a,
          bool vectors_b, unsigned blocks, std::int64_t stride_a, std::int64_t stride_b, std::int64_t stride_c) {
  constexpr int TILE_M = S::TILE_M, TILE_N = S::TILE_N, TILE_K = S::TILE_K, A_ROW = S::A_ROW, B_ROW = S::B_ROW;
  constexpr int WARP_M = S::WARP_M, WARP_N = S::WARP_N, WARPS_N = S::WARPS_N, STEP = S::STEP, THREADS = S::THREADS;
  static_assert(TILE_K % STEP == 0);
  using A = tcec::fragment<wmma_ext::matrix_a, WARP_M, WARP_N, STEP, __half, wmma_ext::row_major>;
  using B = tcec::fragment<wmma_ext::matrix_b, WARP_M, WARP_N, STEP, __half, wmma_ext::row_major>;
  using Sum = tcec::fragment<wmma_ext::accumulator, WARP_M, WARP_N, STEP, __half>;
  extern __shared__ __align__(128) float tiles[];
  const int warp = threadIdx.x / LANES;
  const unsigned matrix = blockIdx.x / blocks;
  const int tile_row = blockIdx.x % blocks / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * WARP_M, warp_col = warp % WARPS_N * WARP_N;
  a += matrix * stride_a + tile_row * lda;
  b += matrix * stride_b + tile_col;
  const auto copy = [&](int k0) {
    float* const to = tiles + k0 / TILE_K % S::STAGES * S::TILE;
    if (k0 < k) {
      copy_async<THREADS, TILE_M, TILE_K, A_ROW>(to, a + k0, lda, m - tile_row, k - k0, vectors_a);
      copy_async<THREADS, TILE_K, TILE_N, B_ROW>(to + S::A_TILE, b + k0 * ldb, ldb, k - k0, n - tile_col, vectors_b);
    }
    gemm::ptx::cp_async_commit();
  };

  Sum sum;
  tcec::fill_fragment(sum, 0.0f);
  for (int ahead = 0; ahead < S::STAGES - 1; ++ahead) copy(ahead * TILE_K);
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    gemm::ptx::cp_async_wait<S::STAGES - 2>();
    __syncthreads();  // this tile has arrived; all warps have read the last one, which the next copy overwrites
    copy(k0 + (S::STAGES - 1) * TILE_K);
    const float *const as = tiles + k0 / TILE_K % S::STAGES * S::TILE, *const bs = as + S::A_TILE;
#pragma unroll
    for (int step = 0; step < TILE_K; step += STEP) {
      A x;
      B y;
      tcec::load_matrix_sync(x, as + warp_row * A_ROW + step, A_ROW);
      tcec::load_matrix_sync(y, bs + step * B_ROW + warp_col, B_ROW);
      tcec::mma_rn_sync(sum, x, y, sum);
    }
  }

  float* const out = c + matrix * stride_c + (tile_row + warp_row) * ldc + tile_col + warp_col;
  const int below = m - tile_row - warp_row, right = n - tile_col - warp_col;
  tcec::foreach_ij<Sum>([&](int e, int i, int j) {
    if (i >= below || j >= right) return;
    float* const element = out + i * ldc + j;
    const float value = alpha * sum.x[e];
    *element = beta == 0.0f ? value : value + beta * *element;
  });
}

template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

template <class S>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, S::TILE_M), blocks_n = gemm::ceil_div(p.n, S::TILE_N);
  const unsigned blocks = static_cast<unsigned>(blocks_m) * blocks_n;
  return gemm::launch(
      sgemm<S>, {.grid = blocks * p.batch, .block = S::THREADS, .dynamic_shared = S::SHARED_BYTES, .stream = stream},
      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n,
      is_aligned(p.a, p.lda, 16) && p.stride_a % 4 == 0, is_aligned(p.b, p.ldb, 16) && p.stride_b % 4 == 0, blocks,
      p.stride_a, p.stride_b, p.stride_c);
}

constexpr gemm::Variant variants[] = {
    {"papers", "the paper's blocking, fragments of (32, 32, 32)", launch<Blocking<128, 128, 32, 32, 32, 32, 2>>},
    {"papers-k16", "the same, fragments of half the k", launch<Blocking<128, 128, 32, 32, 32, 16, 2>>},
    {"128x128", "the paper's block, half of the warps, larger", launch<Blocking<128, 128, 32, 32, 64, 32, 2>>},
    {"32x32", "as the stage, twice the warps", launch<Blocking<128, 64, 32, 32, 32, 32, 2>>},
    {"two-ahead", "as the stage, two tiles ahead", launch<Blocking<128, 64, 32, 32, 64, 32, 3>>},
};
constexpr gemm::StageInfo info = {
    .idea = "a batch in one launch, fragments split in registers, tiles copied one ahead",
    .base = "08",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch<Blocking<128, 64, 32, 32, 64, 32, 2>>,
    .emulation = {.fp16_products = 3, .fp16_range = true},
    .batch = true,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
