// Anything that claims to solve a problem: a stage, or a library it is compared with.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"
#include "common/problem/registry.hpp"

namespace gemm {

struct Contender {
  std::string id;
  Accuracy accuracy = Accuracy::fp32;
  std::function<Status(const Problem&, cudaStream_t)> launch;
  const Stage* stage = nullptr;              ///< null for a library
  std::optional<KernelOptions> kernel = {};  ///< in the place of the problem's
  /// What it chose for the problem that it was launched with last (Stage::policy); empty: it has no choice.
  std::function<std::string(const Problem&)> policy = {};
};

/// A stage as a contender. Its scratch memory is allocated at the first launch of a problem that needs more, so outside
/// of what is timed, and filled with NaN: nobody may count on its contents.
Contender contender(const Stage& stage);

/// The same with options of its own, so that one problem can be solved with many. The stage generates its kernels.
Contender with_options(Contender contender, const KernelOptions& options);

/// The libraries of this back end for a type, the yardstick first: cuBLAS with compute type FP32 (pedantic: no Tensor
/// Cores), then with TF32; with FP16 operands and FP32 sums; or with FP64, where it may use Tensor Cores. Empty on the
/// CPU executor.
const std::vector<Contender>& baselines(Type type = Type::f32);

}  // namespace gemm
