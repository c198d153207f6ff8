// For test_tall_skinny.cpp, which a GPU build compiles without nvcc.
#include "common/kernel/launch.cuh"

namespace gemm {

/// Lets a block of the executor have so much shared memory; what it had before, or 0 on a GPU, which has what it has.
int set_shared_bytes_per_block([[maybe_unused]] int bytes) {
#ifdef __CUDACC__
  return 0;
#else
  const int before = executor_limits.shared_bytes_per_block;
  executor_limits.shared_bytes_per_block = bytes;
  return before;
#endif
}

}  // namespace gemm
