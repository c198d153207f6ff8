// 09 policies: one kernel, and the type of its fragments says how they work. It says which instruction multiplies, what
// an operand is split into, and whether it is split at all.
//
// Idea      Everything that differs between FP16, TF32 and bfloat16, mma.sync, nvcuda::wmma and plain cores is behind
//           fragment, load_matrix_sync and mma_sync. So each choice is a template argument, and we can time each.
// Base      08_split_in_registers
// Change    08's types; rows of the tiles are padded as each layout wants it.
// Limit     Tensor Cores, in FP16 products per FP32 product: FP16 3, TF32 6 (3 at half the rate), bfloat16 6; without
//           correction 1, 2 and 1. Plain cores: four FMAs need four shuffles as written, and shuffles are slower.
// Number    Registers and local memory of each policy; cycles for a product of 16 x 8 x 16; residual.
// Map       4 warps, two by two, 32 x 32 of C each.
// Page      docs/tensorcore/09_policies.md
// Source    Ootomo and Yokota (2023), section 4.4; Chen et al. (2019), systolic arrays by shuffles.
#include "common/stage.cuh"
#include "tensorcore/copy_tile.cuh"
#include "tensorcore/wmma_ext/tcec/tcec.hpp"

namespace {

namespace tcec = wmma_ext::tcec;
constexpr int LANES = 32;
constexpr int WARP_M = 32, WARP_N = 32;                                       // of C, for each warp
constexpr int WARPS_M = 2, WARPS_N = 2, THREADS = WARPS_M * WARPS_N * LANES;  // of a block
constexpr int TILE_M = WARPS_M * WARP_M, TILE_N = WARPS_N * WARP_N, TILE_K = 32;

// What a policy's kernel is made of. Words from row to row, so that a request meets each bank once: of 16-bit numbers
// lane 4 g + t loads A's pair (g, 2 t) and B's elements (2 t, g) and (2 t + 1, g), of TF32 (g, t) and (t, g).
template <class T, class Policy>
struct Choice {
  static constexpr int STEP = Policy::k;
  static constexpr bool PAIRS = sizeof(wmma_ext::storage_t<tcec::operand_t<T, Policy>>) == 2;
  static constexpr int A_ROW = TILE_K + (PAIRS ? 8 : 4), B_ROW = TILE_N + (PAIRS ? 4 : 8);
  using A = tcec::fragment<wmma_ext::matrix_a, WARP_M, WARP_N, STEP, T, wmma_ext::row_major, Policy>;
  using B = tcec::fragment<wmma_ext::matrix_b, WARP_M, WARP_N, STEP, T, wmma_ext::row_major, Policy>;
  using Sum = tcec::fragment<wmma_ext::accumulator, WARP_M, WARP_N, STEP, T, void, Policy>;
};

template <class Choice>
__global__ void __launch_bounds__(THREADS)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda, const float* __restrict__ b,
          std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc, int blocks_n, bool vectors_a,
          bool vectors_b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // no TF32, no bfloat16
#else
  constexpr int A_ROW = Choice::A_ROW, B_ROW = Choice::B_ROW, STEP = Choice::STEP;
  __shared__ __align__(32) float as[TILE_M * A_ROW], bs[TILE_K * B_ROW];
  const int warp = threadIdx.x / LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * WARP_M, warp_col = warp % WARPS_N * WARP_N;

  typename Choice::Sum sum;
  tcec::fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const std::int64_t first = k0;
    copy_tile<THREADS, TILE_M, TILE_K, A_ROW>(as, a + tile_row * lda + first, lda, m - tile_row, k - k0, vectors_a);
    copy_tile<THREADS, TILE_K, TILE_N, B_ROW>(bs, b + first * ldb + tile_col, ldb, k - k0, n - tile_col, vectors_b);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE_K; step += STEP) {
      typename Choice::A x;
      typename Choice::B y;
      tcec::load_matrix_sync(x, as + warp_row * A_ROW + step, A_ROW);
      tcec::load_matrix_sync(y, bs + step * B_ROW + warp_col, B_ROW);
      tcec::mma_sync(sum, x, y, sum);
    }
    __syncthreads();
  }

  float* const out = c + (tile_row + warp_row) * ldc + tile_col + warp_col;
  const int below = m - tile_row - warp_row, right = n - tile_col - warp_col;
  tcec::foreach_ij<typename Choice::Sum>([&](int e, int i, int j) {
    if (i >= below || j >= right) return;
    float* const element = out + i * ldc + j;
    const float value = alpha * sum.x[e];
    *element = beta == 0.0f ? value : value + beta * *element;
  });
#endif
}

