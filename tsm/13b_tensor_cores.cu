// 13b Tensor Cores: TSMTTSM through stage 10's pipeline, multiplied by the FP64 Tensor Cores.
//
// Idea      One instruction, m16n8k4, multiplies 16 columns of A by 8 of B over four rows: 512 multiply-adds for a warp, of
//           which a lane holds two words of A, one of B and four sums. Registers have ports enough for that, and an SM
//           does 128 multiply-adds a cycle, twice what its plain cores do. C = A^T B needs no transpose: both operands
//           are "row t, column g" of matrices that lie by rows.
// Change    10's loop with fragments in the place of a thread's tiles, and stages in four chunks, 32 bytes modulo 128
//           from one to the next: lanes read four rows from four groups of banks, whatever the width.
// Limit     Up to 64 columns of double the memory, 4.6 TB/s; of complex numbers, from 51 on, 66 TFLOP/s.
// Number    GB/s, TFLOP/s, as a share of the plain cores' roofline and of that of the Tensor Cores.
// Map       tsm/generated/tensor.cuh: a warp has some fragments of C; as many warps as C takes are a slice, and each slice
//           has every so-manieth four rows, one of each chunk.
// Page      docs/tsm/13b_tensor_cores.md
// Source    ours. PTX ISA, mma.m16n8k4 of .f64: which lane holds what.
#include <algorithm>
#include <map>
#include <tuple>

#include "common/jit.hpp"
#include "common/stage.cuh"
#include "tsm/generated/combine.cuh"
#include "tsm/generated/tensor.cuh"
#include "tsm/generated/tensor_model.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

constexpr int MOST_KEPT = 4;  // blocks of an SM that leave partial sums

gemm::JitRequest request(int m, int n, bool is_complex, bool conjugate, generated::Rows rows_a, generated::Rows rows_b,
                         const KernelOptions& o) {
  const generated::TensorShape s(m, n, is_complex, o);
  std::string kernel = std::string("gemm::generated::tsmttsm_tensor<") + (is_complex ? "double2" : "double");
  for (const int number : {m, n, s.fm, s.fn}) kernel += ", " + std::to_string(number);
  kernel += conjugate && is_complex ? ", true" : ", false";
  for (const generated::Rows rows : {rows_a, rows_b}) kernel += name_of(rows);
  for (const int number : {o.threads, s.turns, generated::pipeline_stages, s.resident})
    kernel += ", " + std::to_string(number);
  gemm::JitRequest result{.kernel = kernel + ">", .headers = {}};
  for (const char* const name :
       {"tsm/generated/tensor.cuh", "tsm/generated/chunks.cuh", "tsm/generated/stream.cuh",
        "tsm/generated/block_sum.cuh", "tsm/generated/slices.cuh", "common/complex.cuh", "common/ptx.cuh"})
    result.headers.push_back(gemm::kernel_header(name));
  return result;
}

// For rows without padding.
gemm::JitRequest usual_request(int m, int n, bool is_complex, bool conjugate, const KernelOptions& o) {
  return request(m, n, is_complex, conjugate, generated::Rows::flat, generated::Rows::flat, o);
}

struct Plan {
  gemm::Status status;
  const gemm::JitKernel* kernel = nullptr;
  int least_rows = 0;  // of a block
  int shared = 0, threads = 0;
  int resident = 1;  // blocks of an SM
};

Plan make_plan(int m, int n, bool is_complex, bool conjugate, generated::Rows rows_a, generated::Rows rows_b,
               const KernelOptions& asked) {
  const KernelOptions o = generated::choose_tensor(m, n, is_complex, asked);
  Plan plan;
  if (const std::string why = generated::tensor_refusal(m, n, is_complex, o); !why.empty()) {
    plan.status = gemm::Status::unsupported(why);
    return plan;
  }
  const auto [status, kernel] = gemm::find_kernel(request(m, n, is_complex, conjugate, rows_a, rows_b, o));
  plan.status = status;
  plan.kernel = kernel;
  if (!status) return plan;
  const generated::TensorShape s(m, n, is_complex, o);
  plan.least_rows = s.rows;
  plan.shared = s.shared_bytes();
  plan.threads = o.threads;
  plan.resident = std::min(gemm::blocks_per_multiprocessor(*kernel, o.threads, s.shared_bytes()), MOST_KEPT);
  return plan;
}

template <class T>
const Plan& plan_for(const gemm::TsmttsmProblem<T>& p) {
  static std::map<std::tuple<int, int, bool, generated::Rows, generated::Rows, KernelOptions>, Plan> known;
  const generated::Rows rows_a = generated::rows_of(p.a, p.lda, p.m), rows_b = generated::rows_of(p.b, p.ldb, p.n);
  const auto key = std::tuple(p.m, p.n, p.conjugate, rows_a, rows_b, p.kernel);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Plan plan = make_plan(p.m, p.n, sizeof(T) == sizeof(double2), p.conjugate, rows_a, rows_b, p.kernel);
  return known[key] = std::move(plan);
}

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return gemm::Status::ok();
  const Plan& plan = plan_for(p);
  if (!plan.status) return plan.status;
  const std::int64_t places = static_cast<std::int64_t>(gemm::device_limits().multiprocessors) * plan.resident;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((p.depth() + plan.least_rows - 1) / plan.least_rows, places));
  T* const partial = static_cast<T*>(p.workspace);
  const gemm::Status multiplied =
      gemm::JitCall<generated::TsmttsmTensor<T>>::launch(*plan.kernel,
                                                         {.grid = blocks,
                                                          .block = static_cast<unsigned>(plan.threads),
                                                          .dynamic_shared = static_cast<unsigned>(plan.shared),
                                                          .stream = stream},
                                                         p.depth(), p.a, p.lda, p.b, p.ldb, partial);
  if (!multiplied) return multiplied;
  return generated::launch_combine<T>(p, partial, static_cast<int>(blocks), stream);
}

constexpr gemm::TsmttsmInfo info = {
    .idea = "FP64 Tensor Cores, fed through shared memory",
    .min_compute_capability = 80,
    .launch_d = launch<double>,
    .launch_z = launch<double2>,
    .workspace_bytes =
        [](int m, int n, std::int64_t, std::size_t element) {
          return element * m * n * gemm::device_limits().multiprocessors * MOST_KEPT;
        },
    .generated = {.choose = generated::choose_tensor,
                  .refusal = generated::tensor_refusal,
                  .candidates = generated::tensor_candidates,
                  .request = usual_request,
                  .find = gemm::find_kernel},
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
