// 07 split in shared: FP32 products on Tensor Cores. Each number becomes the sum of two FP16 numbers. These pass
// through shared memory, because nvcuda::wmma loads fragments from memory only.
//
// Idea      v = h + d 2^-11 with h = half(v) and d = half((v - h) 2^11): 22 bits of FP32's 24. A product of two such
//           sums is three FP16 products, h h' + (h d' + d h') 2^-11. The fourth is less than 2^-22 of it.
// Base      02_shared_tiles
// Change    02's tiles are FP32. A warp splits its 32 x 16 of A and 16 x 32 of B in shared memory, and loads four kinds
//           of fragments instead of two.
// Limit     Shared memory: for n x n of C a step of k reads 4 bytes per element, writes 4, and reads 4 again. That is n
//           / 12 FLOPs per byte, 2.7 for n = 32: 341 FLOPs per cycle of an SM, of 1,365 (4,096 / 3).
// Number    l1tex__data_pipe_lsu_wavefronts_mem_shared for a product of 16 x 8 x 16; bytes of shared memory per block.
// Map       4 warps, two by two, 32 x 32 of C each.
// Page      docs/tensorcore/07_split_in_shared.md
// Source    Ootomo and Yokota (2022), the split and its scaling; (2023), section 4.4, Figure 6. Markidis et al. (2018).
#include <mma.h>

#include "common/stage.cuh"
#include "tensorcore/store_tile.cuh"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int WARPS_M = 2, WARPS_N = 2, THREADS = WARPS_M * WARPS_N * LANES;  // of a block
constexpr int N = 32, TILE_K = 32, PAD = 4;  // rows and columns of a warp's C; of FP32 tiles, elements between rows
// Of a warp's FP16 tiles, N x STEP and STEP x N: words of a row, and of a tile.
constexpr int A_SPLIT_ROW = STEP + 8, B_SPLIT_ROW = N + 8, A_SPLIT = N * A_SPLIT_ROW, B_SPLIT = STEP * B_SPLIT_ROW;
// As in 02.
template <int THREADS, int ROWS, int COLS, int STRIDE, class T>
__device__ void copy_tile(T* to, const T* from, std::int64_t ld, int rows, int cols, bool vectors);

// What becomes of a number. Uncorrected: h alone. Markidis: d is not scaled, so FP16 has no bits for it where |v| is
// small; and all products, the fourth one too, go into the same sum.
enum class Form { corrected, markidis, uncorrected };
constexpr float SCALE = 2048.0f;  // 2^11
// ROWS x COLS numbers of an FP32 tile to two FP16 tiles, by a warp: below.
template <Form form, int ROWS, int COLS, int FROM_ROW, int TO_ROW>
__device__ void split_tile(__half* h, __half* d, const float* from);

