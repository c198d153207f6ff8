// Of a tall & skinny stage, in place of what all families have in common.
#pragma once

namespace gemm {

/// What the size of a workspace depends on.
struct Problem {
  std::int64_t m, n, k;
  Type type;

  std::size_t result_bytes() const { return m * n * size_of(type); }
};

struct Launch {
  Status (*d)(const @Problem@<double>&, cudaStream_t) = nullptr;
  Status (*z)(const @Problem@<double2>&, cudaStream_t) = nullptr;
};

}  // namespace gemm
