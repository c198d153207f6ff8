// 02 split K: K is partitioned among blocks, and atomic additions put the parts of C together.
//
// Idea      The only long dimension is that of the sum, so the sum must be parallel. A thread adds up a chunk of K in a
//           register. At its end it adds that to C, once.
// Base      01_element_per_thread
// Change    A block has a chunk of K, one row at a time (a grid-stride loop). C is scaled by beta first.
// Limit     Loads: a warp-wide FMA needs a word of A and a word of B for each lane. A row of B is read once for each
//           row of C, and all reads but one come from the L1 cache.
// Number    Two loads per FMA; GB/s of A and B against the read bandwidth.
// Map       A block has a tile of ELEMENTS elements of C and SLICES rows of K at a time. Thread t has element
//           t % ELEMENTS and slice t / ELEMENTS. If C has more elements, blockIdx.x also selects one of its tiles.
// Page      docs/tsm/02_split_k.md
// Source    Ernst et al. (2020), section 3: "the loop over the long K dimension has to be parallelized as well".
#include <algorithm>

#include "common/kernel/complex.cuh"
#include "common/stage.cuh"
#include "tsm/cut.hpp"

namespace {

using gemm::tiles::Cut;
constexpr int THREADS = 256;
constexpr int BLOCKS = 8;  // per SM, if there is enough work
constexpr int AHEAD = 2;   // rows that are loaded before the first is needed, of real numbers: nvcc's choice

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

// `elements` of C a block: a multiple of 32 or all of them.
template <class T>
__global__ void __launch_bounds__(THREADS)
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T* __restrict__ c, std::int64_t ldc, bool conjugate, int elements, int tiles) {
  const int tile = blockIdx.x % tiles, chunk = blockIdx.x / tiles;
  const int chunks = gridDim.x / tiles, slice = threadIdx.x / elements, slices = THREADS / elements;
  const int element = tile * elements + threadIdx.x % elements, row = element / n, col = element % n;
  if (row >= m || slice >= slices) return;

  T sum{};
  const std::int64_t stride = static_cast<std::int64_t>(chunks) * slices;
  const std::int64_t first = static_cast<std::int64_t>(chunk) * slices + slice;
  for (std::int64_t i = first; i < k; i += stride)
    sum = gemm::multiply_add(gemm::conjugate_if(conjugate, a[i * lda + row]), b[i * ldb + col], sum);

  add_to(c + row * ldc + col, gemm::multiply_add(alpha, sum, T{}));
}

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const auto grid = static_cast<unsigned>(gemm::ceil_div(p.m * p.n, THREADS));
  const gemm::Status scaled =
      gemm::launch(scale<T>, {.grid = grid, .block = THREADS, .stream = stream}, p.m, p.n, p.beta, p.c, p.ldc);
  if (!scaled) return scaled;
  const int sms = gemm::device_limits().multiprocessors;
  const Cut cut(p.m * p.n, BLOCKS, sms, THREADS);
  const auto chunks = static_cast<unsigned>(cut.chunks(p.depth()));
  return gemm::launch(tsmttsm<T>, {.grid = chunks * cut.groups, .block = THREADS, .stream = stream}, p.m, p.n,
                      p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, p.conjugate, cut.threads, cut.groups);
}

constexpr gemm::StageInfo info = {
    .idea = "K cut into chunks, a block each; atomic additions to C",
    .base = "01",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const Cut cut(m * n, BLOCKS, sms, THREADS);
          return static_cast<double>(k) / (cut.places * cut.slices * AHEAD);
        },
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
