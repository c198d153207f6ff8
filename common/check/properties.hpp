// What must hold of a stage, and the problems on which each property is tried: `check` and the tests go through the same lists.
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

/// Few trials that together take every path, as ./lab mutate measures. The first ones are those whose failures
/// say most.
Property representative(const Stage& stage);

/// Everything: sizes around those of tiles, rectangles, thin shapes, rows that are padded and misaligned, alpha, beta, kinds of
/// numbers, batches, variants; for each type that the stage takes. On the executor smaller than on a GPU.
std::vector<Property> properties(const Stage& stage);

/// The one of them with this name. Throws std::logic_error.
Property property(const Stage& stage, const std::string& name);

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
