// What a launch of tsm/10 takes besides the model's choice: how few blocks, and other options for a Gram matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "tsm/generated/pipeline_model.hpp"

namespace gemm::generated {

/// Where K is small: of how many stages a block has the rows, at least. Its first stages are in flight at the same time,
/// so while one takes less to multiply than to arrive, more of them cost nothing, and fewer blocks leave fewer partial
/// sums.
inline int least_stages(double cycles_of_row, int rows) {
  constexpr double latency = 660;  // cycles of a round trip to device memory (docs/tsm/probes.md)
  return std::clamp(static_cast<int>(std::ceil(latency / (cycles_of_row * rows))), 1, pipeline_stages - 1);
}

/// B is A: rows of one matrix are copied, so a stage has more of them.
inline KernelOptions choose_pipeline_gram(int m, int n, bool is_complex, const KernelOptions& asked) {
  KernelOptions o = choose_pipeline(m, n, is_complex, asked);
  if (asked.unroll) return o;
  o.unroll = 0;
  o.unroll = PipelineShape(m, n, is_complex, o, true).turns;
  return o;
}
inline std::string pipeline_gram_refusal(int m, int n, bool is_complex, const KernelOptions& o) {
  return refusal_of_pipeline(m, n, is_complex, o, true);
}

}  // namespace gemm::generated
