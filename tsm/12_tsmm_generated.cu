// 12 TSMM generated: a kernel for exactly this M and N; a thread computes parts of several rows of B at a time.
//
// Idea      With M and N known, a thread keeps N / t results of each of U rows in registers. So a word of A serves
//           N / t FMAs instead of one, and a word of C serves U. Where C comes from is a choice: registers, the L1
//           cache, or shared memory.
// Base      11_tsmm_rows
// Change    As 09: compiled when it is first needed, options chosen by a model or set one by one on the command line.
// Limit     The L1 cache and shared memory: M wavefronts for a row of A (each lane's row may lie on the same banks),
//           and M N / (32 U) for C. The memory allows (M + N) 8 / 17 cycles. Then the FP64 cores, M N / 64.
// Number    Wavefronts per warp-wide FMA; GB/s of A and B against the ceiling of `scale`.
// Map       tsm/generated/row_threads.cuh: t threads per row, each with every t-th column, so they write neighbours.
// Page      docs/tsm/12_tsmm_generated.md
// Source    Ernst et al. (2020), section 4, and section 6 on the source of C, unrolling and threads per row.
#include "tsm/generated/tsmm.cuh"
#include "tsm/generated/tsmm_model.hpp"
#include "tsm/jit_launch.hpp"

namespace {

using gemm::CSource;
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
          gemm::kernel_headers("tsm/generated/tsmm.cuh")};
}

generated::BlockNeeds needs(const generated::Form& f) {
  const KernelOptions& o = f.options;
  return {o.threads / o.threads_per_row * o.unroll,
          *o.c_source == CSource::shared ? f.m * f.n * (f.is_complex ? 16 : 8) : 0};
}

constexpr generated::Generator generator = {generated::choose_tsmm, generated::tsmm_refusal, generated::tsmm_candidates,
                                            request, needs};

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  return generated::launch_rows<generator, generated::Tsmm<T>>(p, stream);
}

constexpr gemm::StageInfo info = {
    .idea = "B = A C: a kernel for exactly this M and N; threads share rows, C from where it is best",
    .base = "11",
    .accuracy = gemm::Accuracy::fp64,
    .launch = {launch<double>, launch<double2>},
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const KernelOptions o = generated::choose_tsmm(std::max(m, 1), std::max(n, 1), false, {});
          const double cycles = generated::tsmm_cycles(std::max(m, 1), std::max(n, 1), false, o).latency;
          return static_cast<double>(k) / sms * cycles / generated::latency;
        },
    .generated = generated::kernels_of<generator>(),
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
