// 11 TSMM rows: B = A C, a thread for each element of B.
//
// Idea      The other tall & skinny product. Here the long dimension is not that of the sum. The K x N results are
//           independent, each is a sum of M products, and no sums are added across threads.
// Change    (A new product.) Threads of a row of B read the same words of A, and C comes from the L1 cache.
// Limit     Latency. A thread has 64 bytes of its row of A in flight at a time. All N threads of the row request the
//           same bytes, and an SM has 1024 threads: 1024 / N rows. Then the L1 cache: three to six wavefronts for each
//           warp-wide FMA.
// Number    GB/s of A and B against the ceiling of `scale`, which reads and writes as much.
// Map       Thread i of the grid always has column i % n, and begins with row i / n. All threads together step by
//           `threads / n` rows. So neighbours write neighbours, and no thread divides in the loop.
// Page      docs/tsm/11_tsmm_rows.md
// Source    Ernst et al. (2020), section 4: parallel over K and N.
#include <algorithm>

#include "common/kernel/complex.cuh"
#include "common/stage.cuh"

namespace {

constexpr int THREADS = 256;
constexpr int BLOCKS = 4;  // per SM: 64 registers per thread
constexpr int AHEAD = 8;   // columns of A that are loaded before the first is needed, of real numbers: nvcc's choice

template <class T>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    tsmm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
         std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb) {
  const int rows = gridDim.x * THREADS / n;  // that all threads have at a time
  const int thread = blockIdx.x * THREADS + threadIdx.x, first = thread / n, col = thread % n;
  if (first >= rows) return;

  for (std::int64_t row = first; row < k; row += rows) {
    T sum{};
    for (int i = 0; i < m; ++i) sum = gemm::multiply_add(a[row * lda + i], c[i * ldc + col], sum);
    T* const out = b + row * ldb + col;
    *out = gemm::scaled(alpha, sum, beta, out);
  }
}

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  if (p.n == 0 || p.k == 0) return gemm::Status::ok();
  const std::int64_t all = (p.k * p.n + THREADS - 1) / THREADS;
  // At least a whole row.
  const std::int64_t places = std::max(gemm::device_limits().multiprocessors * BLOCKS, gemm::ceil_div(p.n, THREADS));
  return gemm::launch(tsmm<T>,
                      {.grid = static_cast<unsigned>(std::min(all, places)), .block = THREADS, .stream = stream},
                      p.depth(), p.n, p.k, p.alpha, p.a, p.lda, p.c, p.ldc, p.beta, p.b, p.ldb);
}

constexpr gemm::StageInfo info = {
    .idea = "B = A C: a thread for each element of B, C from the L1 cache",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const int rows = std::max(sms * BLOCKS * THREADS / std::max(n, 1), 1);
          return static_cast<double>(k) / rows * gemm::ceil_div(m, AHEAD);
        },
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