// For comparison, the same tiles by an FP32 loop: lane 8 r + s has rows r, r + 4, ... and columns 4 s to 4 s + 3.
__global__ void __launch_bounds__(THREADS)
    sgemm_loop(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda,
               const float* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
               int blocks_n, bool vectors_a, bool vectors_b) {
  constexpr int A_ROW = TILE_K + 4, B_ROW = TILE_N, ROWS = 8, COLS = 4;
  __shared__ __align__(32) float as[TILE_M * A_ROW], bs[TILE_K * B_ROW];
  const int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int row = warp / WARPS_N * WARP_M + lane / 8, col = warp % WARPS_N * WARP_N + lane % 8 * COLS;
  float sum[ROWS][COLS] = {};
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const std::int64_t first = k0;
    copy_tile<THREADS, TILE_M, TILE_K, A_ROW>(as, a + tile_row * lda + first, lda, m - tile_row, k - k0, vectors_a);
    copy_tile<THREADS, TILE_K, TILE_N, B_ROW>(bs, b + first * ldb + tile_col, ldb, k - k0, n - tile_col, vectors_b);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE_K; ++step) {
      const float4 y = *reinterpret_cast<const float4*>(bs + step * B_ROW + col);
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        const float x = as[(row + 4 * i) * A_ROW + step];
        sum[i][0] = fmaf(x, y.x, sum[i][0]);
        sum[i][1] = fmaf(x, y.y, sum[i][1]);
        sum[i][2] = fmaf(x, y.z, sum[i][2]);
        sum[i][3] = fmaf(x, y.w, sum[i][3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < COLS; ++j) {
      if (tile_row + row + 4 * i >= m || tile_col + col + j >= n) continue;
      float* const element = c + (tile_row + row + 4 * i) * ldc + tile_col + col + j;
      *element = beta == 0.0f ? alpha * sum[i][j] : alpha * sum[i][j] + beta * *element;
    }
  }
}

template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

using Kernel = void (*)(int, int, int, float, const float*, std::int64_t, const float*, std::int64_t, float, float*,
                        std::int64_t, int, bool, bool);

template <Kernel kernel>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, TILE_M), blocks_n = gemm::ceil_div(p.n, TILE_N);
  const unsigned blocks = static_cast<unsigned>(blocks_m) * blocks_n;
  return gemm::launch(kernel, {.grid = blocks, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(), p.alpha, p.a,
                      p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n, is_aligned(p.a, p.lda, 16),
                      is_aligned(p.b, p.ldb, 16));
}

template <class T, class ErrorCorrection = tcec::with_correction, class Op = tcec::op::mma>
constexpr auto launch_policy = launch<sgemm<Choice<T, tcec::default_policy<T, ErrorCorrection, Op>>>>;

namespace precision = wmma_ext::precision;
using tcec::with_correction, tcec::without_correction;
namespace op = tcec::op;
using Bf16 = __nv_bfloat16;
using gemm::Accuracy;

constexpr gemm::Emulation FP16_PLAIN = {.fp16_products = 1, .fp16_range = true}, TF32_PLAIN = {.fp16_products = 2},
                          SIX_PRODUCTS = {.fp16_products = 6}, NONE = {};
constexpr Accuracy ROUNDED = Accuracy::tf32, CUT_OFF = Accuracy::tensor_fp32, FP32 = Accuracy::fp32;

constexpr gemm::Variant variants[] = {
    {"half-wmma", "FP16 by nvcuda::wmma", launch_policy<__half, with_correction, op::wmma>},
    {"half-plain", "FP16 without correction", launch_policy<__half, without_correction>, nullptr, ROUNDED, FP16_PLAIN},
    {"tf32", "TF32", launch_policy<precision::tf32>, nullptr, CUT_OFF, SIX_PRODUCTS},
    {"tf32-wmma", "TF32 by nvcuda::wmma", launch_policy<precision::tf32, with_correction, op::wmma>, nullptr, CUT_OFF,
     SIX_PRODUCTS},
    {"tf32-plain", "TF32 without correction", launch_policy<precision::tf32, without_correction>, nullptr, ROUNDED,
     TF32_PLAIN},
    {"bf16", "three bfloat16's, six products", launch_policy<Bf16>, nullptr, CUT_OFF, SIX_PRODUCTS},
    {"bf16-wmma", "the same by nvcuda::wmma", launch_policy<Bf16, with_correction, op::wmma>, nullptr, CUT_OFF,
     SIX_PRODUCTS},
    {"shuffles", "plain cores, fed by shuffles", launch_policy<__half, with_correction, op::simt>, nullptr, FP32, NONE},
    {"loop", "plain cores, operands from shared memory", launch<sgemm_loop>, nullptr, FP32, NONE},
};
constexpr gemm::StageInfo info = {
    .idea = "a policy says what multiplies, and what numbers are parted into: FP16, TF32, bfloat16, FP32",
    .base = "08",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 80,
    .launch = launch_policy<__half>,
    .emulation = {.fp16_products = 3, .fp16_range = true},
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
