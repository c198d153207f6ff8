// 01 wmma: a warp computes a 16 x 16 tile of C on the Tensor Cores and loads its fragments straight from global memory.
// A and B are FP16, C is FP32.
//
// Idea      Tensor Cores multiply small matrices: 16 x 16 x 16 in one call by all 32 lanes. The lanes hold the three
//           tiles in their registers, as fragments. CUDA does not say which lane holds which element, but its load and
//           store functions know.
// Limit     The L1 cache. Per 16 steps of k a warp loads 1 KB in eight loads and executes 8,192 flops. A load reads
//           four words of each of eight rows. If rows are a multiple of 128 bytes apart, all eight lie in the same
//           banks: 64 wavefronts, so 128 flops per cycle and SM, of 4,096 that sm_90's Tensor Cores can do: 3 %.
// Number    l1tex__data_pipe_lsu_wavefronts per 8,192 flops: 64 at 1024, 8 where rows lie in different banks.
// Map       block of 4 warps, two by two: 32 x 32 of C. Stage 04 shows how a fragment's elements lie in its
//           lanes.
// Page      docs/tensorcore/01_wmma.md
// Source    CUDA C++ Programming Guide, "Warp Matrix Functions"; Ootomo and Yokota (2023), section 2.
#include <mma.h>

#include "common/stage.cuh"

namespace {

namespace wmma = nvcuda::wmma;

constexpr int TILE = 16;                 // rows, columns and steps of k of a fragment
constexpr int WARPS_M = 2, WARPS_N = 2;  // of a block
constexpr int WARPS = WARPS_M * WARPS_N, LANES = 32;
constexpr int PAIR = 32;  // bytes that must divide a fragment's address
static_assert(TILE * TILE % LANES == 0, "lanes share a tile's elements evenly");

// A tile's elements that exist, zeros for the others, to shared memory: the way for edges and odd addresses.
__device__ void copy_tile(__half* to, const __half* from, std::int64_t ld, int rows, int cols);

// aligned: fragments of A and B can be loaded from where they are, if they are whole; aligned_c: the same of C.
__global__ void __launch_bounds__(WARPS* LANES)
    hgemm(int m, int n, int k, float alpha, const __half* __restrict__ a, std::int64_t lda,
          const __half* __restrict__ b, std::int64_t ldb, float beta, float* __restrict__ c, std::int64_t ldc,
          int blocks_n, bool aligned, bool aligned_c) {
  __shared__ __align__(32) __half operands[WARPS][2][TILE * TILE];
  __shared__ __align__(32) float results[WARPS][TILE * TILE];
  const int warp = threadIdx.x / LANES;
  const int row = (blockIdx.x / blocks_n * WARPS_M + warp / WARPS_N) * TILE;
  const int col = (blockIdx.x % blocks_n * WARPS_N + warp % WARPS_N) * TILE;
  if (row >= m || col >= n) return;  // the whole warp

  wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < k; k0 += TILE) {
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major> y;
    const __half *from_a = a + row * lda + k0, *from_b = b + k0 * ldb + col;
    if (aligned && row + TILE <= m && col + TILE <= n && k0 + TILE <= k) {
      wmma::load_matrix_sync(x, from_a, static_cast<unsigned>(lda));
      wmma::load_matrix_sync(y, from_b, static_cast<unsigned>(ldb));
    } else {
      copy_tile(operands[warp][0], from_a, lda, m - row, k - k0);
      copy_tile(operands[warp][1], from_b, ldb, k - k0, n - col);
      wmma::load_matrix_sync(x, operands[warp][0], TILE);
      wmma::load_matrix_sync(y, operands[warp][1], TILE);
    }
    wmma::mma_sync(sum, x, y, sum);
  }

  float* const out = c + row * ldc + col;
  if (aligned_c && row + TILE <= m && col + TILE <= n) {
    // Two fragments of a kind have the same element in the same place, so C need not be told apart.
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> old;
    wmma::fill_fragment(old, 0.0f);
    if (beta != 0.0f) wmma::load_matrix_sync(old, out, static_cast<unsigned>(ldc), wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
    wmma::store_matrix_sync(out, sum, static_cast<unsigned>(ldc), wmma::mem_row_major);
    return;
  }
  wmma::store_matrix_sync(results[warp], sum, TILE, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x % LANES; i < TILE * TILE; i += LANES) {
    if (row + i / TILE >= m || col + i % TILE >= n) continue;
    float* const element = out + i / TILE * ldc + i % TILE;
    *element = beta == 0.0f ? alpha * results[warp][i] : alpha * results[warp][i] + beta * *element;
  }
}

__device__ void copy_tile(__half* to, const __half* from, std::int64_t ld, int rows, int cols) {
  __syncwarp();  // nobody reads the last one any more
  for (int i = threadIdx.x % LANES; i < TILE * TILE; i += LANES) {
    const int row = i / TILE, col = i % TILE;
    if (row < rows && col < cols)
      to[i] = from[row * ld + col];
    else
      to[i] = __float2half(0.0f);
  }
  __syncwarp();
}

// A leading dimension must be a multiple of 16 bytes, and each fragment's address one of 32: 16 rows keep it so.
bool is_aligned(const void* p, std::int64_t ld, std::int64_t in_16_bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % PAIR == 0 && ld % in_16_bytes == 0;
}

gemm::Status launch(const gemm::HgemmProblem& p, cudaStream_t stream) {
  const int blocks_m = gemm::ceil_div(p.m, WARPS_M * TILE), blocks_n = gemm::ceil_div(p.n, WARPS_N * TILE);
  return gemm::launch(hgemm,
                      {.grid = static_cast<unsigned>(blocks_m) * blocks_n, .block = WARPS * LANES, .stream = stream},
                      p.m, p.n, p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, blocks_n,
                      is_aligned(p.a, p.lda, 8) && is_aligned(p.b, p.ldb, 8), is_aligned(p.c, p.ldc, 4));
}

constexpr gemm::StageInfo info = {
    .idea = "Tensor Cores: a warp and a 16 x 16 tile, fragments straight from global memory",
    .accuracy = gemm::Accuracy::tensor_fp32,
    .launch = launch,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
