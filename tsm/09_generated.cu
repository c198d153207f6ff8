// 09 generated: a kernel for exactly this M and N, compiled when it is asked for, with the options that a model picks.
//
// Idea      What the compiler knows costs nothing at run time: M, N, tile, edges, how many rows are held. So nothing is
//           general: each problem has its own kernel, written once as a template and compiled at the first launch.
// Change    One kernel in the place of 03 to 08, its choices made by a model, or one by one on the command line.
// Limit     The registers: they hold the sums and the rows on their way. Where C is wide, its tiles leave no room for
//           as many bytes as latency asks for; where it is narrow, the memory's bandwidth.
// Number    Registers of the compiled kernel against the line 2 (TM TN + 2 (TM + TN) + 8); GB/s of A and B.
// Map       tsm/generated/kernel.cuh: slices of ceil(M / TM) x ceil(N / TN) threads, columns interleaved.
// Page      docs/tsm/09_generated.md
// Source    Ernst et al. (2020), sections 2.1 and 3: code generation for each size, and the options.
#include <algorithm>
#include <map>
#include <tuple>

#include "common/complex.cuh"
#include "common/jit.hpp"
#include "common/stage.cuh"
#include "tsm/generated/combine.cuh"
#include "tsm/generated/kernel.cuh"
#include "tsm/generated/model.hpp"

namespace {

using gemm::KernelOptions;
using gemm::Reduction;
namespace generated = gemm::generated;

constexpr int THREADS = 256;
constexpr int LEAST_ROWS = 8;  // of a slice: fewer threads where K is small
constexpr int MOST_KEPT = 8;   // blocks of an SM that keep partial sums

// Blocks leave their sums in the workspace. With no reduction at all nobody adds them up (an experiment's yardstick).
bool keeps_sums(const KernelOptions& o) {
  return o.reduction == Reduction::ordered || o.reduction == Reduction::none;
}

gemm::JitRequest request(int m, int n, bool is_complex, bool conjugate, const KernelOptions& o) {
  std::string kernel = std::string("gemm::generated::tsmttsm<") + (is_complex ? "double2" : "double");
  const auto add = [&](int number) { kernel += ", " + std::to_string(number); };
  const auto add_bool = [&](bool yes) { kernel += yes ? ", true" : ", false"; };
  for (const int number : {m, n, o.tile_m, o.tile_n}) add(number);
  for (const bool yes : {conjugate && is_complex, *o.transposed, *o.leapfrog}) add_bool(yes);
  add(o.unroll);
  for (const bool yes : {o.reduction != Reduction::atomics, keeps_sums(o)}) add_bool(yes);
  add(o.threads);
  add(generated::resident_blocks(o, is_complex));
  return {kernel + ">",
          {gemm::kernel_header("tsm/generated/kernel.cuh"), gemm::kernel_header("tsm/generated/block_sum.cuh"),
           gemm::kernel_header("tsm/generated/slices.cuh"), gemm::kernel_header("common/complex.cuh")}};
}

template <class T>
__global__ void scale(int m, int n, T beta, T* c, std::int64_t ldc) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= m * n) return;
  T* const out = c + element / n * ldc + element % n;
  *out = gemm::scaled(T{}, T{}, beta, out);
}

// What is settled once for each M, N and set of options, so that later launches cost a look into a map.
struct Plan {
  KernelOptions options;
  gemm::Status status;
  const gemm::JitKernel* kernel = nullptr;
  generated::Slices slices{};
  unsigned shared = 0;
  int resident = 1;  // blocks of an SM
};

