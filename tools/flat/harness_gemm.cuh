// Of a stage that multiplies FP32 or FP16 matrices, in place of what all families have in common.
#pragma once

namespace gemm {

using Problem = @Problem@;
using Launch = Status (*)(const Problem&, cudaStream_t);

}  // namespace gemm
