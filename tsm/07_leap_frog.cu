// 07 leap frog: the next row's words are requested before this row's are multiplied.
//
// Idea      A warp stops at the first FMA whose words have not arrived, and requests nothing while it multiplies. With
//           a second set of registers for the next row, loads are in flight all the time.
// Base      06_transposed
// Change    next_x, next_y. The last row is loaded twice, which costs less than a check before each load whether there
//           is a next row.
// Limit     Still latency, for wide C. As many bytes are in flight as before, now all the time. Slightly fewer in fact,
//           because the second set takes registers, and so threads.
// Number    GB/s against bytes in flight / latency; loads between FMAs in the machine code.
// Map       As 06.
// Page      docs/tsm/07_leap_frog.md
// Source    Ernst et al. (2020), section 3.1, "Leap Frogging".
#include <algorithm>

#include "common/kernel/accumulate.cuh"
#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/tiles.hpp"

namespace {

using gemm::tiles::Cut, gemm::tiles::THREADS, gemm::tiles::Tile, gemm::tiles::WIDEST;

// Blocks per SM that the registers allow: sums, the words of two rows, and 38 more.
template <class T>
constexpr int blocks(int tm, int tn) {
  const int registers = static_cast<int>(sizeof(T) / 4) * (tm * tn + 2 * (tm + tn)) + 38;
  return std::min(65536 / (std::min(registers, 255) * THREADS), 16);
}

template <class T, int TM, int TN, bool GUARD_M, bool GUARD_N, int UNROLL>
__global__ void __launch_bounds__(THREADS, std::min(blocks<T>(TM, TN), 8))
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, bool conjugate, int threads, int groups) {
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
#pragma unroll UNROLL
    for (std::int64_t i = first; i < k; i += stride) {
      if (i + stride < k) {
        a_row += stride * lda;
        b_row += stride * ldb;
      }
      load(next_x, next_y);
      asm volatile("" ::: "memory");  // or nvcc moves the loads behind the FMAs, to where their words are needed
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
#pragma unroll 1
    for (int rest = slices; rest > 1; rest = (rest + 1) / 2) {
      const int half = (rest + 1) / 2;
      __syncthreads();
      if (slice + half >= rest) continue;
#pragma unroll
      for (int s = 0; s < TN; ++s) parts[s][thread] = gemm::add(parts[s][thread], parts[s][thread + half * threads]);
    }
    if (works && slice == 0 && row + r * tiles_m < m) {
      T* const out = c + (row + r * tiles_m) * ldc;
#pragma unroll 1
      for (int s = 0; s < TN && col + s * tiles_n < n; ++s)
        gemm::add_to(out + col + s * tiles_n, gemm::multiply_add(alpha, parts[s][thread], T{}));
    }
    __syncthreads();  // no thread reads the parts any more
  }
}

template <class T, int TM, int TN, int UNROLL>
gemm::Status launch_tile(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const gemm::Status scaled = gemm::launch_scale(p.m, p.n, p.beta, p.c, p.ldc, stream);
  if (!scaled) return scaled;
  const int sms = gemm::device_limits().multiprocessors;
  const Cut cut(gemm::ceil_div(p.m, TM) * gemm::ceil_div(p.n, TN), blocks<T>(TM, TN), sms, THREADS);
  const auto chunks = static_cast<unsigned>(cut.chunks(p.depth()));
  const bool guard_m = p.m % TM != 0, guard_n = p.n % TN != 0;  // tiles of 1 never need it: one kernel, not four
  constexpr bool BOTH = UNROLL > 1;  // the variant has both guards or none: nvcc takes a while for each of its kernels
  const auto kernel = guard_m   ? guard_n ? tsmttsm<T, TM, TN, (TM != 1), (TN != 1), UNROLL>
                                          : tsmttsm<T, TM, TN, (TM != 1), (BOTH && TN != 1), UNROLL>
                        : guard_n ? tsmttsm<T, TM, TN, (BOTH && TM != 1), (TN != 1), UNROLL>
                                : tsmttsm<T, TM, TN, false, false, UNROLL>;
  return gemm::launch(kernel, {.grid = chunks * cut.groups, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(),
                      p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate, cut.threads, cut.groups);
}

template <class T, int UNROLL>
constexpr Tile<T> tiles[] = {{1, 1, blocks<T>(1, 1), launch_tile<T, 1, 1, UNROLL>},
                             {2, 2, blocks<T>(2, 2), launch_tile<T, 2, 2, UNROLL>},
                             {4, 4, blocks<T>(4, 4), launch_tile<T, 4, 4, UNROLL>},
                             {8, WIDEST<T>, blocks<T>(8, WIDEST<T>), launch_tile<T, 8, WIDEST<T>, UNROLL>}};

template <class T, int UNROLL>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  return gemm::tiles::choose(tiles<T, UNROLL>, p.m, p.n).launch(p, stream);
}

constexpr gemm::Variant variants[] = {
    {"unroll=2",
     "two rows an iteration, so that no words are moved from set to set",
     {launch<double, 2>, launch<double2, 2>}},
};
constexpr gemm::StageInfo info = {
    .idea = "the next row loaded into a second set of registers before this one is multiplied",
    .base = "06",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double, 1>, launch<double2, 1>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const Cut cut = gemm::tiles::choose(tiles<double, 1>, m, n).cut(m, n, sms);
          return static_cast<double>(k) / (cut.places * cut.slices);
        },
    .variants = variants,
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
