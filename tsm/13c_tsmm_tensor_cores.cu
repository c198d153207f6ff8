// 13c TSMM Tensor Cores: the other product by the FP64 Tensor Cores.
//
// Idea      B = A C has rows of A as the rows of m16n8k4's left operand and C as the right one. C lies in shared memory in
//           the order in which the instruction wants it, 32 lanes side by side; rows of A come there ahead.
// Change    13's turns of a warp: 16 rows, or a multiple, with all their columns. Results leave by 16 bytes, a row of four
//           lanes side by side; or, where rows are not aligned, through the stage that A's rows have left.
// Limit     Up to 64 columns of double the memory, reading and writing at once, 3.9 TB/s; of complex numbers, from 60 on,
//           66 TFLOP/s.
// Number    GB/s, TFLOP/s, as a share of the plain cores' roofline and of that of the Tensor Cores.
// Map       tsm/generated/tensor_tsmm.cuh: a warp's rows lie in four chunks; lane 4 g + t reads row g / 4 of chunk g % 4.
// Page      docs/tsm/13c_tsmm_tensor_cores.md
// Source    ours. PTX ISA, mma.m16n8k4 of .f64: which lane holds what.
#include <algorithm>
#include <map>
#include <tuple>

#include "common/jit.hpp"
#include "common/stage.cuh"
#include "tsm/generated/scale_rows.cuh"
#include "tsm/generated/tensor_tsmm.cuh"
#include "tsm/generated/tensor_tsmm_model.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

gemm::JitRequest request(int m, int n, bool is_complex, generated::Rows rows_a, generated::Rows rows_b,
                         const KernelOptions& o) {
  const generated::TsmmTensorShape s(m, n, is_complex, o);
  std::string kernel = std::string("gemm::generated::tsmm_tensor<") + (is_complex ? "double2" : "double");
  for (const int number : {m, n, o.unroll}) kernel += ", " + std::to_string(number);
  for (const generated::Rows rows : {rows_a, rows_b}) kernel += name_of(rows);
  for (const int number : {o.threads, s.stages, s.resident}) kernel += ", " + std::to_string(number);
  gemm::JitRequest result{.kernel = kernel + ">", .headers = {}};
  for (const char* const name :
       {"tsm/generated/tensor_tsmm.cuh", "tsm/generated/chunks.cuh", "tsm/generated/stream.cuh",
        "tsm/generated/slices.cuh", "common/complex.cuh", "common/ptx.cuh"})
    result.headers.push_back(gemm::kernel_header(name));
  return result;
}

// For rows without padding.
gemm::JitRequest usual_request(int m, int n, bool is_complex, bool, const KernelOptions& o) {
  return request(m, n, is_complex, generated::Rows::flat, generated::Rows::flat, o);
}

struct Plan {
  gemm::Status status;
  const gemm::JitKernel* kernel = nullptr;
  int rows = 0;  // of a warp's turn
  int shared = 0, threads = 0;
  int resident = 1;  // blocks of an SM
};

Plan make_plan(int m, int n, bool is_complex, generated::Rows rows_a, generated::Rows rows_b,
               const KernelOptions& asked) {
  const KernelOptions o = generated::choose_tensor_tsmm(m, n, is_complex, asked);
  Plan plan;
  if (const std::string why = generated::tensor_tsmm_refusal(m, n, is_complex, o); !why.empty()) {
    plan.status = gemm::Status::unsupported(why);
    return plan;
  }
  const auto [status, kernel] = gemm::find_kernel(request(m, n, is_complex, rows_a, rows_b, o));
  plan.status = status;
  plan.kernel = kernel;
  if (!status) return plan;
  const generated::TsmmTensorShape s(m, n, is_complex, o);
  plan.rows = s.rows;
  plan.shared = s.shared_bytes(o.threads);
  plan.threads = o.threads;
  plan.resident = gemm::blocks_per_multiprocessor(*kernel, o.threads, plan.shared);
  return plan;
}

template <class T>
const Plan& plan_for(const gemm::TsmmProblem<T>& p) {
  static std::map<std::tuple<int, int, generated::Rows, generated::Rows, KernelOptions>, Plan> known;
  const generated::Rows rows_a = generated::rows_of(p.a, p.lda, p.m), rows_b = generated::rows_of(p.b, p.ldb, p.n);
  const auto key = std::tuple(p.m, p.n, rows_a, rows_b, p.kernel);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Plan plan = make_plan(p.m, p.n, sizeof(T) == sizeof(double2), rows_a, rows_b, p.kernel);
  return known[key] = std::move(plan);
}

template <class T>
gemm::Status launch(const gemm::TsmmProblem<T>& p, cudaStream_t stream) {
  if (p.k == 0 || p.n == 0) return gemm::Status::ok();
  if (p.depth() == 0) return generated::launch_scale_rows(p, stream);
  const Plan& plan = plan_for(p);
  if (!plan.status) return plan.status;
  const std::int64_t places = static_cast<std::int64_t>(gemm::device_limits().multiprocessors) * plan.resident;
  const auto blocks = static_cast<unsigned>(std::min((p.k + plan.rows - 1) / plan.rows, places));
  return gemm::JitCall<generated::TsmmTensor<T>>::launch(*plan.kernel,
                                                         {.grid = blocks,
                                                          .block = static_cast<unsigned>(plan.threads),
                                                          .dynamic_shared = static_cast<unsigned>(plan.shared),
                                                          .stream = stream},
                                                         p.k, p.alpha, p.a, p.lda, p.c, p.ldc, p.beta, p.b, p.ldb);
}

constexpr gemm::TsmmInfo info = {
    .idea = "FP64 Tensor Cores, 16 rows of B a warp",
    .min_compute_capability = 80,
    .launch_d = launch<double>,
    .launch_z = launch<double2>,
    .generated = {.choose = generated::choose_tensor_tsmm,
                  .refusal = generated::tensor_tsmm_refusal,
                  .candidates = generated::tensor_tsmm_candidates,
                  .request = usual_request,
                  .find = gemm::find_kernel},
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
