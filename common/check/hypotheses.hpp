// What a result would be if a kernel had one of the usual mistakes.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/check/matrix.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

using Number = std::complex<double>;

/// A product of whole numbers, and what a kernel made of it, in host memory. Elements of the result are (i, j), its terms t.
struct SolvedProblem {
  Problem problem;
  HostMatrix x, y, before, after;                         ///< X, Y and the result before and after the launch
  std::vector<Number> expected;                           ///< row-major
  std::optional<std::pair<Number, Number>> earlier = {};  ///< alpha and beta of launches before, where they were others

  std::int64_t rows() const { return after.rows; }
  std::int64_t cols() const { return after.cols; }
  Number right(std::int64_t i, std::int64_t j) const { return expected[i * cols() + j]; }
  Number got(std::int64_t i, std::int64_t j) const { return after(i, j); }
  /// op(X)(i, t), Y(t, j).
  Number left_factor(std::int64_t i, std::int64_t t) const {
    if (problem.op != Operation::tsmttsm) return x(i, t);
    return problem.conjugate ? std::conj(x(t, i)) : x(t, i);
  }
  Number right_factor(std::int64_t t, std::int64_t j) const { return y(t, j); }
  Number alpha() const { return {problem.alpha.real, problem.alpha.imag}; }
  Number beta() const { return {problem.beta.real, problem.beta.imag}; }
  /// The sum of products from one term to another, without it.
  Number sum(std::int64_t i, std::int64_t j, std::int64_t from, std::int64_t to) const;
  Number sum(std::int64_t i, std::int64_t j) const { return sum(i, j, 0, problem.terms()); }
};

struct Hypothesis {
  std::string says;  ///< a sentence
  /// What the element would be; nothing where the hypothesis says nothing of it.
  std::function<std::optional<Number>(std::int64_t i, std::int64_t j)> value;
  bool unwritten = false;  ///< the elements are those from before
};

struct Element {
  std::int64_t i, j;
};

/// Those worth a try, the simplest first. `wrong` are some elements that are wrong; what holds of them narrows the choice down.
/// The solved problem must outlive them.
std::vector<Hypothesis> hypotheses(const SolvedProblem& solved, const std::vector<Element>& wrong);

}  // namespace gemm