Plan make_plan(int m, int n, bool is_complex, bool conjugate, const KernelOptions& asked) {
  Plan plan;
  plan.options = generated::choose(m, n, is_complex, asked);
  const KernelOptions& o = plan.options;
  if (const std::string why = generated::refusal(m, n, is_complex, o); !why.empty()) {
    plan.status = gemm::Status::unsupported(why);
    return plan;
  }
  const auto [status, kernel] = gemm::find_kernel(request(m, n, is_complex, conjugate, o));
  plan.status = status;
  plan.kernel = kernel;
  if (!status) return plan;
  plan.slices = generated::slices_of(is_complex ? 16 : 8, m, n, o.tile_m, o.tile_n, o.threads);
  plan.shared = o.reduction == Reduction::atomics ? 0 : plan.slices.shared_bytes;
  plan.resident = gemm::blocks_per_multiprocessor(*kernel, o.threads, plan.shared);
  if (keeps_sums(o)) plan.resident = std::min(plan.resident, MOST_KEPT);
  return plan;
}

template <class T>
const Plan& plan_for(const gemm::TsmttsmProblem<T>& p) {
  static std::map<std::tuple<int, int, bool, KernelOptions>, Plan> known;
  const auto key = std::tuple(p.m, p.n, p.conjugate, p.kernel);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Plan plan = make_plan(p.m, p.n, sizeof(T) == sizeof(double2), p.conjugate, p.kernel);
  return known[key] = std::move(plan);
}

template <class T>
gemm::Status launch(const gemm::TsmttsmProblem<T>& p, cudaStream_t stream) {
  const int all = p.m * p.n;
  if (all == 0) return gemm::Status::ok();
  const Plan& plan = plan_for(p);
  if (!plan.status) return plan.status;
  if (!keeps_sums(plan.options)) {
    const gemm::Status scaled = gemm::launch(
        scale<T>, {.grid = static_cast<unsigned>(gemm::ceil_div(all, THREADS)), .block = THREADS, .stream = stream},
        p.m, p.n, p.beta, p.c, p.ldc);
    if (!scaled || p.depth() == 0) return scaled;
  }

  const std::int64_t least = static_cast<std::int64_t>(plan.slices.count) * LEAST_ROWS;
  const std::int64_t places = static_cast<std::int64_t>(gemm::device_limits().multiprocessors) * plan.resident;
  const auto blocks = static_cast<unsigned>(std::min((p.depth() + least - 1) / least, places));
  T* const partial = static_cast<T*>(p.workspace);
  const gemm::Status multiplied =
      gemm::JitCall<generated::Tsmttsm<T>>::launch(*plan.kernel,
                                                   {.grid = blocks,
                                                    .block = static_cast<unsigned>(plan.options.threads),
                                                    .dynamic_shared = plan.shared,
                                                    .stream = stream},
                                                   p.depth(), p.alpha, p.a, p.lda, p.b, p.ldb, p.c, p.ldc, partial);
  if (!multiplied || plan.options.reduction != Reduction::ordered) return multiplied;
  return generated::launch_combine<T>(p, partial, static_cast<int>(blocks), stream);
}

constexpr gemm::TsmttsmInfo info = {
    .idea = "a kernel for exactly this M and N, compiled when it is asked for",
    .launch_d = launch<double>,
    .launch_z = launch<double2>,
    .workspace_bytes =
        [](int m, int n, std::int64_t, std::size_t element) {
          return element * m * n * gemm::device_limits().multiprocessors * MOST_KEPT;
        },
    .waits =
        [](int m, int n, std::int64_t k, int sms) {
          const KernelOptions o = generated::choose(std::max(m, 1), std::max(n, 1), false, {});
          const auto slices = generated::slices_of(8, std::max(m, 1), std::max(n, 1), o.tile_m, o.tile_n, o.threads);
          const int at_a_time = generated::resident_blocks(o, false) * slices.count * o.unroll * 2;
          return static_cast<double>(k) / (static_cast<double>(sms) * at_a_time);
        },
    .generated = {.choose = generated::choose,
                  .refusal = generated::refusal,
                  .candidates = generated::candidates,
                  .request = request,
                  .find = gemm::find_kernel},
};
const gemm::Registration registration{__FILE__, info};

}  // namespace
