// 01 wmma: a warp computes a 16 x 16 tile of C on the Tensor Cores and loads its fragments straight from global memory.
// A and B are FP16, C is FP32.
//
// Idea      Tensor Cores multiply small matrices: 16 x 16 x 16 in one call by all 32 lanes. The lanes hold the three
//           tiles in their registers, as fragments. CUDA does not say which lane holds which element, but its load and
//           store functions know.
// Limit     The L1 cache. Per 16 steps of k a warp loads 1 KB in eight loads and executes 8,192 flops. A load reads
//           four words of each of eight rows. If rows are a multiple of 128 bytes apart, all eight lie in the same
//           banks: 64 wavefronts. That is 128 flops per cycle and SM, of 4,096 that sm_90's Tensor Cores can do: 3 %.
// Number    l1tex__data_pipe_lsu_wavefronts per 8,192 flops: 64 at 1024, 8 where rows lie in different banks.
// Map       block of 4 warps, two by two: 32 x 32 of C. Stage 04 shows how a fragment's elements lie in its
//           lanes.
// Page      docs/tensorcore/01_wmma.md
// Source    CUDA C++ Programming Guide, "Warp Matrix Functions"; Ootomo and Yokota (2023), section 2.
#include <mma.h>

#include "common/stage.cuh"

namespace {

namespace wmma = nvcuda::wmma;
constexpr int STEP = 16, LANES = 32;  // rows, columns and steps of k of a fragment; lanes of a warp
constexpr int WARPS_M = 2, WARPS_N = 2, THREADS = WARPS_M * WARPS_N * LANES;  // of a block
using Sum = wmma::fragment<wmma::accumulator, STEP, STEP, STEP, float>;
static_assert(STEP * STEP % LANES == 0, "lanes share a tile's elements evenly");

// A tile's elements that exist, zeros for the others, to shared memory: the way for edges and odd addresses.
__device__ void copy_tile(__half* to, const __half* from, std::int64_t ld, int rows, int cols);
// A tile's elements of C that exist, from the warp's sums. aligned: it can be stored to where it is, if it is whole.
__device__ void store_tile(float* c, std::int64_t ldc, int row, int col, int m, int n, bool aligned, float alpha,
                           Sum& sum, float beta, float* staging);

// aligned: fragments of A and B can be loaded from where they are, if they are whole; aligned_c: the same of C.
__global__ void __launch_bounds__(THREADS)
    hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a, std::int64_t lda,
          const __half* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
          int blocks_n, bool aligned, bool aligned_c) {
  __shared__ __align__(32) __half operands[WARPS_M * WARPS_N][2][STEP * STEP];
  __shared__ __align__(32) float results[WARPS_M * WARPS_N][STEP * STEP];
  const int warp = threadIdx.x / LANES;
  const int row = (blockIdx.x / blocks_n * WARPS_M + warp / WARPS_N) * STEP;
  const int col = (blockIdx.x % blocks_n * WARPS_N + warp % WARPS_N) * STEP;
  if (row >= m || col >= n) return;  // the whole warp

  Sum sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < k; k0 += STEP) {
    wmma::fragment<wmma::matrix_a, STEP, STEP, STEP, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, STEP, STEP, STEP, __half, wmma::row_major> y;
    const __half *from_a = a + row * lda + k0, *from_b = b + k0 * ldb + col;
    if (aligned && row + STEP <= m && col + STEP <= n && k0 + STEP <= k) {
      wmma::load_matrix_sync(x, from_a, static_cast<unsigned>(lda));
      wmma::load_matrix_sync(y, from_b, static_cast<unsigned>(ldb));
    } else {
      copy_tile(operands[warp][0], from_a, lda, m - row, k - k0);
      copy_tile(operands[warp][1], from_b, ldb, k - k0, n - col);
      wmma::load_matrix_sync(x, operands[warp][0], STEP);
      wmma::load_matrix_sync(y, operands[warp][1], STEP);
    }
    wmma::mma_sync(sum, x, y, sum);
  }
  store_tile(c, ldc, row, col, m, n, aligned_c, alpha, sum, beta, results[warp]);
}

__device__ void copy_tile(__half* to, const __half* from, std::int64_t ld, int rows, int cols) {
  __syncwarp();  // nobody reads the last one any more
  for (int i = threadIdx.x % LANES; i < STEP * STEP; i += LANES) {
    const int row = i / STEP, col = i % STEP;
    if (row < rows && col < cols)
      to[i] = from[row * ld + col];
    else
      to[i] = __float2half(0.0f);
  }
  __syncwarp();
}

__device__ void store_tile(float* c, std::int64_t ldc, int row, int col, int m, int n, bool aligned, float alpha,
                           Sum& sum, float beta, float* staging) {
  float* const out = c + row * ldc + col;
  if (aligned && row + STEP <= m && col + STEP <= n) {
    // Two fragments of a kind have the same element in the same place, so C need not be told apart.
    Sum old;
    wmma::fill_fragment(old, 0.0f);
    if (beta != 0.0f) wmma::load_matrix_sync(old, out, static_cast<unsigned>(ldc), wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
    wmma::store_matrix_sync(out, sum, static_cast<unsigned>(ldc), wmma::mem_row_major);
    return;
  }
  wmma::store_matrix_sync(staging, sum, STEP, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x % LANES; i < STEP * STEP; i += LANES) {
    if (row + i / STEP >= m || col + i % STEP >= n) continue;
    float* const element = out + i / STEP * ldc + i % STEP;
    *element = beta == 0.0f ? alpha * staging[i] : alpha * staging[i] + beta * *element;
  }
  __syncwarp();  // the staging tile may be overwritten
}

// A fragment is loaded and stored at an address that 32 bytes divide, its rows a multiple of 16 bytes apart.
template <class T>
bool is_aligned(const T* p, std::int64_t ld, unsigned bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0 && ld * sizeof(T) % 16 == 0;
}

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, WARPS_M * STEP), blocks_n = gemm::ceil_div(p.n, WARPS_N * STEP);
  return gemm::launch(hgemm, {.grid = static_cast<unsigned>(blocks_m) * blocks_n, .block = THREADS, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n,
                      is_aligned(p.a, p.lda, 32) && is_aligned(p.b, p.ldb, 32), is_aligned(p.c, p.ldc, 32));
}

constexpr gemm::StageInfo info = {
    .idea = "Tensor Cores: a warp and a 16 x 16 tile, fragments straight from global memory",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
