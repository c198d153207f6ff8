#include "common/check/contender.hpp"

#include <memory>
#include <utility>

#include "common/backend/device_memory.hpp"

namespace gemm {

Contender contender(const Stage& stage) {
  if (!stage.workspace_bytes) return {stage.id, stage.accuracy, stage.launch, &stage};
  const auto scratch = std::make_shared<DeviceArray<unsigned char>>();
  const auto launch = [&stage, scratch](const Problem& problem, cudaStream_t stream) {
    const std::size_t needed = stage.workspace_bytes(problem);
    if (scratch->size() < needed) {
      *scratch = DeviceArray<unsigned char>();  // the old one first: both may not fit
      *scratch = DeviceArray<unsigned char>(needed);
      check_cuda(cudaMemsetAsync(scratch->data(), 0xff, needed, stream), "fill the workspace");
      check_cuda(cudaMemsetAsync(scratch->data(), 0, stage.workspace_zeros, stream), "clear its beginning");
    }
    Problem with_workspace = problem;
    with_workspace.workspace = scratch->data();
    return stage.launch(with_workspace, stream);
  };
  Contender result{stage.id, stage.accuracy, launch, &stage};
  if (stage.emulation.policy) {
    result.policy = [&stage, scratch](Problem problem) {
      problem.workspace = scratch->data();
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
