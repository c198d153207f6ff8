// 04 K and N: a thread has one column of B, and as many rows of C as fit in registers.
//
// Idea      A column of C takes 2 M registers instead of 2 M * N. So M = 64 fits, and N times as many threads share a
//           row of K.
// Base      03_k_only
// Change    A slice is N threads side by side, THREADS / N slices per block. Tiles are TM x 1.
// Limit     The L1 cache: a thread loads each word of A for a single FMA, and reuses only its word of B. That is more
//           than one load per FMA.
// Number    Loads per FMA, 1 + 1 / M; wavefronts of them per FMA, against half a cycle of the FP64 cores.
// Map       The threads of a slice have the tiles of C, one row of tiles after the other. Thread t of a block has slice
//           t / threads and tile t % threads. Neighbouring lanes read a row of B and share words of A.
// Page      docs/tsm/04_k_and_n.md
// Source    Ernst et al. (2020), section 3, "parallelization over the K and N loop".
#include <algorithm>

#include "common/kernel/accumulate.cuh"
#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/cut.hpp"

namespace {

using gemm::tiles::Cut;
constexpr int THREADS = 128;
constexpr int WORDS = 4;  // of each thread's sums that are in shared memory at a time

// Blocks per SM that the registers allow: sums and some 40 more, because nvcc does not load all words of a row at once.
// The registers that ptxas needs allow at least as many.
template <class T>
constexpr int blocks(int height) {
  const int registers = static_cast<int>(sizeof(T) / 4) * (height + 2) + 36;
  return std::min(65536 / (registers * THREADS), 16);
}

// A slice is `threads` threads, and `groups` blocks where C has more tiles than a block has threads.
template <class T, int TM>
__global__ void __launch_bounds__(THREADS)
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, bool conjugate, int threads, int groups) {
  __shared__ T parts[WORDS][THREADS];
  const int group = blockIdx.x % groups, chunk = blockIdx.x / groups, thread = threadIdx.x;
  const int slice = thread / threads, slices = THREADS / threads;
  const int tile = group * threads + thread % threads, row = tile / n * TM, col = tile % n;
  const int rows = slice < slices ? min(m - row, TM) : 0;  // none: a thread that only waits at barriers

  T sum[TM] = {};
  const std::int64_t first = static_cast<std::int64_t>(chunk) * slices + slice;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x / groups) * slices;
  const T *a_row = a + first * lda + row, *b_word = b + first * ldb + col;
#pragma unroll 1
  for (std::int64_t i = rows > 0 ? first : k; i < k; i += stride, a_row += stride * lda, b_word += stride * ldb) {
    T x[TM];
#pragma unroll
    for (int j = 0; j < TM; ++j) x[j] = j < rows ? gemm::conjugate_if(conjugate, a_row[j]) : T{};
    const T y = *b_word;
#pragma unroll
    for (int r = 0; r < TM; ++r) sum[r] = gemm::multiply_add(x[r], y, sum[r]);
  }

  // WORDS sums after WORDS sums. Registers cannot be indexed at run time, so the sums move up until they are the first
  // ones.
#pragma unroll 1
  for (int r = 0; r < min(m, TM); r += WORDS) {
#pragma unroll
    for (int s = 0; s < WORDS; ++s) parts[s][thread] = sum[s];
#pragma unroll
    for (int s = WORDS; s < TM; ++s) sum[s - WORDS] = sum[s];
#pragma unroll 1
    for (int rest = slices; rest > 1; rest = (rest + 1) / 2) {
      const int half = (rest + 1) / 2;
      __syncthreads();
      if (slice + half >= rest) continue;
#pragma unroll
      for (int s = 0; s < WORDS; ++s) parts[s][thread] = gemm::add(parts[s][thread], parts[s][thread + half * threads]);
    }
    if (slice == 0) {
#pragma unroll 1
      for (int s = 0; s < min(rows - r, WORDS); ++s)
        gemm::add_to(c + (row + r + s) * ldc + col, gemm::multiply_add(alpha, parts[s][thread], T{}));
    }
    __syncthreads();  // no thread reads the parts any more
  }
}

// The lowest of SIZES that needs no more tiles than another.
template <int... SIZES>
constexpr int tile_for(int size) {
  return std::min({SIZES...}, [=](int a, int b) { return gemm::ceil_div(size, a) < gemm::ceil_div(size, b); });
}

// With tiles of TM x 1, if no size in HIGHER is better.
template <class T, int TM, int... HIGHER>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if constexpr (sizeof...(HIGHER) > 0)
    if (tile_for<TM, HIGHER...>(p.m) != TM) return launch<T, HIGHER...>(p, stream);
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const gemm::Status scaled = gemm::launch_scale(p.m, p.n, p.beta, p.c, p.ldc, stream);
  if (!scaled) return scaled;
  const int sms = gemm::device_limits().multiprocessors;
  const Cut cut(gemm::ceil_div(p.m, TM) * p.n, blocks<T>(TM), sms, THREADS);
  const auto chunks = static_cast<unsigned>(cut.chunks(p.depth()));
  return gemm::launch(tsmttsm<T, TM>, {.grid = chunks * cut.groups, .block = THREADS, .stream = stream}, p.m, p.n,
                      p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate, cut.threads, cut.groups);
}

constexpr gemm::StageInfo info = {
    .idea = "a column of C in each thread's registers, slices of N threads",
    .base = "03",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double, 4, 8, 16, 32, 64>, launch<double2, 4, 8, 16, 32>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const int tm = tile_for<4, 8, 16, 32, 64>(std::max(m, 1));
          const Cut cut(gemm::ceil_div(m, tm) * n, blocks<double>(tm), sms, THREADS);
          return static_cast<double>(k) / (cut.places * cut.slices);
        },
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
