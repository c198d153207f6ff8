// Reflections and rotations that are right, and some with a mistake, for tests/stages/test_tensor_probes.cpp.
#pragma once

#include <cstdint>

#include "common/kernel/status.hpp"
#include "tensorcore/transforms.hpp"

namespace gemm::transform_test {

enum class Flaw {
  none,
  first_matrix,   ///< parameters of the first matrix for all
  last_matrix,    ///< the last one has no result
  few_matrices,   ///< one in 32 has a result
  one_column,     ///< the last column of each is left as it was
  not_doubled,    ///< I - v v^T
  inner_product,  ///< I - 2 v^T v, a number, in place of a matrix
  other_way,      ///< by -theta
  others_zero,    ///< rows that a rotation leaves alone become zero
};

/// B = (I - 2 v v^T) A, one thread a column.
Status reflect(Flaw flaw, const transforms::Matrices& matrices, std::int64_t count);
/// B = G(i, j, theta) A, one thread a column.
Status rotate(Flaw flaw, const transforms::Matrices& matrices, std::int64_t count, int i, int j);

enum class Listing {
  corrected,
  as_printed,  ///< but for the second loop's index: adds 1 wherever i = j, in every block
  bi_for_bj,   ///< sets the blocks on the diagonal only; the other two, which nothing sets, are zero here
};

/// Code 5 of Ootomo and Yokota (2023), m = 32: H for a warp in four fragments, and H A.
Status code_5(Listing listing, const transforms::Matrices& matrices, std::int64_t count);

}  // namespace gemm::transform_test
