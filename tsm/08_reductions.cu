// 08 reductions: the blocks' partial sums are added in a fixed order, so that C has the same bits in each run.
//
// Idea      Floating-point sums depend on their order, and atomic additions come in any order. Here each block stores
//           its part of C, and a second kernel adds the parts, always in the same order. It also scales C.
// Base      07_leap_frog
// Change    `reduction`, with three atomic ways as variants; finish(). A slice has at least ROWS rows: a short K gets
//           fewer blocks, and so fewer parts to add.
// Limit     As 07 for long K. For short K the launches and a few waits for the memory, one after the other.
// Number    ms against K; the same checksum twice.
// Map       As 06. In finish() ELEMENTS threads have neighbours in C, THREADS / ELEMENTS slices the parts.
// Page      docs/tsm/08_reductions.md
// Source    Ernst et al. (2020), section 3.2: the atomic ways, fewer threads for short K. Tree and fixed order are ours.
#include <algorithm>

#include "common/kernel/accumulate.cuh"
#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/parts.hpp"
#include "tsm/tiles.hpp"

namespace {

using gemm::tiles::blocks, gemm::tiles::Cut, gemm::tiles::THREADS, gemm::tiles::Tile, gemm::tiles::WIDEST;
// ordered: a second kernel adds up the blocks' parts. The others add to C atomically; `variants` says how.
enum class Reduction { ordered, block_atomics, shared_atomics, global_atomics };

// `out` is C, or for ordered additions an m x n matrix for each chunk of K.
template <class T, int TM, int TN, bool GUARD_M, bool GUARD_N>
__global__ void __launch_bounds__(THREADS, std::min(blocks<T>(TM, TN), 8))
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ out, std::int64_t ldo, bool conjugate, int threads, int groups,
            Reduction reduction) {
  __shared__ T parts[TN][THREADS];
  const int group = blockIdx.x % groups, chunk = blockIdx.x / groups, thread = threadIdx.x;
  const int slice = thread / threads, slices = THREADS / threads;
  const int tile = group * threads + thread % threads, tiles_m = gemm::ceil_div(m, TM), tiles_n = gemm::ceil_div(n, TN);
  const int row = tile / tiles_n, col = tile % tiles_n;
  const bool works = slice < slices && row < tiles_m;  // the others only wait at barriers

  T sum[TM][TN] = {};
  const std::int64_t first = static_cast<std::int64_t>(chunk) * slices + slice;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x / groups) * slices;
  const T *a_row = a + first * lda + row, *b_row = b + first * ldb + col;
  const auto load = [&](T(&x)[TM], T(&y)[TN]) {
#pragma unroll
    for (int j = 0; j < TM; ++j) x[j] = !GUARD_M || row + j * tiles_m < m ? a_row[j * tiles_m] : T{};
#pragma unroll
    for (int j = 0; j < TN; ++j) y[j] = !GUARD_N || col + j * tiles_n < n ? b_row[j * tiles_n] : T{};
  };
  if (works && first < k) {
    T x[TM], y[TN], next_x[TM], next_y[TN];
    load(x, y);
#pragma unroll
    for (int j = 0; j < TM; ++j) x[j] = gemm::conjugate_if(conjugate, x[j]);
#pragma unroll 1
    for (std::int64_t i = first; i < k; i += stride) {
      if (i + stride < k) {
        a_row += stride * lda;
        b_row += stride * ldb;
      }
      load(next_x, next_y);
      asm volatile("" ::: "memory");  // as in 07
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) sum[r][s] = gemm::multiply_add(x[r], y[s], sum[r][s]);
      }
#pragma unroll
      for (int j = 0; j < TM; ++j) x[j] = gemm::conjugate_if(conjugate, next_x[j]);
#pragma unroll
      for (int j = 0; j < TN; ++j) y[j] = next_y[j];
    }
  }

  // Row after row of the tile. Registers have no index at run time, so the rows move up, and each becomes the first.
#pragma unroll 1
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; ++s) {
      parts[s][thread] = sum[0][s];
#pragma unroll
      for (int j = 1; j < TM; ++j) sum[j - 1][s] = sum[j][s];
    }
    if (reduction == Reduction::shared_atomics) {
      __syncthreads();
#pragma unroll 1
      for (int s = 0; s < TN && 0 < slice && slice < slices; ++s)
        gemm::add_to(&parts[s][thread % threads], parts[s][thread]);
      __syncthreads();
    }
    const bool tree = reduction == Reduction::ordered || reduction == Reduction::block_atomics;
#pragma unroll 1
    for (int rest = tree ? slices : 1; rest > 1; rest = (rest + 1) / 2) {
      const int half = (rest + 1) / 2;
      __syncthreads();
      if (slice + half >= rest) continue;
#pragma unroll
      for (int s = 0; s < TN; ++s) parts[s][thread] = gemm::add(parts[s][thread], parts[s][thread + half * threads]);
    }
    if (works && (slice == 0 || reduction == Reduction::global_atomics) && row + r * tiles_m < m) {
      const bool ordered = reduction == Reduction::ordered;
      T* const to = out + (ordered ? static_cast<std::int64_t>(chunk) * m * n : 0) + (row + r * tiles_m) * ldo;
#pragma unroll 1
      for (int s = 0; s < TN && col + s * tiles_n < n; ++s) {
        T* const element = to + col + s * tiles_n;
        if (ordered)
          *element = parts[s][thread];
        else
          gemm::add_to(element, gemm::multiply_add(alpha, parts[s][thread], T{}));
      }
    }
    __syncthreads();  // no thread reads the parts any more
  }
}

