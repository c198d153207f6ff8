#include "common/contender.hpp"

#include <memory>

#include "common/device_memory.hpp"

namespace gemm {

Contender contender(const Stage& stage) {
  if (!stage.workspace_floats) return {stage.id, stage.accuracy, stage.launch, &stage};
  const auto scratch = std::make_shared<DeviceArray<float>>();
  const auto launch = [&stage, scratch](const SgemmProblem& problem, cudaStream_t stream) {
    const std::size_t needed = stage.workspace_floats(problem);
    if (scratch->size() < needed) {
      *scratch = DeviceArray<float>();  // the old one first: both may not fit
      *scratch = DeviceArray<float>(needed);
      check_cuda(cudaMemsetAsync(scratch->data(), 0xff, needed * sizeof(float), stream), "fill the workspace");
      check_cuda(cudaMemsetAsync(scratch->data(), 0, stage.workspace_zeros * sizeof(float), stream), "clear its beginning");
    }
    SgemmProblem with_workspace = problem;
    with_workspace.workspace = scratch->data();
    return stage.launch(with_workspace, stream);
  };
  return {stage.id, stage.accuracy, launch, &stage};
}

}  // namespace gemm
