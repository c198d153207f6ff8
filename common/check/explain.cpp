#include "common/check/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/check/hypotheses.hpp"
#include "common/check/stage_run.hpp"
#include "common/check/workbench.hpp"
#include "common/problem/names.hpp"

namespace gemm {
namespace {

// What the hypotheses can go through in a second or so.
constexpr double most_products = 5e7;
// Fewer wrong numbers than this might agree with a hypothesis by chance.
constexpr std::size_t least_evidence = 4;

std::vector<Number> expected_of(const Workbench& bench) {
  const std::vector<double> words = bench.reference().c.to_host();
  const bool pairs = bench.spec().type == Type::c64;
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < words.size(); i += pairs ? 2 : 1)
    numbers.emplace_back(words[i], pairs ? words[i + 1] : 0.0);
  return numbers;
}

std::vector<Element> wrong_elements(const SolvedProblem& solved) {
  std::vector<Element> wrong;
  for (std::int64_t i = 0; i < solved.rows(); ++i) {
    for (std::int64_t j = 0; j < solved.cols(); ++j) {
      if (solved.got(i, j) != solved.right(i, j)) wrong.push_back({i, j});
    }
  }
  return wrong;
}

bool agrees(const Hypothesis& hypothesis, const SolvedProblem& solved, const Element& e) {
  const std::optional<Number> value = hypothesis.value(e.i, e.j);
  return value && *value == solved.got(e.i, e.j);
}

// Of what is right by chance, too.
bool fits_everywhere(const Hypothesis& hypothesis, const SolvedProblem& solved) {
  for (std::int64_t i = 0; i < solved.rows(); ++i) {
    for (std::int64_t j = 0; j < solved.cols(); ++j) {
      if (!agrees(hypothesis, solved, {i, j})) return false;
    }
  }
  return true;
}

// A few of them, far from each other, come first: most hypotheses fail there.
bool fits(const Hypothesis& hypothesis, const SolvedProblem& solved, const std::vector<Element>& wrong) {
  constexpr std::size_t samples = 7;
  for (std::size_t s = 0; s < samples; ++s) {
    if (!agrees(hypothesis, solved, wrong[s * (wrong.size() - 1) / (samples - 1)])) return false;
  }
  return std::ranges::all_of(wrong, [&](const Element& e) { return agrees(hypothesis, solved, e); });
}

// "rows 128 to 130", "column 64"
std::string span(const char* what, std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("{} {}", what, from) : fmt::format("{}s {} to {}", what, from, to);
}

// Which elements are wrong, in words: empty if all are.
std::string region(const SolvedProblem& solved, const std::vector<Element>& wrong) {
  const std::int64_t rows = solved.rows(), cols = solved.cols(), count = static_cast<std::int64_t>(wrong.size());
  if (count == rows * cols) return "";
  std::int64_t top = rows, bottom = 0, left = cols, right = 0;
  for (const Element& e : wrong) {
    top = std::min(top, e.i);
    bottom = std::max(bottom, e.i);
    left = std::min(left, e.j);
    right = std::max(right, e.j);
  }
  if (count == (bottom - top + 1) * (right - left + 1)) {
    if (right - left + 1 == cols) return span("row", top, bottom);
    if (bottom - top + 1 == rows) return span("column", left, right);
    return span("row", top, bottom) + ", " + span("column", left, right);
  }
  // All but whole tiles: the rows from one on, and the columns from one on.
  std::vector<bool> is_wrong(rows * cols);
  for (const Element& e : wrong) is_wrong[e.i * cols + e.j] = true;
  std::int64_t whole_rows = 0, whole_cols = 0;
  while (whole_rows < rows && !is_wrong[whole_rows * cols]) ++whole_rows;
  while (whole_cols < cols && !is_wrong[whole_cols]) ++whole_cols;
  if (count == rows * cols - whole_rows * whole_cols)
    return fmt::format("all but the first {} rows and {} columns", whole_rows, whole_cols);
  return fmt::format("{} of {} elements, in {} and {}", count, rows * cols, span("row", top, bottom),
                     span("column", left, right));
}

// The place where a wrong element is written.
std::vector<std::string> line_of(Workbench& bench, const Contender& contender, const Element& wrong) {
  bench.reset_output();
  const std::size_t bytes = size_of(result_of(bench.spec().type));
  const auto* const address =
      bench.out().data<unsigned char>() + (wrong.i * bench.out().ld() + wrong.j) * static_cast<std::int64_t>(bytes);
  const auto writer = last_writer_apart(contender, bench.problem(), address);
  if (!writer) return {};
  return {fmt::format("{}({}, {}) is written by {}.", result_name(bench.spec().op), wrong.i, wrong.j, *writer)};
}

// With nothing to add up and beta = 0 each result is 0, wherever it goes; what is not written is as it was.
bool begins_elsewhere(ProblemSpec spec, const Contender& contender) {
  spec.beta = spec.beta_imag = 0;
  if (spec.op == Operation::tsmm)
    spec.m = 0;
  else
    spec.k = 0;
  Workbench bench(with_exact_integers(spec), Surroundings::numbers);
  const HostMatrix before = bench.out().to_host();
  const StageRun run = run_apart(contender, bench.problem());
  if (cudaDeviceSynchronize() != cudaSuccess || !run.ended.empty() || !run.observation.defects.empty()) return false;
  const HostMatrix after = bench.out().to_host();
  for (std::int64_t i = 0; i < after.rows; ++i) {
    for (std::int64_t j = 0; j < after.cols; ++j) {
      if (after(i, j) != 0.0 && after(i, j) != before(i, j)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> explain(const ProblemSpec& spec, const Contender& contender, const Comparison* seen) {
  const bool tries = spec.flops() / 2 <= most_products && spec.terms() > 0 && spec.batch == 1 && spec.reads_operands();
  if (!tries || contender.accuracy == Accuracy::tf32) return {};
  Workbench bench(with_exact_integers(spec), Surroundings::numbers);
  SolvedProblem solved{bench.problem(),   bench.x().to_host(), bench.y().to_host(), bench.out().to_host(), {},
                       expected_of(bench)};
  const StageRun run = run_apart(contender, bench.problem());
  // A race makes the result one of many, and what was broken off is none.
  if (cudaDeviceSynchronize() != cudaSuccess || !run.ended.empty() || !run.observation.defects.empty()) return {};
  solved.after = bench.out().to_host();
  const std::vector<Element> wrong = wrong_elements(solved);
  if (wrong.empty() && seen && std::isnan(seen->got)) {
    return {
        "With numbers in the place of NaN, in the old result and around the matrices, it is right: what must not be "
        "read is "
        "read, and multiplied by 0."};
  }
  if (wrong.empty() && seen && !seen->exact) {
    std::vector<std::string> sentences = line_of(bench, contender, {seen->worst_row, seen->worst_col});
    sentences.insert(
        sentences.begin(),
        "On small whole numbers it is right: digits are lost, or numbers are too large or too small for a type.");
    return sentences;
  }
  if (wrong.size() < least_evidence) return {};
  std::vector<std::string> sentences;
  for (const Hypothesis& hypothesis : hypotheses(solved, wrong)) {
    if (!fits(hypothesis, solved, wrong)) continue;
    sentences.push_back(hypothesis.says);
    const std::string where = region(solved, wrong);
    if (!where.empty() && !fits_everywhere(hypothesis, solved))
      sentences.push_back(fmt::format("That is so in {}; the rest is right.", where));
    break;
  }
  if (sentences.empty() && begins_elsewhere(spec, contender))
    sentences.push_back("With no products to add up, and beta = 0, some results are not 0: does each sum begin at 0?");
  for (std::string& line : line_of(bench, contender, wrong.front())) sentences.push_back(std::move(line));
  return sentences;
}

}  // namespace gemm
