#include "common/check/hypotheses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/check/hypothesis_groups.hpp"

namespace gemm {
namespace {

void add_scalars(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  const auto& [x, y, out, product] = name;
  const Number alpha = s.alpha(), beta = s.beta();
  const auto add = [&](bool applies, std::string says, Number of_product, Number of_old) {
    if (!applies) return;
    all.push_back({std::move(says), [&s, of_product, of_old](auto i, auto j) -> Maybe {
                     return of_product * s.sum(i, j) + of_old * s.before(i, j);
                   }});
  };
  const bool scaled = alpha != 1.0, added = beta != 0.0;
  add(added, fmt::format("The result is alpha {}: beta {} is missing.", product, out), alpha, 0);
  add(scaled, fmt::format("The factor alpha is missing: the result is {}{}.", product, added ? " + beta " + out : ""),
      1, beta);
  add(scaled && added, fmt::format("The result is {}: alpha and beta {} are missing.", product, out), 1, 0);
  add(added && beta != 1.0, fmt::format("{} is added as it was: it must be multiplied by beta.", out), alpha, 1);
  add(scaled && added, fmt::format("The factor alpha multiplies beta {}, too.", out), alpha, alpha * beta);
  add(scaled, "The factor alpha is in the result twice.", alpha * alpha, beta);
  add(added && beta != 1.0, "The factor beta is in the result twice.", alpha, beta * beta);
  add(scaled && added, "Alpha and beta have changed places.", beta, alpha);
  add(!added, fmt::format("The old {} is added, although beta is 0.", out), alpha, 1);
  add(added, fmt::format("The term beta {} is subtracted, not added.", out), alpha, -beta);
  add(true, fmt::format("The result has the wrong sign: alpha {} is subtracted.", product), -alpha, beta);
  add(true, "These elements are as they were before: nothing is written to them.", 0, 1);
  all.back().unwritten = true;
  add(added, fmt::format("These elements are beta {}: alpha {} is missing.", out, product), 0, beta);
  add(true, "These elements are 0.", 0, 0);
  add(scaled && added, fmt::format("The sum begins with {} itself: alpha multiplies it, and beta does not.", out),
      alpha, alpha);
  add(added && beta != 1.0, fmt::format("Beta multiplies all of it: the result is beta (alpha {} + {}).", product, out),
      beta * alpha, beta);
  for (const int times : {2, 3, 4, 5, 6, 7, 8, 16, 32}) {
    add(added, fmt::format("The term beta {} is added {} times.", out, times), alpha, 1.0 * times * beta);
    add(alpha * alpha != 1.0 * times * alpha, fmt::format("The product alpha {} is added {} times.", product, times),
        1.0 * times * alpha, beta);
  }
  if (alpha.imag() != 0) add(true, "Of alpha the imaginary part is missing.", alpha.real(), beta);
  if (beta.imag() != 0) add(true, "Of beta the imaginary part is missing.", alpha, beta.real());
}

// Alpha and beta that come from elsewhere: from a parameter of another type, or from a launch before.
void add_other_scalars(std::vector<Hypothesis>& all, const SolvedProblem& s) {
  if (!s.earlier) return;
  const Number alpha = s.alpha(), beta = s.beta();
  const auto add = [&](std::string says, Number of_product, Number of_old) {
    if (of_product == alpha && of_old == beta) return;
    all.push_back({std::move(says), [&s, of_product, of_old](auto i, auto j) -> Maybe {
                     return of_product * s.sum(i, j) + of_old * s.before(i, j);
                   }});
  };
  const double whole_alpha = std::trunc(alpha.real()), whole_beta = std::trunc(beta.real());
  add(fmt::format("Alpha is cut off to a whole number, {}.", whole_alpha), whole_alpha, beta);
  add(fmt::format("Beta is cut off to a whole number, {}.", whole_beta), alpha, whole_beta);
  add(fmt::format("Alpha and beta are cut off to whole numbers, {} and {}.", whole_alpha, whole_beta), whole_alpha,
      whole_beta);
  const auto [old_alpha, old_beta] = *s.earlier;
  add(fmt::format("Alpha is {}, as in an earlier launch: it is kept.", old_alpha.real()), old_alpha, beta);
  add(fmt::format("Beta is {}, as in an earlier launch: it is kept.", old_beta.real()), alpha, old_beta);
  add(fmt::format("Alpha is {} and beta {}, as in an earlier launch: they are kept.", old_alpha.real(),
                  old_beta.real()),
      old_alpha, old_beta);
}

// A block that has several tiles of the result in turns, and does not begin each sum at 0.
void add_carried_sums(std::vector<Hypothesis>& all, const SolvedProblem& s) {
  if (s.problem.op != Operation::gemm) return;
  for (const std::int64_t tile : {8, 16, 32, 64, 128}) {
    const std::int64_t tiles_n = (s.cols() + tile - 1) / tile, tiles = (s.rows() + tile - 1) / tile * tiles_n;
    for (std::int64_t blocks = 1; blocks < std::min<std::int64_t>(tiles, 128); ++blocks) {
      all.push_back({fmt::format("The sums of a tile of {0} x {0} go on from those of the tile before, {1} tiles back: "
                                 "each must begin at 0.",
                                 tile, blocks),
                     [&s, tile, tiles_n, blocks](auto i, auto j) -> Maybe {
                       const std::int64_t before = i / tile * tiles_n + j / tile - blocks;
                       const Number mine = s.alpha() * s.sum(i, j) + s.beta() * s.before(i, j);
                       if (before < 0) return mine;
                       const std::int64_t row = before / tiles_n * tile + i % tile,
                                          col = before % tiles_n * tile + j % tile;
                       if (col >= s.cols()) return s.got(i, j);  // zeros, and the sum of a tile before: nobody knows
                       return mine + s.got(row, col) - s.beta() * s.before(row, col);
                     }});
    }
  }
}

// To FP16's 11 bits.
double to_half(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double last = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double rounded = std::nearbyint(x / last) * last;
  return std::abs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

void add_rounded(std::vector<Hypothesis>& all, const SolvedProblem& s) {
  if (result_of(s.problem.type) != Type::f32) return;
  const auto add = [&](const char* says, std::function<double(std::int64_t, std::int64_t)> value) {
    all.push_back({says, [value = std::move(value)](auto i, auto j) -> Maybe { return value(i, j); }});
  };
  const double alpha = s.alpha().real(), beta = s.beta().real();
  const auto old = [&s, beta](auto i, auto j) { return beta == 0 ? 0 : beta * s.before(i, j).real(); };
  add("Each sum is rounded to FP16: whole numbers from 2048 on have too many digits for it.",
      [&s, alpha, old](auto i, auto j) { return alpha * to_half(s.sum(i, j).real()) + old(i, j); });
  add("The sums are kept in FP16: whole numbers from 2048 on have too many digits for it.",
      [&s, alpha, old](auto i, auto j) {
        double sum = 0;
        for (std::int64_t t = 0; t < s.problem.terms(); t += 16)
          sum = to_half(sum + s.sum(i, j, t, std::min(t + 16, s.problem.terms())).real());
        return alpha * sum + old(i, j);
      });
  add("Alpha A B is rounded to FP16: whole numbers from 2048 on have too many digits for it.",
      [&s, alpha, old](auto i, auto j) { return to_half(alpha * s.sum(i, j).real()) + old(i, j); });
  add("The result is rounded to FP16: whole numbers from 2048 on have too many digits for it.",
      [&s](auto i, auto j) { return to_half(s.right(i, j).real()); });
}

void add_conjugates(std::vector<Hypothesis>& all, const SolvedProblem& s) {
  if (s.problem.type != Type::c64) return;
  const auto of = [&s](bool x, bool y) {
    return [&s, x, y](auto i, auto j) -> Maybe {
      Number sum = 0;
      for (std::int64_t t = 0; t < s.problem.terms(); ++t) {
        const Number a = s.left_factor(i, t), b = s.right_factor(t, j);
        sum += (x ? std::conj(a) : a) * (y ? std::conj(b) : b);
      }
      return s.alpha() * sum + s.beta() * s.before(i, j);
    };
  };
  all.push_back({s.problem.conjugate ? "A is transposed, but not conjugated." : "A is conjugated, and must not be.",
                 of(true, false)});
  all.push_back({"The second factor is conjugated, and must not be.", of(false, true)});
  all.push_back({"The wrong factor is conjugated.", of(true, true)});
}

}  // namespace

std::vector<Hypothesis> hypotheses(const SolvedProblem& solved, const std::vector<Element>& wrong) {
  const Names names(solved.problem);
  std::vector<Hypothesis> all;
  if (solved.problem.batch > 1) {  // all others are about a matrix by itself
    add_batches(all, solved, names);
    return all;
  }
  add_other_scalars(all, solved);
  add_scalars(all, solved, names);
  add_steps(all, solved, names, wrong);
  add_places(all, solved, names, wrong);
  add_conjugates(all, solved);
  add_rounded(all, solved);
  add_carried_sums(all, solved);
  return all;
}

}  // namespace gemm
