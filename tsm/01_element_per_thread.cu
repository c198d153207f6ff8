// 01 element per thread: C = A^T B as any product. One thread computes one element of C and walks down all of K.
//
// Idea      The definition, as in stage 01 of the SGEMM ladder. There it keeps a GPU busy. Here C has at most 64 x 64
//           elements and K is millions, so most SMs are idle.
// Limit     Latency. A warp waits for each batch of its loads before it requests more, and M * N / 32 warps cannot
//           have many bytes in flight. Little's law: bytes in flight = latency * bandwidth = 540 ns * 4.5 TB/s
//           = 2.4 MB.
// Number    GB/s of A and B, against the read bandwidth that `ladder` measures.
// Map       Thread i of the grid has element (i / n, i % n): neighbouring lanes read a row of B and share words of A.
// Page      docs/tsm/01_element_per_thread.md
// Source    Ernst et al. (2020), section 2.2, listing 1: the three loops.
#include "common/kernel/complex.cuh"
#include "common/stage.cuh"

namespace {

constexpr int THREADS = 128;
constexpr int AHEAD = 2;  // rows that are loaded before the first is needed: nvcc's choice, read off the machine code

template <class T>
__global__ void __launch_bounds__(THREADS)
    tsmttsm(int m, int n, std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ b,
            std::int64_t ldb, T beta, T* __restrict__ c, std::int64_t ldc, bool conjugate) {
  const int element = blockIdx.x * THREADS + threadIdx.x, row = element / n, col = element % n;
  if (row >= m) return;

  T sum{};
  for (std::int64_t i = 0; i < k; ++i)
    sum = gemm::multiply_add(gemm::conjugate_if(conjugate, a[i * lda + row]), b[i * ldb + col], sum);

  T* const out = c + row * ldc + col;
  *out = gemm::scaled(alpha, sum, beta, out);
}

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const auto blocks = static_cast<unsigned>(gemm::ceil_div(p.m * p.n, THREADS));
  return gemm::launch(tsmttsm<T>, {.grid = blocks, .block = THREADS, .stream = stream}, p.m, p.n, p.depth(), p.alpha,
                      p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc, p.conjugate);
}

constexpr gemm::StageInfo info = {
    .idea = "one thread per element of C, all of K in a row: most SMs idle",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .waits = [](int, int, std::int64_t k, int) { return static_cast<double>(k) / AHEAD; },
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
