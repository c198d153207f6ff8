// 12 TSMM generated: a kernel for exactly this M and N; a thread has a part of a row of B, of several rows at a time.
//
// Idea      With M and N known, a thread keeps N / t results of each of U rows in registers. A word of A then serves N
//           / t FMAs and not one, and a word of C serves U. Where C comes from is a choice: registers, the L1 cache,
//           shared memory.
// Change    As 09: compiled when it is asked for, options by a model or one by one on the command line.
// Limit     The L1 cache and shared memory: M wavefronts for a row of A (each lane's row may lie on the same banks),
//           and M N / (32 U) for C. The memory allows (M + N) 8 / 17 cycles. Then the FP64 cores, M N / 64.
// Number    Wavefronts for each FMA of a warp; GB/s of A and B against the ceiling of `scale`.
// Map       tsm/generated/row_threads.cuh: t threads a row, with every t-th column each, so that they write neighbours.
// Page      docs/tsm/12_tsmm_generated.md
// Source    Ernst et al. (2020), section 4, and section 6 on the source of C, unrolling and threads of a row.
#include <algorithm>
#include <map>
#include <tuple>

#include "common/jit.hpp"
#include "common/stage.cuh"
#include "tsm/generated/scale_rows.cuh"
#include "tsm/generated/tsmm.cuh"
#include "tsm/generated/tsmm_model.hpp"

namespace {

using gemm::CSource;
using gemm::KernelOptions;
namespace generated = gemm::generated;

gemm::JitRequest request(int m, int n, bool is_complex, bool wide, const KernelOptions& o) {
  std::string kernel = std::string("gemm::generated::tsmm<") + (is_complex ? "double2" : "double");
  for (const int number : {m, n, o.threads_per_row, o.unroll}) kernel += ", " + std::to_string(number);
  kernel += std::string(", gemm::generated::From::") + gemm::c_source_name(*o.c_source) + (wide ? ", true" : ", false");
  for (const int number : {o.threads, generated::tsmm_resident(m, n, is_complex, o)})
    kernel += ", " + std::to_string(number);
  return {kernel + ">",
          {gemm::kernel_header("tsm/generated/tsmm.cuh"), gemm::kernel_header("tsm/generated/row_threads.cuh"),
           gemm::kernel_header("tsm/generated/slices.cuh"), gemm::kernel_header("common/complex.cuh")}};
}

// For rows without padding.
gemm::JitRequest usual_request(int m, int n, bool is_complex, bool, const KernelOptions& o) {
  return request(m, n, is_complex, generated::usually_wide(m, is_complex), o);
}

// What is settled once for each M, N and set of options.
struct Plan {
  gemm::Status status;
  const gemm::JitKernel* kernel = nullptr;
  int threads = 0, rows = 0;  // of a block, rows at a time
  unsigned shared = 0;
  int resident = 1;  // blocks of an SM
};

Plan make_plan(int m, int n, bool is_complex, bool wide, const KernelOptions& asked) {
  const KernelOptions o = generated::choose_tsmm(m, n, is_complex, asked);
  Plan plan;
  if (const std::string why = generated::tsmm_refusal(m, n, is_complex, o); !why.empty()) {
    plan.status = gemm::Status::unsupported(why);
    return plan;
  }
  const auto [status, kernel] = gemm::find_kernel(request(m, n, is_complex, wide, o));
  plan.status = status;
  plan.kernel = kernel;
  if (!status) return plan;
  plan.threads = o.threads;
  plan.rows = o.threads / o.threads_per_row * o.unroll;
  plan.shared = *o.c_source == CSource::shared ? m * n * (is_complex ? 16 : 8) : 0;
  plan.resident = gemm::blocks_per_multiprocessor(*kernel, o.threads, plan.shared);
  return plan;
}

template <class T>
const Plan& plan_for(const gemm::TsmmProblem<T>& p) {
  static std::map<std::tuple<int, int, bool, KernelOptions>, Plan> known;
  // Columns two at a time.
  const bool wide =
      sizeof(T) == 16 || (p.m % 2 == 0 && p.lda % 2 == 0 && reinterpret_cast<std::uintptr_t>(p.a) % 16 == 0);
  const auto key = std::tuple(p.m, p.n, wide, p.kernel);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  return known[key] = make_plan(p.m, p.n, sizeof(T) == sizeof(double2), wide, p.kernel);
}

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  if (p.n == 0 || p.k == 0) return gemm::Status::ok();
  if (p.depth() == 0) return generated::launch_scale_rows(p, stream);
  const Plan& plan = plan_for(p);
  if (!plan.status) return plan.status;
  const std::int64_t places = static_cast<std::int64_t>(gemm::device_limits().multiprocessors) * plan.resident;
  const auto blocks = static_cast<unsigned>(std::min((p.k + plan.rows - 1) / plan.rows, places));
  return gemm::JitCall<generated::Tsmm<T>>::launch(
      *plan.kernel,
      {.grid = blocks, .block = static_cast<unsigned>(plan.threads), .dynamic_shared = plan.shared, .stream = stream},
      p.k, p.alpha, p.a, p.lda, p.c, p.ldc, p.beta, p.b, p.ldb);
}

constexpr gemm::TsmmInfo info = {
    .idea = "B = A C: a kernel for exactly this M and N; threads share rows, C from where it is best",
    .launch_d = launch<double>,
    .launch_z = launch<double2>,
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const KernelOptions o = generated::choose_tsmm(std::max(m, 1), std::max(n, 1), false, {});
          const double cycles = generated::tsmm_cycles(std::max(m, 1), std::max(n, 1), false, o).latency;
          return static_cast<double>(k) / sms * cycles / generated::latency;
        },
    .generated = {.choose = generated::choose_tsmm,
                  .refusal = generated::tsmm_refusal,
                  .candidates = generated::tsmm_candidates,
                  .request = usual_request,
                  .find = gemm::find_kernel},
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
