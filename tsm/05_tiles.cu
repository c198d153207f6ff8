// 05 tiles: the launch chooses a kernel by the shape of C: its tile, and whether it needs guards.
//
// Idea      A large tile needs few loads, a small one leaves registers for many threads. Which one has enough bytes in
//           flight depends on M and N, and so does whether a tile is cut off. Both are known at the launch.
// Base      04b_square_tiles
// Change    Four sizes of tile, and the rule: the smallest with enough bytes in flight. A row or column is guarded only
//           if M or N is no multiple of the tile's. Bool template parameters say so, and the other kernels have no
//           predicates.
// Limit     Latency, for wide C: all threads of a slice wait for the same row, and a wider C has more of them.
// Number    Bytes in flight per SM, against 540 ns * 4.5 TB/s / 132 SMs = 18 KB; wavefronts per FMA.
// Map       Thread t of a block has slice t / threads of K and tile t % threads, in rows of tiles. Tile (i, j) has rows
//           TM i .. TM i + TM - 1 of C and columns TN j .. TN j + TN - 1.
// Page      docs/tsm/05_tiles.md
// Source    Ernst et al. (2020), section 3: guards where a tile is cut off; section 5.2: tile sizes.
#include <algorithm>

#include "common/kernel/accumulate.cuh"
#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/tiles.hpp"

namespace {

using gemm::tiles::Cut, gemm::tiles::THREADS, gemm::tiles::Tile, gemm::tiles::WIDEST;

// Blocks per SM that the registers allow: sums, the words of a row, and 32 more. The registers that ptxas needs allow
// at least as many. The paper counts 16 more, but its M, N and strides are constants.
template <class T>
constexpr int blocks(int tm, int tn) {
  const int registers = static_cast<int>(sizeof(T) / 4) * (tm * tn + tm + tn) + 32;
  return std::min(65536 / (registers * THREADS), 16);
}

template <class T, int TM, int TN, bool GUARD_M, bool GUARD_N>
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
    for (int j = 0; j < TM; ++j) x[j] = !GUARD_M || j < rows ? gemm::conjugate_if(conjugate, a_row[j]) : T{};
#pragma unroll
    for (int j = 0; j < TN; ++j) y[j] = !GUARD_N || j < cols ? b_row[j] : T{};
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
  const bool guard_m = p.m % TM != 0, guard_n = p.n % TN != 0;  // tiles of 1 never need it: one kernel, not four
  const auto kernel = guard_m   ? guard_n ? tsmttsm<T, TM, TN, TM != 1, TN != 1> : tsmttsm<T, TM, TN, TM != 1, false>
                        : guard_n ? tsmttsm<T, TM, TN, false, TN != 1>
                                : tsmttsm<T, TM, TN, false, false>;
  return gemm::launch(kernel, {.grid = chunks * cut.groups, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(),
                      p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate, cut.threads, cut.groups);
}

template <class T>
constexpr Tile<T> tiles[] = {{1, 1, blocks<T>(1, 1), launch_tile<T, 1, 1>},
                             {2, 2, blocks<T>(2, 2), launch_tile<T, 2, 2>},
                             {4, 4, blocks<T>(4, 4), launch_tile<T, 4, 4>},
                             {8, WIDEST<T>, blocks<T>(8, WIDEST<T>), launch_tile<T, 8, WIDEST<T>>}};

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return gemm::tiles::choose(tiles<T>, p.m, p.n).launch(p, stream);
}

constexpr gemm::Variant variants[] = {
    {"1x1", "an element a thread", {tiles<double>[0].launch, tiles<double2>[0].launch}},
    {"2x2", "tiles of 2 x 2", {tiles<double>[1].launch, tiles<double2>[1].launch}},
    {"4x4", "tiles of 4 x 4", {tiles<double>[2].launch, tiles<double2>[2].launch}},
    {"8x8", "tiles of 8 x 8, complex 8 x 4", {tiles<double>[3].launch, tiles<double2>[3].launch}},
};
constexpr gemm::StageInfo info = {
    .idea = "square tiles chosen by shape, guards only where they are needed",
    .base = "04b",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const Cut cut = gemm::tiles::choose(tiles<double>, m, n).cut(m, n, sms);
          return static_cast<double>(k) / (cut.places * cut.slices);
        },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
