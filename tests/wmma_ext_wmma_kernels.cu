#include "tests/wmma_ext_kernels.cuh"

namespace gemm::wmma_ext_test {
namespace {

// A table in which lane 5 has two elements the wrong way round, of one kind only.
template <class WrongKind>
struct WrongTable {
  template <class F>
  static constexpr wmma_ext::position place(int lane, int i) {
    const bool swap = std::is_same_v<F, WrongKind> && lane == 5;
    return fragment_traits<F>::place(lane, swap ? i ^ 1 : i);
  }
};

}  // namespace

const std::vector<Kind>& wmma_kinds() {
  static const std::vector<Kind> kinds =
      kinds_of(wmma_ext::kinds::joined<wmma_ext::kinds::wmma_sm_75, wmma_ext::kinds::wmma_sm_80>{});
  return kinds;
}

std::string self_test() {
  return wmma_ext::self_test();
}
std::string self_test_with_wrong_wmma_table() {
  return wmma_ext::self_test<WrongTable<wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::col_major>>>();
}
std::string self_test_with_wrong_mma_table() {
  return wmma_ext::self_test<WrongTable<wmma_ext::mma::fragment<wmma::matrix_a, 16, 8, 8, __half, wmma::row_major>>>();
}
std::string architecture_problem(int compiled, int device) {
  return wmma_ext::detail::architecture_problem(compiled, device);
}

}  // namespace gemm::wmma_ext_test
