// The groups of hypotheses (hypotheses.hpp), one a file but for the short ones: each adds its own to the list.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/check/hypothesis.hpp"

namespace gemm {

using Maybe = std::optional<Number>;

// Of TSMM the factors are A and C, the result is B.
struct Names {
  std::string x, y, out, product;

  explicit Names(const Problem& p)
      : x("A"), y(p.op == Operation::tsmm ? "C" : "B"), out(p.op == Operation::tsmm ? "B" : "C") {
    const char* const mark = p.op != Operation::tsmttsm ? "" : p.conjugate ? "^H" : "^T";
    product = fmt::format("A{} {}", mark, y);
  }
};

// Terms that are missing, come twice or are taken from elsewhere: steps of k.
void add_steps(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name,
               const std::vector<Element>& wrong);
// Matrices with a wrong row stride, transposed, shifted, or whose rows and columns change places.
void add_places(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name,
                const std::vector<Element>& wrong);
// Batches whose matrices are taken from other places.
void add_batches(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name);

}  // namespace gemm
