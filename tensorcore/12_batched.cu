// 12 batched: many products of one size in one launch, with 08's fragments: the kernel of the paper's Figure 8.
//
// Idea      A batch has blocks enough for all SMs whatever the size of its matrices, so a block needs no large tile, and k
//           no slices. What is left to choose is the blocking: tiles of C for a block and for a warp, steps of k between
//           two barriers, k of a fragment. The paper's is (128, 128, 32) and (32, 32, 32), variant `papers`; the default
//           has fragments of half the k, the other variants are around that.
// Base      08_split_in_registers
// Change    08 with a third coordinate of a block, tiles copied asynchronously, one ahead, and fragments of WARP_K
//           steps of k: so many products are summed in Tensor Cores before plain cores add them to the sum.
// Limit     Issue slots, as in 08: each warp splits for itself. A warp tile of WARP_M x WARP_N splits (WARP_M + WARP_N)
//           numbers a step of k for WARP_M * WARP_N products of them: large warp tiles split less, and need registers.
// Number    smsp__issue_active; TFLOP/s over k = 2^7 .. 2^14 beside cuBLAS's batched SGEMM, and 11's.
// Map       TILE_M / WARP_M x TILE_N / WARP_N warps, each WARP_M x WARP_N of C.
// Page      docs/tensorcore/12_batched.md
// Source    Ootomo and Yokota (2023), section 4.4.2, Figure 8: the blocking, the batch of 256 and the sizes.
#include <algorithm>

#include "common/kernel/ptx.cuh"
#include "common/stage.cuh"
#include "tensorcore/wmma_ext/tcec/tcec.hpp"

extern __shared__ __align__(128) unsigned char smem[];

namespace {

namespace tcec = wmma_ext::tcec;

constexpr int LANES = 32, STAGES = 2;

template <int TILE_M_, int TILE_N_, int TILE_K_, int WARP_M_, int WARP_N_, int WARP_K_>
struct Blocking {
  static constexpr int TILE_M = TILE_M_, TILE_N = TILE_N_, TILE_K = TILE_K_;
  static constexpr int WARP_M = WARP_M_, WARP_N = WARP_N_, WARP_K = WARP_K_;  // of a fragment
  static constexpr int WARPS_N = TILE_N / WARP_N, THREADS = TILE_M / WARP_M * WARPS_N * LANES;
  // Lane 4 g + t loads A's pair (g, 2 t) and B's elements (2 t, g) and (2 t + 1, g): with rows so far apart, modulo 32
  // banks, a request meets each bank once (A: half a warp; a pair is two words).
  static constexpr int A_ROW = TILE_K + 8, B_ROW = TILE_N + 4;
  static constexpr int A_TILE = TILE_M * A_ROW, TILE = A_TILE + TILE_K * B_ROW;  // floats
  static constexpr unsigned SHARED_BYTES = STAGES * TILE * sizeof(float);
};

// Starts copying a tile, 16 bytes a thread at a time if rows begin at multiples of them; zeros for what doesn't exist.
template <class S, int ROWS, int COLS, int STRIDE>
__device__ void copy_tile(float* to, const float* from, std::int64_t ld, int rows, int cols, bool vectors) {
  constexpr int ROW_CHUNKS = COLS / 4;
  static_assert(ROWS * ROW_CHUNKS % S::THREADS == 0 && STRIDE % 4 == 0);
#pragma unroll
  for (int i = 0; i < ROWS * ROW_CHUNKS; i += S::THREADS) {
    const int row = (i + threadIdx.x) / ROW_CHUNKS, col = (i + threadIdx.x) % ROW_CHUNKS * 4;
    const int exist = row < rows ? min(max(cols - col, 0), 4) : 0;  // of these four
    const float* const source = from + (exist > 0 ? row * ld + col : 0);
    if (vectors) {
      gemm::ptx::cp_async_cg(to + row * STRIDE + col, source, 4 * exist);
      continue;
    }
    for (int e = 0; e < 4; ++e)
      gemm::ptx::cp_async_ca<4>(to + row * STRIDE + col + e, source + (e < exist ? e : 0), e < exist ? 4 : 0);
  }
}

// S: a Blocking. A block of the grid's y calculates tiles of matrix y of the batch.
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
    float* const to = tiles + k0 / S::TILE_K % STAGES * S::TILE;
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
  copy(0);
  for (int k0 = 0; k0 < k; k0 += S::TILE_K) {
    copy(k0 + S::TILE_K);
    gemm::ptx::cp_async_wait<1>();
    __syncthreads();
    const float* const as = tiles + k0 / S::TILE_K % STAGES * S::TILE;
    const float* const bs = as + S::A_TILE;
#pragma unroll
    for (int step = 0; step < S::TILE_K; step += S::WARP_K) {
      A x;
      B y;
      tcec::load_matrix_sync(x, as + warp_row * S::A_ROW + step, S::A_ROW);
      tcec::load_matrix_sync(y, bs + step * S::B_ROW + warp_col, S::B_ROW);
      tcec::mma_rn_sync(sum, x, y, sum);
    }
    __syncthreads();
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

#ifdef GEMM_BLOCKING  // tools/tune/blockings.py compiles a grid, a point at a time
using Chosen = Blocking<GEMM_BLOCKING>;
#else
using Chosen = Blocking<128, 128, 32, 32, 32, 16>;

constexpr gemm::Variant variants[] = {
    {.name = "papers",
     .idea = "the paper's own blocking: fragments of (32, 32, 32)",
     .launch = launch<Blocking<128, 128, 32, 32, 32, 32>>},
    {.name = "64x64x32-32x32", .idea = "08's blocking", .launch = launch<Blocking<64, 64, 32, 32, 32, 16>>},
    {.name = "128x64x32-32x32", .idea = "a block of 8 warps", .launch = launch<Blocking<128, 64, 32, 32, 32, 16>>},
    {.name = "128x128x16-32x32", .idea = "half of k at a time", .launch = launch<Blocking<128, 128, 16, 32, 32, 16>>},
    {.name = "64x64x32-32x64", .idea = "two warps, larger", .launch = launch<Blocking<64, 64, 32, 32, 64, 16>>},
    {.name = "128x64x32-64x32", .idea = "four of 64 x 32", .launch = launch<Blocking<128, 64, 32, 64, 32, 16>>},
    {.name = "128x128x32-64x32", .idea = "eight of 64 x 32", .launch = launch<Blocking<128, 128, 32, 64, 32, 16>>},
    {.name = "128x128x32-32x64", .idea = "eight of 32 x 64", .launch = launch<Blocking<128, 128, 32, 32, 64, 16>>},
    {.name = "128x128x32-64x64", .idea = "four of 64 x 64", .launch = launch<Blocking<128, 128, 32, 64, 64, 16>>},
};
#endif

constexpr gemm::StageInfo info = {
    .idea = "a batch in one launch, fragments split in registers, in the paper's blocking",
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
