#include "common/check/contender.hpp"

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "common/backend/device_memory.hpp"

namespace gemm {

namespace {

// What a stage may look at to say how much it needs.
auto needs_of(const Problem& p) {
  return std::tuple(p.op, p.type, p.conjugate, p.m, p.n, p.k, p.alpha.zero(), p.beta.zero(), p.x, p.ldx, p.y, p.ldy,
                    p.out, p.ldout, p.batch, p.stride_x, p.stride_y, p.stride_out, p.kernel);
}

struct Scratch {
  DeviceArray<unsigned char> memory;
  std::optional<decltype(needs_of({}))> latest;  // for which it is large enough
};

}  // namespace

Contender contender(const Stage& stage) {
  if (!stage.workspace_bytes) return {stage.id, stage.accuracy, stage.launch, &stage};
  const auto scratch = std::make_shared<Scratch>();
  const auto launch = [&stage, scratch](const Problem& problem, cudaStream_t stream) {
    // Asked once for a problem: tsm/14 asks all stages for their answer, and in timed launches that would count as its
    // own time.
    const auto needs = needs_of(problem);
    if (scratch->latest != needs) {
      const std::size_t needed = stage.workspace_bytes(problem);
      if (scratch->memory.size() < needed) {
        scratch->latest.reset();
        scratch->memory = DeviceArray<unsigned char>();  // the old one first: both may not fit
        scratch->memory = DeviceArray<unsigned char>(needed);
        check_cuda(cudaMemsetAsync(scratch->memory.data(), 0xff, needed, stream), "fill the workspace");
        check_cuda(cudaMemsetAsync(scratch->memory.data(), 0, stage.workspace_zeros, stream), "clear its beginning");
      }
      scratch->latest = needs;
    }
    Problem with_workspace = problem;
    with_workspace.workspace = scratch->memory.data();
    return stage.launch(with_workspace, stream);
  };
  Contender result{stage.id, stage.accuracy, launch, &stage};
  if (stage.emulation.policy) {
    result.policy = [&stage, scratch](Problem problem) {
      problem.workspace = scratch->memory.data();
      return stage.emulation.policy(problem);
    };
  }
  return result;
}

Contender with_options(Contender contender, const KernelOptions& options) {
  contender.launch = [launch = std::move(contender.launch), options](Problem problem, cudaStream_t stream) {
    problem.kernel = options;
    return launch(problem, stream);
  };
  contender.kernel = options;
  return contender;
}

}  // namespace gemm