// C = alpha * (the sum of all parts) + beta * C. A slice of the parts is `elements` threads.
template <class T>
__global__ void __launch_bounds__(THREADS) finish(int m, int n, T alpha, const T* __restrict__ parts, int chunks,
                                                  T beta, T* __restrict__ c, std::int64_t ldc, int elements) {
  __shared__ T sums[THREADS];
  const int thread = threadIdx.x, slice = thread / elements, slices = THREADS / elements;
  const int element = blockIdx.x * elements + thread % elements;
  const bool works = slice < slices && element < m * n;

  T sum{};
  for (int i = works ? slice : chunks; i < chunks; i += slices)
    sum = gemm::add(sum, parts[static_cast<std::int64_t>(i) * m * n + element]);
  sums[thread] = sum;
#pragma unroll 1
  for (int rest = slices; rest > 1; rest = (rest + 1) / 2) {
    const int half = (rest + 1) / 2;
    __syncthreads();
    if (slice + half < rest) sums[thread] = gemm::add(sums[thread], sums[thread + half * elements]);
  }
  if (!works || slice > 0) return;
  T* const out = c + element / n * ldc + element % n;
  *out = gemm::scaled(alpha, sums[thread], beta, out);
}

constexpr int ROWS = 4;      // of K, the fewest for a slice
constexpr int ELEMENTS = 8;  // of C, the most for a block that adds up parts: of double 64 bytes, two sectors

template <class T, int TM, int TN>
gemm::Status launch_tile(const gemm::TsmttsmProblem<T>& p, Reduction reduction, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const int sms = gemm::device_limits().multiprocessors;
  const Cut cut(gemm::ceil_div(p.m, TM) * gemm::ceil_div(p.n, TN), blocks<T>(TM, TN), sms, THREADS);
  const int chunks = cut.chunks(p.depth(), ROWS), elements = std::min(p.m * p.n, ELEMENTS);
  const gemm::LaunchShape shape{
      .grid = static_cast<unsigned>(gemm::ceil_div(p.m * p.n, elements)), .block = THREADS, .stream = stream};
  const auto parts = static_cast<T*>(p.workspace);
  const bool ordered = reduction == Reduction::ordered;
  if (!ordered) {  // beta * C, and no parts
    const gemm::Status scaled = gemm::launch(finish<T>, shape, p.m, p.n, T{}, parts, 0, p.beta, p.c, p.ldc, elements);
    if (!scaled) return scaled;
  }
  const bool guard_m = p.m % TM != 0, guard_n = p.n % TN != 0;  // tiles of 1 never need it: one kernel, not four
  const auto kernel = guard_m   ? guard_n ? tsmttsm<T, TM, TN, TM != 1, TN != 1> : tsmttsm<T, TM, TN, TM != 1, false>
                        : guard_n ? tsmttsm<T, TM, TN, false, TN != 1>
                                : tsmttsm<T, TM, TN, false, false>;
  const auto grid = static_cast<unsigned>(chunks * cut.groups);
  const gemm::Status done = gemm::launch(kernel, {.grid = grid, .block = THREADS, .stream = stream}, p.m, p.n,
                                         p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, ordered ? parts : p.c,
                                         ordered ? p.n : p.ldc, p.conjugate, cut.threads, cut.groups, reduction);
  if (!done || !ordered) return done;
  return gemm::launch(finish<T>, shape, p.m, p.n, p.alpha, parts, chunks, p.beta, p.c, p.ldc, elements);
}

template <class T>
constexpr Tile<T, Reduction> tiles[] = {{1, 1, blocks<T>(1, 1), launch_tile<T, 1, 1>},
                                        {2, 2, blocks<T>(2, 2), launch_tile<T, 2, 2>},
                                        {4, 4, blocks<T>(4, 4), launch_tile<T, 4, 4>},
                                        {8, WIDEST<T>, blocks<T>(8, WIDEST<T>), launch_tile<T, 8, WIDEST<T>>}};

template <Reduction REDUCTION, class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return gemm::tiles::choose(tiles<T>, p.m, p.n).launch(p, REDUCTION, stream);
}

template <Reduction REDUCTION>
constexpr gemm::Launch by = {launch<REDUCTION, double>, launch<REDUCTION, double2>};

constexpr gemm::Variant variants[] = {
    {"block-atomics", "a block adds its slices by a tree in shared memory, then to C", by<Reduction::block_atomics>},
    {"shared-atomics", "a block's slices add up atomically in shared memory, then to C", by<Reduction::shared_atomics>},
    {"global-atomics", "each slice adds to C", by<Reduction::global_atomics>},
};
constexpr gemm::StageInfo info = {
    .idea = "blocks' parts of C added up by a second kernel: the same bits in each run",
    .base = "07",
    .accuracy = gemm::Accuracy::fp64,
    .launch = by<Reduction::ordered>,
    .workspace_bytes = gemm::tiles::bytes_of_parts<tiles<double>, tiles<double2>, ROWS>,
    .waits = gemm::tiles::rows_of_slice<tiles<double>, ROWS>,
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
