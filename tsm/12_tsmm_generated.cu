// 12 TSMM generated: a kernel for exactly this M and N; a thread computes parts of several rows of B at a time.
//
// Idea      With M and N known, a thread keeps N / t results of each of U rows in registers. So a word of A serves
//           N / t FMAs instead of one, and a word of C serves U. Where C comes from is a choice: registers, the L1
//           cache, or shared memory.
// Base      09_generated
// Change    First of a kind: 09 for the product of 11. Its results are rows of B, not sums, so blocks share nothing. A
//           thread computes U rows at a time, and a word of C serves all of them.
// Limit     The L1 cache and shared memory: M wavefronts for a row of A (each lane's row may lie on the same banks),
//           and M N / (32 U) for C. The memory allows (M + N) 8 / 17 cycles. Then the FP64 cores, M N / 64.
// Number    Wavefronts per warp-wide FMA; GB/s of A and B against the ceiling of `scale`.
// Map       tsm/generated/row_threads.cuh: t threads per row, each with every t-th column, so they write neighbours.
// Page      docs/tsm/12_tsmm_generated.md
// Source    Ernst et al. (2020), section 4, and section 6 on the source of C, unrolling and threads per row.
#include "tsm/generated/row_ends.cuh"
#include "tsm/generated/tsmm.cuh"

// Dynamic, because the executor gives kernels that are compiled at run time no other.
extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// B = alpha A C + beta B. `per_row` threads have a row of B between them (RowThread), and each thread `unroll` rows at
/// a time, for which it takes an element of C once. wide: rows of A begin at multiples of 16 bytes (and M is even, of
/// real numbers), so that they can be loaded 16 bytes at a time. From::shared needs M N elements of dynamic shared
/// memory. C is not `restrict`: then it could be kept in registers after all. `threads` is the block's size;
/// `resident` is how many blocks must fit an SM.
template <class T, int M, int N, int per_row, int unroll, From from, bool wide, int threads, int resident>
__global__ void __launch_bounds__(threads, resident)
    tsmm(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* c, std::int64_t ldc, T beta, T* b,
         std::int64_t ldb) {
  using Columns = RowColumns<N, per_row>;
  constexpr int distance = threads / per_row;  // rows that the block has at a time, `unroll` times
  const RowThread thread = row_thread<per_row>(threadIdx.x);
  const Columns mine(thread.place);
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * distance * unroll + thread.row;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * distance * unroll;
  if constexpr (from == From::shared) {
    for (int i = threadIdx.x; i < M * N; i += threads) reinterpret_cast<T*>(smem)[i] = c[i / N * ldc + i % N];
    __syncthreads();
    c = reinterpret_cast<const T*>(smem);
    ldc = N;
  }
  const ElementsOfC<from, T, M, Columns> elements{mine, c, ldc};
  constexpr bool in_registers = from == From::registers;
  constexpr int count = Columns::count, ahead = columns_ahead(sizeof(T), M, unroll);
  const bool adds = !is_zero(beta);
#pragma unroll 1  // `unroll` says how many rows, and not nvcc
  for (; first < k; first += step) {
    // Where fewer rows are left, the first stands in for the others.
    std::int64_t row[unroll];
    const T* row_of_a[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      row[u] = first + u * distance;
      row_of_a[u] = a + (row[u] < k ? row[u] : first) * lda;
      if (ldb > N && row[u] < k && mine.place == 0) prefetch_ends<T, N>(b + row[u] * ldb, ldb, row[u] > 0);
    }
    T sum[unroll][count] = {};
    multiply_rows<M, ahead, wide, in_registers>(row_of_a, elements, sum);

#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        sum[u][j] = multiply_add(alpha, sum[u][j], T{});
        // All loads before the first store, which might change what they read for all that nvcc knows.
        if (adds && row[u] < k && mine.is_mine(j)) sum[u][j] = multiply_add(beta, b[row[u] * ldb + mine[j]], sum[u][j]);
      }
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
#pragma unroll
      for (int j = 0; j < count; ++j)
        if (row[u] < k && mine.is_mine(j)) b[row[u] * ldb + mine[j]] = sum[u][j];
    }
    // Memory may have changed, so that C is read again for the next rows: else nvcc would keep it in registers wherever
    // it fits, whatever the source.
    if constexpr (!in_registers) asm volatile("" ::: "memory");
  }
}

}  // namespace gemm::generated

#ifndef __CUDACC_RTC__  // what is compiled at run time ends here

#include "tsm/generated/tsmm_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

// Columns of A two at a time: each row begins at a multiple of 16 bytes, and has a whole number of these.
bool is_wide(const generated::Form& f) {
  return f.rows_a == generated::Rows::flat ? generated::usually_wide(f.m, f.is_complex)
                                           : f.rows_a == generated::Rows::wide;
}

gemm::JitRequest request(const generated::Form& f) {
  const KernelOptions& o = f.options;
  const std::string from = std::string("gemm::generated::From::") + gemm::c_source_name(*o.c_source);
  return {generated::instance("tsmm", f.is_complex, f.m, f.n, o.threads_per_row, o.unroll, from.c_str(), is_wide(f),
                              o.threads, generated::tsmm_resident(f.m, f.n, f.is_complex, o)),
          gemm::kernel_headers("tsm/12_tsmm_generated.cu")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const KernelOptions& o = f.options;
  const int rows = o.threads / o.threads_per_row * o.unroll;
  return {.rows = rows,
          .shared_bytes = *o.c_source == gemm::CSource::shared ? f.m * f.n * (f.is_complex ? 16 : 8) : 0,
          .rows_of_life = o.turns * rows};
}

constexpr generated::Generator generator = {generated::each_tsmm, generated::tsmm_refusal, request, needs};

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_rows<generator>(p, stream);
}

constexpr gemm::StageInfo info = {
    .idea = "B = A C: a kernel for exactly this M and N; threads share rows, C from where it is best",
    .base = "09",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const KernelOptions o = generated::choose<generator.each>(std::max(m, 1), std::max(n, 1), false, {});
          const double cycles = generated::tsmm_cycles(std::max(m, 1), std::max(n, 1), false, o).latency;
          return static_cast<double>(k) / sms * cycles / generated::latency;
        },
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace

#endif
