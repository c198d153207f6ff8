// Something that must hold of a stage, and shapes of problems on which that is tried.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/problem/registry.hpp"
#include "common/problem/spec.hpp"

namespace gemm {

/// A form of a stage, which may be a variant, on one problem.
struct Trial {
  const Stage* form = nullptr;
  ProblemSpec spec;
};

struct Property {
  std::string name;  ///< a word or two, as on the command line and in JUnit
  std::string says;  ///< what holds if all of its trials pass
  std::vector<Trial> trials = {};
};

/// Shapes for trials, and for tests. C is m x n.
ProblemSpec box(int m, int n, int k);
ProblemSpec tall(Operation op, Type type, int m, int n, std::int64_t k);
/// The same with alpha and beta.
ProblemSpec scaled(ProblemSpec spec, double alpha, double beta);
/// Nothing is round: rows padded by odd numbers, misaligned, alpha and beta, and of complex problems nothing real.
ProblemSpec awkward(ProblemSpec spec);
ProblemSpec awkward(int m, int n, int k);

/// A small ragged problem of this kind with alpha and beta, its rows padded by more than a tile's width: what a missing guard
/// touches lies in the padding, and not in a neighbour's row.
ProblemSpec ragged(const Stage& stage, Type type);

}  // namespace gemm