template <Form form>
__global__ void __launch_bounds__(THREADS, 4)
    sgemm(int m, int n, int k, float alpha, const float* __restrict__ a, std::int64_t lda,  // (m, k)
          const float* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
          int blocks_n, bool vectors_a, bool vectors_b, bool aligned_c) {
  constexpr int TILE_M = WARPS_M * N, TILE_N = WARPS_N * N, A_ROW = TILE_K + PAD, B_ROW = TILE_N + PAD, F = N / STEP;
  constexpr int PARTS = form == Form::uncorrected ? 1 : 2;
  __shared__ __align__(32) float as[TILE_M * A_ROW], bs[TILE_K * B_ROW];
  __shared__ __align__(32) __half parts[WARPS_M * WARPS_N][PARTS][A_SPLIT + B_SPLIT];
  const int warp = threadIdx.x / LANES;
  const int tile_row = blockIdx.x / blocks_n * TILE_M, tile_col = blockIdx.x % blocks_n * TILE_N;
  const int warp_row = warp / WARPS_N * N, warp_col = warp % WARPS_N * N;

  Sum sum[F][F], correction[F][F];  // corrected: h d' + d h' has a sum of its own, 2^11 too large
  for (int f = 0; f < F * F; ++f) wmma::fill_fragment(sum[f / F][f % F], 0.0f);
  for (int f = 0; f < F * F; ++f) wmma::fill_fragment(correction[f / F][f % F], 0.0f);
  for (int k0 = 0; k0 < k; k0 += TILE_K) {
    const std::int64_t first = k0;
    copy_tile<THREADS, TILE_M, TILE_K, A_ROW>(as, a + tile_row * lda + first, lda, m - tile_row, k - k0, vectors_a);
    copy_tile<THREADS, TILE_K, TILE_N, B_ROW>(bs, b + first * ldb + tile_col, ldb, k - k0, n - tile_col, vectors_b);
    __syncthreads();
#pragma unroll
    for (int step = 0; step < TILE_K; step += STEP) {
      __half *const h = parts[warp][0], *const d = parts[warp][PARTS - 1];
      split_tile<form, N, STEP, A_ROW, A_SPLIT_ROW>(h, d, as + warp_row * A_ROW + step);
      split_tile<form, STEP, N, B_ROW, B_SPLIT_ROW>(h + A_SPLIT, d + A_SPLIT, bs + step * B_ROW + warp_col);
      __syncwarp();  // the warp's FP16 tiles are complete
      wmma::fragment<wmma::matrix_a, STEP, STEP, STEP, __half, wmma::row_major> x[PARTS][F];
      wmma::fragment<wmma::matrix_b, STEP, STEP, STEP, __half, wmma::row_major> y[PARTS][F];
#pragma unroll
      for (int p = 0; p < PARTS; ++p) {
#pragma unroll
        for (int i = 0; i < F; ++i) {
          wmma::load_matrix_sync(x[p][i], parts[warp][p] + i * STEP * A_SPLIT_ROW, A_SPLIT_ROW);
          wmma::load_matrix_sync(y[p][i], parts[warp][p] + A_SPLIT + i * STEP, B_SPLIT_ROW);
        }
      }
      __syncwarp();  // all lanes have read them
#pragma unroll
      for (int i = 0; i < F; ++i) {
#pragma unroll
        for (int j = 0; j < F; ++j) {
          Sum& small = form == Form::corrected ? correction[i][j] : sum[i][j];
          if constexpr (form == Form::markidis) wmma::mma_sync(small, x[1][i], y[1][j], small);
          if constexpr (PARTS == 2) {
            wmma::mma_sync(small, x[1][i], y[0][j], small);
            wmma::mma_sync(small, x[0][i], y[1][j], small);
          }
          wmma::mma_sync(sum[i][j], x[0][i], y[0][j], sum[i][j]);
        }
      }
    }
    __syncthreads();
  }

  float* const staging = as + warp * STEP * STEP;
  static_assert(sizeof(as) >= sizeof(float) * STEP * STEP * THREADS / LANES);
#pragma unroll
  for (int f = 0; f < F * F; ++f) {
    const int row = tile_row + warp_row + f / F * STEP, col = tile_col + warp_col + f % F * STEP;
    // Two fragments of a kind have the same element in the same place.
    if (form == Form::corrected)
      for (int i = 0; i < Sum::num_elements; ++i) sum[f / F][f % F].x[i] += correction[f / F][f % F].x[i] / SCALE;
    store_tile(c, ldc, row, col, m, n, aligned_c, alpha, sum[f / F][f % F], beta, staging);
  }
}

// As in 02.
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

template <Form form, int ROWS, int COLS, int FROM_ROW, int TO_ROW>
__device__ void split_tile(__half* h, __half* d, const float* from) {
#pragma unroll
  for (int i = threadIdx.x % LANES; i < ROWS * COLS; i += LANES) {
    const int row = i / COLS, col = i % COLS, to = row * TO_ROW + col;
    const float v = from[row * FROM_ROW + col], rest = v - __half2float(__float2half(v));  // exact
    h[to] = __float2half(v);
    if (form != Form::uncorrected) d[to] = __float2half(form == Form::corrected ? rest * SCALE : rest);
  }
}

// As in 02.
template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

template <Form form>
gemm::Status launch(const gemm::SgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, WARPS_M * N), blocks_n = gemm::ceil_div(p.n, WARPS_N * N);
  const unsigned blocks = static_cast<unsigned>(blocks_m) * blocks_n;
  const auto kernel = sgemm<form>;
  return gemm::launch(kernel, {.grid = blocks, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(), p.alpha, p.a,
                      p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n, is_aligned(p.a, p.lda, 16),
                      is_aligned(p.b, p.ldb, 16), is_aligned(p.c, p.ldc, 32));
}

constexpr gemm::Variant variants[] = {
    {"markidis", "the rest of a number unscaled, four products in one sum (Markidis et al.)", launch<Form::markidis>,
     nullptr, gemm::Accuracy::tf32, gemm::Emulation{.fp16_products = 4, .fp16_range = true}},
    {"uncorrected", "numbers rounded to FP16", launch<Form::uncorrected>, nullptr, gemm::Accuracy::tf32,
     gemm::Emulation{.fp16_products = 1, .fp16_range = true}},
};
constexpr gemm::StageInfo info = {
    .idea = "FP32 from three FP16 products, numbers split in shared memory, sums in Tensor Cores",
    .base = "02",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .min_compute_capability = 75,
    .launch = launch<Form::corrected>,
    .emulation = {.fp16_products = 3, .fp16_range = true},
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
