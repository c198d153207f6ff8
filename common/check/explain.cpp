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

SolvedProblem unsolved(const Workbench& bench) {
  return {bench.problem(), bench.x().to_host(), bench.y().to_host(), bench.out().to_host(), {}, expected_of(bench)};
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

// Where the hypothesis holds, in words: empty if everywhere. What is right by chance does not show.
std::string region(const Hypothesis& hypothesis, const SolvedProblem& solved, const std::vector<Element>& wrong) {
  const std::int64_t rows = solved.rows(), cols = solved.cols();
  std::int64_t top = rows, bottom = 0, left = cols, right = 0;
  std::vector<bool> is_wrong(rows * cols), holds(rows * cols);
  for (const Element& e : wrong) {
    is_wrong[e.i * cols + e.j] = true;
    top = std::min(top, e.i);
    bottom = std::max(bottom, e.i);
    left = std::min(left, e.j);
    right = std::max(right, e.j);
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) holds[i * cols + j] = agrees(hypothesis, solved, {i, j});
  }
  // Whether it holds in all of these places, and nothing is wrong elsewhere.
  const auto is_there = [&](const auto& inside) {
    for (std::int64_t at = 0; at < rows * cols; ++at) {
      if (inside(at / cols, at % cols) ? !holds[at] : is_wrong[at]) return false;
    }
    return true;
  };
  if (is_there([](auto, auto) { return true; })) return "";
  if (is_there([&](auto i, auto j) { return i >= top && i <= bottom && j >= left && j <= right; })) {
    if (right - left + 1 == cols) return span("row", top, bottom);
    if (bottom - top + 1 == rows) return span("column", left, right);
    return span("row", top, bottom) + ", " + span("column", left, right);
  }
  const std::int64_t first = wrong.front().i * cols + wrong.front().j;
  if (is_there([&](auto i, auto j) { return i * cols + j >= first; }))
    return fmt::format("all from {}({}, {}) on, row by row: behind the first {} elements",
                       result_name(solved.problem.op), wrong.front().i, wrong.front().j, first);
  // All but whole tiles: the rows from one on, and the columns from one on.
  std::int64_t whole_rows = 0, whole_cols = 0;
  while (whole_rows < rows && !is_wrong[whole_rows * cols]) ++whole_rows;
  while (whole_cols < cols && !is_wrong[whole_cols]) ++whole_cols;
  if (is_there([&](auto i, auto j) { return i >= whole_rows || j >= whole_cols; }))
    return fmt::format("all but the first {} rows and {} columns", whole_rows, whole_cols);
  return fmt::format("{} of {} elements, in {} and {}", wrong.size(), rows * cols, span("row", top, bottom),
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

// The stage's work on the problem of this bench; false if it is broken off, or if a race makes it one of many.
bool run(Workbench& bench, const Contender& contender, std::vector<LaunchRecord>* launches = nullptr) {
  const StageRun run = run_apart(contender, bench.problem(), {.counts = false});
  if (launches) *launches = run.launches;
  return cudaDeviceSynchronize() == cudaSuccess && run.ended.empty() && run.observation.defects.empty();
}

// With nothing to add up and beta = 0 each result is 0, wherever it goes; what is not written is as it was.
bool begins_elsewhere(ProblemSpec spec, const Contender& contender) {
  spec.beta = spec.beta_imag = 0;
  if (spec.op == Operation::tsmm)
    spec.m = 0;
  else
    spec.k = 0;
  Workbench traps(with_exact_integers(spec));
  if (!run(traps, contender)) return false;  // it reads what is not there: that is another mistake
  Workbench bench(with_exact_integers(spec), Surroundings::numbers);
  const HostMatrix before = bench.out().to_host();
  if (!run(bench, contender)) return false;
  const HostMatrix after = bench.out().to_host();
  for (std::int64_t i = 0; i < after.rows; ++i) {
    for (std::int64_t j = 0; j < after.cols; ++j) {
      if (after(i, j) != 0.0 && after(i, j) != before(i, j)) return true;
    }
  }
  return false;
}

// The only launch, where elements are not written; or one that has no blocks.
std::vector<std::string> launches_in_words(const std::vector<LaunchRecord>& launches) {
  const auto product = [](const dim3& d) {
    return d.z == 1 ? fmt::format("{} x {}", d.x, d.y) : fmt::format("{} x {} x {}", d.x, d.y, d.z);
  };
  for (const LaunchRecord& launch : launches) {
    const auto& [grid, block] = std::pair(launch.shape.grid, launch.shape.block);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
      return {fmt::format("A launch has {} blocks: no thread runs.", product(grid))};
    if (launches.size() == 1)
      return {fmt::format("The launch has {} blocks of {} threads, x first.", product(grid), product(block))};
  }
  return {};
}

// The hypothesis that fits, and where it holds; nothing if none does.
std::vector<std::string> cause(const SolvedProblem& solved, const std::vector<Element>& wrong,
                               const std::vector<LaunchRecord>& launches) {
  for (const Hypothesis& hypothesis : hypotheses(solved, wrong)) {
    if (!fits(hypothesis, solved, wrong)) continue;
    std::vector<std::string> sentences = {hypothesis.says};
    if (const std::string where = region(hypothesis, solved, wrong); !where.empty())
      sentences.push_back(fmt::format("That is so in {}; the rest is right.", where));
    if (hypothesis.unwritten) {
      for (std::string& sentence : launches_in_words(launches)) sentences.push_back(std::move(sentence));
    }
    return sentences;
  }
  return {};
}

// What is right in whole numbers is tried with the problem's own alpha and beta, which are others. Nothing if it is right
// then, too.
std::vector<std::string> wrong_scalars(const ProblemSpec& spec, const Contender& contender) {
  const ProblemSpec usual = with_exact_integers(spec);
  ProblemSpec own = usual;
  own.alpha = spec.alpha;
  own.alpha_imag = spec.alpha_imag;
  own.beta = spec.beta;
  own.beta_imag = spec.beta_imag;
  const std::vector<std::string> nothing_more = {
      fmt::format("On small whole numbers, with alpha = {} and beta = {}, it is right.", usual.alpha, usual.beta)};
  for (const double scalar : {own.alpha, own.alpha_imag, own.beta, own.beta_imag}) {
    if (scalar * 4 != std::trunc(scalar * 4) || std::abs(scalar) > 4) return nothing_more;  // sums may not be exact
  }
  Workbench bench(own, Surroundings::numbers);
  SolvedProblem solved = unsolved(bench);
  solved.earlier = std::pair(Number(usual.alpha, usual.alpha_imag), Number(usual.beta, usual.beta_imag));
  if (!run(bench, contender)) return nothing_more;
  solved.after = bench.out().to_host();
  const std::vector<Element> wrong = wrong_elements(solved);
  if (wrong.empty()) return {};
  std::vector<std::string> sentences = wrong.size() < least_evidence ? nothing_more : cause(solved, wrong, {});
  if (sentences.empty()) sentences = nothing_more;
  for (std::string& line : line_of(bench, contender, wrong.front())) sentences.push_back(std::move(line));
  return sentences;
}

}  // namespace

std::vector<std::string> explain(const ProblemSpec& spec, const Contender& contender, const Comparison* seen) {
  const bool tries = spec.flops() / 2 <= most_products && spec.terms() > 0 && spec.reads_operands();
  if (!tries || contender.accuracy == Accuracy::tf32) return {};
  Workbench bench(with_exact_integers(spec), Surroundings::numbers);
  SolvedProblem solved = unsolved(bench);
  std::vector<LaunchRecord> launches;
  if (!run(bench, contender, &launches)) return {};
  solved.after = bench.out().to_host();
  const std::vector<Element> wrong = wrong_elements(solved);
  if (wrong.empty() && seen && std::isnan(seen->got)) {
    return {
        "With numbers in the place of NaN, in the old result and around the matrices, it is right: what must not be "
        "read is read, and multiplied by 0."};
  }
  if (wrong.empty() && seen && !seen->exact) {
    std::vector<std::string> sentences = wrong_scalars(spec, contender);
    if (!sentences.empty()) return sentences;
    sentences = line_of(bench, contender, {seen->worst_row, seen->worst_col});
    sentences.insert(
        sentences.begin(),
        "On small whole numbers it is right: digits are lost, or numbers are too large or too small for a type.");
    return sentences;
  }
  if (wrong.size() < least_evidence) return {};
  std::vector<std::string> sentences = cause(solved, wrong, launches);
  if (sentences.empty() && begins_elsewhere(spec, contender))
    sentences.push_back("With no products to add up, and beta = 0, some results are not 0: does each sum begin at 0?");
  if (!seen) return sentences;  // what broke it off has a line of its own
  for (std::string& line : line_of(bench, contender, wrong.front())) sentences.push_back(std::move(line));
  return sentences;
}

}  // namespace gemm
