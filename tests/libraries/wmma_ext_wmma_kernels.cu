#include "tests/libraries/wmma_ext_kernels.cuh"

namespace gemm::wmma_ext_test {

const std::vector<Kind>& wmma_kinds() {
  static const std::vector<Kind> kinds =
      kinds_of(wmma_ext::kinds::joined<wmma_ext::kinds::wmma_sm_75, wmma_ext::kinds::wmma_sm_80>{});
  return kinds;
}

}  // namespace gemm::wmma_ext_test
