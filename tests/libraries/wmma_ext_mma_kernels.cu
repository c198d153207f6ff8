#include "tests/libraries/wmma_ext_kernels.cuh"

namespace gemm::wmma_ext_test {

const std::vector<Kind>& mma_kinds() {
  static const std::vector<Kind> kinds =
      kinds_of(wmma_ext::kinds::joined<wmma_ext::kinds::mma_sm_75, wmma_ext::kinds::mma_sm_80>{});
  return kinds;
}

}  // namespace gemm::wmma_ext_test
