// 10 pipeline: A and B go to shared memory several stages ahead, by asynchronous copies, so that what is on its way
// fills no register.
//
// Idea      Until now registers held the sums and the rows on their way, and Little's law wanted more of these than
//           there was room for. A copy from device to shared memory takes no register: three stages of 8 KB and more
//           are always under way in each SM, however wide C is, and the sums can have the registers.
// Change    09's kernel with cp.async in the place of leapfrogging, tiles that fill an SM with one or two blocks, and
//           operands read from shared memory, 16 bytes at a time. Any alignment; rows without padding are one range,
//           copied by 16. Complex numbers by three products of real ones, or four.
// Limit     Narrow C: the memory's bandwidth, 4.4 TB/s. Wide C: the FP64 cores, 33 TFLOP/s times the part of the tiles
//           that C fills (M = N = 57 in tiles of 6 x 10: 90 %), from M = N = 60 for real and 30 for complex numbers;
//           and of that 82 % (three products: 92 %), since registers have ports for no more (docs/tsm/probes.md).
// Number    GB/s, TFLOP/s, and both as a share of the roofline.
// Map       tsm/generated/pipeline.cuh: a slice of the block has all of C, in units of up to 16 bytes, interleaved; a
//           stage has some rows for each slice. Rows lie there without padding; what would meet in a bank is swizzled
//           (stream.cuh).
// Page      docs/tsm/10_pipeline.md
// Source    ours; Ernst et al. (2020) end with registers. cp.async and stages as in stages/15_async_copies.cu.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "common/jit.hpp"
#include "common/stage.cuh"
#include "tsm/generated/combine.cuh"
#include "tsm/generated/pipeline.cuh"
#include "tsm/generated/pipeline_model.hpp"

namespace {

using gemm::KernelOptions;
namespace generated = gemm::generated;

constexpr int MOST_KEPT = 4;     // blocks of an SM that leave partial sums
constexpr double LATENCY = 660;  // cycles of a round trip to device memory (docs/tsm/probes.md)

// Where K is small: of how many stages a block has the rows, at least. Its first stages are on their way at the same
// time, so while one takes less to multiply than to arrive, more of them cost nothing, and fewer blocks leave fewer
// partial sums.
int least_stages(double cycles_of_row, int rows) {
  return std::clamp(static_cast<int>(std::ceil(LATENCY / (cycles_of_row * rows))), 1, generated::pipeline_stages - 1);
}

gemm::JitRequest request(int m, int n, bool is_complex, bool conjugate, generated::Rows rows_a, generated::Rows rows_b,
                         const KernelOptions& o) {
  const generated::PipelineShape s(m, n, is_complex, o);
  std::string kernel = std::string("gemm::generated::tsmttsm_pipeline<") + (is_complex ? "double2" : "double");
  for (const int number : {m, n, s.unit_m, s.unit_n, s.pm, s.pn}) kernel += ", " + std::to_string(number);
  kernel += conjugate && is_complex ? ", true, " : ", false, ";
  kernel += std::to_string(is_complex ? o.products : 1);
  for (const generated::Rows rows : {rows_a, rows_b}) kernel += name_of(rows);
  for (const int number : {o.threads, s.turns, generated::pipeline_stages, s.resident})
    kernel += ", " + std::to_string(number);
  gemm::JitRequest result{.kernel = kernel + ">", .headers = {}, .in_order = true};
  for (const char* const name : {"tsm/generated/pipeline.cuh", "tsm/generated/stream.cuh", "tsm/generated/multiply.cuh",
                                 "tsm/generated/places.cuh", "tsm/generated/block_sum.cuh", "tsm/generated/slices.cuh",
                                 "common/complex.cuh", "common/ptx.cuh"})
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
               bool few_terms, const KernelOptions& asked) {
  KernelOptions o = generated::choose_pipeline(m, n, is_complex, asked);
  if (few_terms && o.products == 3) o.products = 4;
  Plan plan;
  if (const std::string why = generated::pipeline_refusal(m, n, is_complex, o); !why.empty()) {
    plan.status = gemm::Status::unsupported(why);
    return plan;
  }
  const auto [status, kernel] = gemm::find_kernel(request(m, n, is_complex, conjugate, rows_a, rows_b, o));
  plan.status = status;
  plan.kernel = kernel;
  if (!status) return plan;
  const generated::PipelineShape s(m, n, is_complex, o);
  plan.least_rows = s.rows * least_stages(generated::pipeline_cycles(m, n, is_complex, o), s.rows);
  plan.shared = s.shared_bytes();
  plan.threads = o.threads;
  plan.resident = std::min(gemm::blocks_per_multiprocessor(*kernel, o.threads, s.shared_bytes()), MOST_KEPT);
  return plan;
}

template <class T>
const Plan& plan_for(const gemm::TsmttsmProblem<T>& p) {
  static std::map<std::tuple<int, int, bool, generated::Rows, generated::Rows, bool, KernelOptions>, Plan> known;
  const generated::Rows rows_a = generated::rows_of(p.a, p.lda, p.m), rows_b = generated::rows_of(p.b, p.ldb, p.n);
  const bool few_terms = p.depth() < generated::least_terms_of_three_products;
  const auto key = std::tuple(p.m, p.n, p.conjugate, rows_a, rows_b, few_terms, p.kernel);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Plan plan = make_plan(p.m, p.n, sizeof(T) == sizeof(double2), p.conjugate, rows_a, rows_b, few_terms, p.kernel);
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
      gemm::JitCall<generated::TsmttsmPipeline<T>>::launch(*plan.kernel,
                                                           {.grid = blocks,
                                                            .block = static_cast<unsigned>(plan.threads),
                                                            .dynamic_shared = static_cast<unsigned>(plan.shared),
                                                            .stream = stream},
                                                           p.depth(), p.a, p.lda, p.b, p.ldb, partial);
  if (!multiplied) return multiplied;
  return generated::launch_combine<T>(p, partial, static_cast<int>(blocks), stream);
}

constexpr gemm::TsmttsmInfo info = {
    .idea = "rows copied to shared memory stages ahead; registers for the sums alone",
    .min_compute_capability = 80,
    .launch_d = launch<double>,
    .launch_z = launch<double2>,
    .workspace_bytes =
        [](int m, int n, std::int64_t, std::size_t element) {
          return element * m * n * gemm::device_limits().multiprocessors * MOST_KEPT;
        },
    .generated = {.choose = generated::choose_pipeline,
                  .refusal = generated::pipeline_refusal,
                  .candidates = generated::pipeline_candidates,
                  .request = usual_request,
                  .find = gemm::find_kernel},
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
