// 03 K only: a thread keeps a whole tile of C in registers. Only K is partitioned among the threads.
//
// Idea      A word in a register serves a whole row or column of the tile: W words of A and W of B give W * W FMAs.
// Base      02_split_k
// Change    The sums of a thread are a W x W tile, and each thread of a block is a slice. The block adds its threads'
//           sums in shared memory first, so it adds to each element of C once.
// Limit     Registers. W * W sums take 2 W * W of them in double, 4 W * W complex, of 255 that a thread can have.
// Number    Registers and spills (-Xptxas -v); loads per FMA, 2 / W instead of 2, but more wavefronts per load.
// Map       Thread t of a block has slice t: rows chunk * THREADS + t + i * stride of K. C wider than the widest tile
//           is covered tile by tile, by different blocks: blockIdx.x selects the tile, and A is read once for each
//           column of tiles.
// Page      docs/tsm/03_k_only.md
// Source    Ernst et al. (2020), section 3, "parallelization over K only".
#include <algorithm>

#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/cut.hpp"

namespace {

using gemm::tiles::Cut;
constexpr int THREADS = 128;

// Blocks per SM that the registers allow, by the paper's estimate: sums, the words of a row, and 16 more. The registers
// that ptxas needs allow at least as many.
template <class T>
constexpr int blocks(int width) {
  const int registers = static_cast<int>(sizeof(T) / 4) * (width * width + 2 * width) + 16;
  return std::min(65536 / (std::min(registers, 255) * THREADS), 16);
}

template <class T>
__global__ void scale(int m, int n, T beta, T* c, std::int64_t ldc) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= m * n) return;
  T* const out = c + element / n * ldc + element % n;
  *out = gemm::scaled(T{}, T{}, beta, out);
}

__device__ void add_to(double* out, double x) {
  atomicAdd(out, x);
}
__device__ void add_to(double2* out, double2 x) {
  atomicAdd(&out->x, x.x);
  atomicAdd(&out->y, x.y);
}

template <class T, int W>
__global__ void __launch_bounds__(THREADS)
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, bool conjugate) {
  const int tiles_n = gemm::ceil_div(n, W), tiles = gemm::ceil_div(m, W) * tiles_n;
  const int tile = blockIdx.x % tiles, chunk = blockIdx.x / tiles;
  const int slice = threadIdx.x, slices = THREADS, row = tile / tiles_n * W, col = tile % tiles_n * W;
  const int rows = min(m - row, W), cols = min(n - col, W);

  __shared__ T parts[W][THREADS];
  T sum[W][W] = {};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x / tiles) * slices;
  const std::int64_t first = static_cast<std::int64_t>(chunk) * slices + slice;
  const T *a_row = a + first * lda + row, *b_row = b + first * ldb + col;
#pragma unroll 1
  for (std::int64_t i = first; i < k; i += stride, a_row += stride * lda, b_row += stride * ldb) {
    T x[W], y[W];
#pragma unroll
    for (int j = 0; j < W; ++j) x[j] = j < rows ? gemm::conjugate_if(conjugate, a_row[j]) : T{};
#pragma unroll
    for (int j = 0; j < W; ++j) y[j] = j < cols ? b_row[j] : T{};
#pragma unroll
    for (int e = 0; e < W * W; ++e) sum[e / W][e % W] = gemm::multiply_add(x[e / W], y[e % W], sum[e / W][e % W]);
  }

  // Row after row of the tile. Registers cannot be indexed at run time, so the rows move up, and each becomes the first
  // one.
#pragma unroll 1
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int s = 0; s < W; ++s) parts[s][slice] = sum[0][s];
#pragma unroll
    for (int e = W; e < W * W; ++e) sum[e / W - 1][e % W] = sum[e / W][e % W];
#pragma unroll 1
    for (int half = THREADS / 2; half > 0; half /= 2) {
      __syncthreads();
      if (slice >= half) continue;
#pragma unroll
      for (int s = 0; s < W; ++s) parts[s][slice] = gemm::add(parts[s][slice], parts[s][slice + half]);
    }
    if (slice == 0) {
#pragma unroll 1
      for (int s = 0; s < cols; ++s) add_to(c + (row + r) * ldc + col + s, gemm::multiply_add(alpha, parts[s][0], T{}));
    }
    __syncthreads();  // no thread reads the parts any more
  }
}

// The narrowest of SIZES that needs no more tiles than another.
template <int... SIZES>
constexpr int tile_for(int size) {
  return std::min({SIZES...}, [=](int a, int b) { return gemm::ceil_div(size, a) < gemm::ceil_div(size, b); });
}

// With tiles of W x W, if no size in WIDER is better.
template <class T, int W, int... WIDER>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if constexpr (sizeof...(WIDER) > 0)
    if (tile_for<W, WIDER...>(std::max(p.m, p.n)) != W) return launch<T, WIDER...>(p, stream);
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const auto grid = static_cast<unsigned>(gemm::ceil_div(p.m * p.n, THREADS));
  const gemm::Status scaled =
      gemm::launch(scale<T>, {.grid = grid, .block = THREADS, .stream = stream}, p.m, p.n, p.beta, p.c, p.ldc);
  if (!scaled) return scaled;
  const int sms = gemm::device_limits().multiprocessors;
  const Cut cut(gemm::ceil_div(p.m, W) * gemm::ceil_div(p.n, W), blocks<T>(W), sms, THREADS, 1);
  const auto chunks = static_cast<unsigned>(cut.chunks(p.depth()));
  return gemm::launch(tsmttsm<T, W>, {.grid = chunks * cut.groups, .block = THREADS, .stream = stream}, p.m, p.n,
                      p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate);
}

constexpr gemm::StageInfo info = {
    .idea = "a whole tile of C in each thread's registers, only K partitioned among threads",
    .base = "02",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double, 2, 4, 8, 10>, launch<double2, 2, 4, 7>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const int w = tile_for<2, 4, 8, 10>(std::max({m, n, 1}));
          const Cut cut(gemm::ceil_div(m, w) * gemm::ceil_div(n, w), blocks<double>(w), sms, THREADS, 1);
          return static_cast<double>(k) / (cut.places * cut.slices);
        },
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
