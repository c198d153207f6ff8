// The layouts of tensorcore/wmma_ext/ against those of the executor, which H100 and H200 have confirmed, and against
// themselves: map() is the inverse of place(). On the host.
#include <gtest/gtest.h>

#include <set>

#include "common/simt/language/fragment_places.hpp"
#include "tensorcore/wmma_ext/wmma_ext.hpp"

namespace wmma_ext {
namespace {

template <class Fragment>
void compare() {
  using traits = fragment_traits<Fragment>;
  int wrong = 0;
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < traits::elements; ++i) {
      const position p = traits::place(lane, i);
      seen.insert({p.row, p.col});
      wrong += !(p.row >= 0 && p.row < traits::rows && p.col >= 0 && p.col < traits::cols);
      const auto at = map<Fragment>(p.row, p.col);
      wrong += !(at.lane == lane && static_cast<int>(at.indices[i / traits::held]) == i);
      wrong += at.indices.size() != traits::copies;
    }
  }
  wrong += seen.size() != static_cast<std::size_t>(traits::rows * traits::cols);  // all elements are held
  EXPECT_EQ(wrong, 0) << kinds::description<Fragment>();
}

template <class Use, int m, int n, int k, class T, class Layout>
void compare_with_executor(std::type_identity<nvcuda::wmma::fragment<Use, m, n, k, T, Layout>>) {
  using Fragment = nvcuda::wmma::fragment<Use, m, n, k, T, Layout>;
  using Places = simt::FragmentPlaces<Use, m, n, k, T>;
  compare<Fragment>();
  static_assert(fragment_traits<Fragment>::held == Places::held);
  static_assert(fragment_traits<Fragment>::elements == static_cast<int>(Fragment::num_elements));
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < Places::held; ++i) {
      const position p = place<Use, m, n, k, T, Layout>(lane, i);
      const simt::Place q = Places::place(lane, i);
      wrong += !(p.row == q.row && p.col == q.col);
    }
  }
  EXPECT_EQ(wrong, 0) << kinds::description<Fragment>();
}

template <class... Fragments>
void compare_all(kinds::list<Fragments...>) {
  (compare_with_executor(std::type_identity<Fragments>{}), ...);
}
template <class... Fragments>
void compare_single_instructions(kinds::list<Fragments...>) {
  (compare<Fragments>(), ...);
}

TEST(FragmentTables, OfWmmaAreTheExecutors) {
  compare_all(kinds::wmma_sm_75{});
  compare_all(kinds::wmma_sm_80{});
}

TEST(FragmentTables, OfSingleInstructionsAreTheExecutors) {
  compare_single_instructions(kinds::mma_sm_75{});
  compare_single_instructions(kinds::mma_sm_80{});
  const auto same = [](simt::Place (*executor)(int, int), auto fragment) {
    using traits = fragment_traits<typename decltype(fragment)::type>;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < traits::held; ++i) {
        const position p = traits::place(lane, i);
        const simt::Place q = executor(lane, i);
        EXPECT_TRUE(p.row == q.row && p.col == q.col) << lane << ", " << i;
      }
    }
  };
  const auto a16 = [](int lane, int i) { return simt::place_in_a16(lane, i); };
  const auto b16 = [](int lane, int i) { return simt::place_in_b16(lane, i); };
  const auto c = [](int lane, int i) { return simt::place_in_c(lane, i); };
  const auto a32 = [](int lane, int i) { return simt::place_in_a32(lane, i); };
  const auto b32 = [](int lane, int i) { return simt::place_in_b32(lane, i); };
  const auto a64 = [](int lane, int i) { return simt::place_in_a64(lane, i); };
  const auto b64 = [](int lane, int i) { return simt::place_in_b64(lane, i); };
  same(a16, std::type_identity<mma::fragment<matrix_a, 16, 8, 16, __half, row_major>>{});
  same(a16, std::type_identity<mma::fragment<matrix_a, 16, 8, 8, __half, row_major>>{});
  same(b16, std::type_identity<mma::fragment<matrix_b, 16, 8, 16, __nv_bfloat16, row_major>>{});
  same(b16, std::type_identity<mma::fragment<matrix_b, 16, 8, 8, __half, row_major>>{});
  same(c, std::type_identity<mma::fragment<accumulator, 16, 8, 16, float>>{});
  same(c, std::type_identity<mma::fragment<accumulator, 16, 8, 8, __half>>{});
  same(a32, std::type_identity<mma::fragment<matrix_a, 16, 8, 8, precision::tf32, row_major>>{});
  same(b32, std::type_identity<mma::fragment<matrix_b, 16, 8, 8, precision::tf32, row_major>>{});
  same(a64, std::type_identity<mma::fragment<matrix_a, 8, 8, 4, double, row_major>>{});
  same(b64, std::type_identity<mma::fragment<matrix_b, 8, 8, 4, double, row_major>>{});
  same(c, std::type_identity<mma::fragment<accumulator, 8, 8, 4, double>>{});
}

// The layout is known to the compiler, so that a constant place costs no calculation.
using U = nvcuda::wmma::fragment<matrix_b, 16, 16, 16, __half, col_major>;
static_assert(map<U, 3, 9>().lane == 5 && map<U, 3, 9>().indices[0] == 5 && map<U, 3, 9>().indices[1] == 13);
static_assert(place<matrix_a, 16, 8, 16, __half>(31, 7).row == 15 &&
              place<matrix_a, 16, 8, 16, __half>(31, 7).col == 15);

}  // namespace
}  // namespace wmma_ext
