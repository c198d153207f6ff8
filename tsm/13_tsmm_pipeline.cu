// 13 TSMM pipeline: stage 10's pipeline for the other product. Rows of A come to shared memory stages ahead, C lies
// there all the time, rows of B leave from registers.
//
// Idea      What is on its way to the SM fills no register here, either, so a thread can have 8 rows and 8 columns of
//           B, or 4 and 4 of complex numbers: 64 FMAs for 16 words from shared memory. And a row of A is one warp's
//           alone: each warp has stages of its own and waits for no other.
// Change    12's kernel with cp.async in the place of loads to registers, several rows a thread, and a loop with little
//           but FMAs and loads: addresses are a register and a constant. Complex numbers by three products of real
//           ones, or four.
// Limit     Narrow C: the bandwidth of reading and writing at once, 3.9 TB/s. Wide C: the FP64 cores, 33 TFLOP/s, less
//           what else the loop executes (docs/tsm/probes.md): 27. Three products: 32, counted as four.
// Number    GB/s, TFLOP/s, and both as a share of the roofline.
// Map       tsm/generated/pipeline_tsmm.cuh: groups of a warp's lanes, each with its own rows; a group's lanes have
//           every so-manieth unit of 16 bytes of a row. Rows of B that are not aligned leave through shared memory.
//           Columns that no number of lanes divides: each lane has some of one row, for some of its terms.
// Page      docs/tsm/13_tsmm_pipeline.md
// Source    ours.
#include <algorithm>
#include <map>
#include <tuple>

#include "common/jit.hpp"
#include "common/stage.cuh"
#include "tsm/generated/pipeline_tsmm.cuh"
#include "tsm/generated/pipeline_tsmm_model.hpp"
#include "tsm/generated/scale_rows.cuh"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

gemm::JitRequest request(int m, int n, bool is_complex, generated::Rows rows_a, generated::Rows rows_b,
                         const KernelOptions& o) {
  const generated::TsmmPipelineShape s(m, n, is_complex, o, rows_a, rows_b);
  std::string kernel = std::string("gemm::generated::tsmm_pipeline<") + (is_complex ? "double2" : "double");
  for (const int number : {m, n, o.unroll, s.along_n, s.products}) kernel += ", " + std::to_string(number);
  for (const generated::Rows rows : {rows_a, rows_b}) kernel += name_of(rows);
  for (const int number : {o.threads, s.layout.chunk, s.stages, s.resident}) kernel += ", " + std::to_string(number);
  if (s.rest.columns) kernel += ", true";
  gemm::JitRequest result{.kernel = kernel + ">", .headers = {}, .in_order = true};
  for (const char* const name : {"tsm/generated/pipeline_tsmm.cuh", "tsm/generated/warp_rows.cuh",
                                 "tsm/generated/stream.cuh", "tsm/generated/multiply.cuh", "tsm/generated/places.cuh",
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
  const KernelOptions o = generated::choose_tsmm_pipeline(m, n, is_complex, asked);
  Plan plan;
  if (const std::string why = generated::tsmm_pipeline_refusal(m, n, is_complex, o); !why.empty()) {
    plan.status = gemm::Status::unsupported(why);
    return plan;
  }
  const auto [status, kernel] = gemm::find_kernel(request(m, n, is_complex, rows_a, rows_b, o));
  plan.status = status;
  plan.kernel = kernel;
  if (!status) return plan;
  const generated::TsmmPipelineShape s(m, n, is_complex, o, rows_a, rows_b);
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
  return gemm::JitCall<generated::TsmmPipeline<T>>::launch(*plan.kernel,
                                                           {.grid = blocks,
                                                            .block = static_cast<unsigned>(plan.threads),
                                                            .dynamic_shared = static_cast<unsigned>(plan.shared),
                                                            .stream = stream},
                                                           p.k, p.alpha, p.a, p.lda, p.c, p.ldc, p.beta, p.b, p.ldb);
}

constexpr gemm::TsmmInfo info = {
    .idea = "rows of A copied to shared memory stages ahead, by the warp that multiplies them",
    .min_compute_capability = 80,
    .launch_d = launch<double>,
    .launch_z = launch<double2>,
    .generated = {.choose = generated::choose_tsmm_pipeline,
                  .refusal = generated::tsmm_pipeline_refusal,
                  .candidates = generated::tsmm_pipeline_candidates,
                  .request = usual_request,
                  .find = gemm::find_kernel},
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
