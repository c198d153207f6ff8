// 04b square tiles: a thread has a square of C. Its words of a row serve a whole row or column of the square.
//
// Idea      S + S words serve S * S FMAs, and a column of as many sums needs S * S + 1 words. So few words fit beside
//           the sums in registers, and all loads of a row of K can be in flight at the same time.
// Base      04_k_and_n
// Change    Tiles are TM x TN, not TM x 1: two more loops, and a slice is one thread per tile. The launch takes equal
//           TM and TN, by 04's rule. The launch bounds name the blocks per SM, or nvcc would save registers again.
// Limit     Latency, once per row of K and no longer several times. All threads of a slice wait for the same row.
// Number    Loads per FMA, 2 / S instead of 1 + 1 / M; loads before the first FMA of a row: all 2 S.
// Map       Thread t of a block has slice t / threads of K and tile t % threads, in rows of tiles. Tile (i, j) has rows
//           TM i .. TM i + TM - 1 of C and columns TN j .. TN j + TN - 1.
// Page      docs/tsm/04b_square_tiles.md
// Source    Ernst et al. (2020), section 3: tiling of the two inner loops.
#include <algorithm>

#include "common/kernel/accumulate.cuh"
#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/cut.hpp"

namespace {

using gemm::tiles::Cut;
constexpr int THREADS = 128;

// Blocks per SM that the registers allow: sums, the words of a row, and 32 more. The registers that ptxas needs allow
// at least as many. The paper counts 16 more, but its M, N and strides are constants.
template <class T>
constexpr int blocks(int tm, int tn) {
  const int registers = static_cast<int>(sizeof(T) / 4) * (tm * tn + tm + tn) + 32;
  return std::min(65536 / (registers * THREADS), 16);
}

template <class T, int TM, int TN>
__global__ void __launch_bounds__(THREADS, std::min(blocks<T>(TM, TN), 8))
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, bool conjugate, int threads, int groups) {
  __shared__ T parts[TN][THREADS];
  const int group = blockIdx.x % groups, chunk = blockIdx.x / groups, thread = threadIdx.x;
  const int slice = thread / threads, slices = THREADS / threads;
  const int tile = group * threads + thread % threads, tiles_n = gemm::ceil_div(n, TN);
  const int row = tile / tiles_n * TM, col = tile % tiles_n * TN;
  const bool works = slice < slices && row < m;  // the others only wait at barriers
  const int rows = min(m - row, TM), cols = min(n - col, TN);

  T sum[TM][TN] = {};
  const std::int64_t first = static_cast<std::int64_t>(chunk) * slices + slice;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x / groups) * slices;
  const T *a_row = a + first * lda + row, *b_row = b + first * ldb + col;
#pragma unroll 1
  for (std::int64_t i = works ? first : k; i < k; i += stride, a_row += stride * lda, b_row += stride * ldb) {
    T x[TM], y[TN];
#pragma unroll
    for (int j = 0; j < TM; ++j) x[j] = TM == 1 || j < rows ? gemm::conjugate_if(conjugate, a_row[j]) : T{};
#pragma unroll
    for (int j = 0; j < TN; ++j) y[j] = TN == 1 || j < cols ? b_row[j] : T{};  // tiles of 1 are never cut off
#pragma unroll
    for (int r = 0; r < TM; ++r) {
#pragma unroll
      for (int s = 0; s < TN; ++s) sum[r][s] = gemm::multiply_add(x[r], y[s], sum[r][s]);
    }
  }

  // Row after row of the tile. Registers cannot be indexed at run time, so the rows move up, and each becomes the first
  // one.
#pragma unroll 1
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; ++s) {
      parts[s][thread] = sum[0][s];
#pragma unroll
      for (int j = 1; j < TM; ++j) sum[j - 1][s] = sum[j][s];
    }
#pragma unroll 1
    for (int rest = slices; rest > 1; rest = (rest + 1) / 2) {
      const int half = (rest + 1) / 2;
      __syncthreads();
      if (slice + half >= rest) continue;
#pragma unroll
      for (int s = 0; s < TN; ++s) parts[s][thread] = gemm::add(parts[s][thread], parts[s][thread + half * threads]);
    }
    if (works && slice == 0 && r < rows) {
#pragma unroll 1
      for (int s = 0; s < cols; ++s)
        gemm::add_to(c + (row + r) * ldc + col + s, gemm::multiply_add(alpha, parts[s][thread], T{}));
    }
    __syncthreads();  // no thread reads the parts any more
  }
}

template <class T, int TM, int TN>
gemm::Status launch_tile(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const gemm::Status scaled = gemm::launch_scale(p.m, p.n, p.beta, p.c, p.ldc, stream);
  if (!scaled) return scaled;
  const int sms = gemm::device_limits().multiprocessors;
  const Cut cut(gemm::ceil_div(p.m, TM) * gemm::ceil_div(p.n, TN), blocks<T>(TM, TN), sms, THREADS);
  const auto chunks = static_cast<unsigned>(cut.chunks(p.depth()));
  const auto kernel = tsmttsm<T, TM, TN>;
  return gemm::launch(kernel, {.grid = chunks * cut.groups, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(),
                      p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate, cut.threads, cut.groups);
}

constexpr gemm::Variant variants[] = {
    {"1x1", "an element a thread", {launch_tile<double, 1, 1>, launch_tile<double2, 1, 1>}},
    {"2x2", "tiles of 2 x 2", {launch_tile<double, 2, 2>, launch_tile<double2, 2, 2>}},
    {"4x4", "tiles of 4 x 4, complex as the stage", {launch_tile<double, 4, 4>, launch_tile<double2, 4, 4>}},
};
constexpr gemm::StageInfo info = {
    .idea = "a square of C in each thread's registers: all words of a row in flight at once",
    .base = "04",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch_tile<double, 8, 8>, launch_tile<double2, 4, 4>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const Cut cut(gemm::ceil_div(m, 8) * gemm::ceil_div(n, 8), blocks<double>(8, 8), sms, THREADS);
          return static_cast<double>(k) / (cut.places * cut.slices);
        },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
