#include "common/check/hypotheses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace gemm {
namespace {

using Maybe = std::optional<Number>;

// ---- names: of TSMM the factors are A and C, the result is B

struct Names {
  std::string x, y, out, product;

  explicit Names(const Problem& p)
      : x("A"), y(p.op == Operation::tsmm ? "C" : "B"), out(p.op == Operation::tsmm ? "B" : "C") {
    const char* const mark = p.op != Operation::tsmttsm ? "" : p.conjugate ? "^H" : "^T";
    product = fmt::format("A{} {}", mark, y);
  }
};

// ---- scalars

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
  add(added, fmt::format("These elements are beta {}: alpha {} is missing.", out, product), 0, beta);
  add(true, "These elements are 0.", 0, 0);
  if (alpha.imag() != 0) add(true, "Of alpha the imaginary part is missing.", alpha.real(), beta);
  if (beta.imag() != 0) add(true, "Of beta the imaginary part is missing.", alpha, beta.real());
}

// ---- operands: read in another place than the right one

// A factor's element (row, col), as its matrix has them, moved to the element that a kernel takes instead.
using Place = std::function<const Number*(std::int64_t row, std::int64_t col)>;

// The result if X and Y are read like that.
Maybe with_places(const SolvedProblem& s, std::int64_t i, std::int64_t j, const Place& x, const Place& y) {
  const bool transposed = s.problem.op == Operation::tsmttsm;
  Number sum = 0;
  for (std::int64_t t = 0; t < s.problem.terms(); ++t) {
    const Number* const a = transposed ? x(t, i) : x(i, t);
    const Number* const b = y(t, j);
    if (!a || !b) return {};
    sum += (transposed && s.problem.conjugate ? std::conj(*a) : *a) * *b;
  }
  return s.alpha() * sum + s.beta() * s.before(i, j);
}

Place strided(const HostMatrix& matrix, std::int64_t stride) {
  return [&matrix, stride](auto row, auto col) { return matrix.at(row * stride + col); };
}

// One factor, the first or the second, is read elsewhere.
Hypothesis with_factor(const SolvedProblem& s, bool first, std::string says, const Place& place) {
  return {std::move(says), [&s, first, place](auto i, auto j) {
            return with_places(s, i, j, first ? place : strided(s.x, s.x.ld), first ? strided(s.y, s.y.ld) : place);
          }};
}

// Within each group of so many rows; the groups begin where they should.
Place strided_within(const HostMatrix& matrix, std::int64_t rows, std::int64_t stride) {
  return [&matrix, rows, stride](auto row, auto col) {
    return matrix.at(row / rows * rows * matrix.ld + row % rows * stride + col);
  };
}

Place transposed(const HostMatrix& matrix) {
  return [&matrix](auto row, auto col) { return matrix.at(col * matrix.ld + row); };
}

// Each tile by itself, with zeros where it passes the matrix's end.
Place transposed_within(const HostMatrix& matrix, std::int64_t tile) {
  return [&matrix, tile](auto row, auto col) -> const Number* {
    static const Number zero = 0;
    const std::int64_t from_row = row / tile * tile + col % tile, from_col = col / tile * tile + row % tile;
    return from_row < matrix.rows && from_col < matrix.cols ? matrix.at(from_row * matrix.ld + from_col) : &zero;
  };
}

// Row strides that somebody may have taken for another matrix's: by name, each value once.
std::vector<std::pair<std::string, std::int64_t>> strides(const SolvedProblem& s) {
  const bool tsmm = s.problem.op == Operation::tsmm;
  std::vector<std::pair<std::string, std::int64_t>> all;
  const auto add = [&](const char* name, std::int64_t value) {
    if (std::ranges::find(all, value, &std::pair<std::string, std::int64_t>::second) == all.end())
      all.emplace_back(name, value);
  };
  add("lda", s.x.ld);
  add("ldb", tsmm ? s.after.ld : s.y.ld);
  add("ldc", tsmm ? s.y.ld : s.after.ld);
  add("m", s.problem.m);
  add("n", s.problem.n);
  add("k", s.problem.k);
  return all;
}

std::string stride_name(const SolvedProblem& s, const HostMatrix& matrix) {
  for (const auto& [name, value] : strides(s)) {
    if (value == matrix.ld) return name;
  }
  return "its leading dimension";
}

void add_strides(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  for (const bool first : {true, false}) {
    const HostMatrix& matrix = first ? s.x : s.y;
    const std::string& letter = first ? name.x : name.y;
    for (const auto& [word, stride] : strides(s)) {
      if (stride == matrix.ld || stride == 0) continue;
      const std::string says = fmt::format("{} is read with {} ({}) from row to row: its row stride is {} ({}).",
                                           letter, word, stride, stride_name(s, matrix), matrix.ld);
      all.push_back(with_factor(s, first, says, strided(matrix, stride)));
      constexpr std::int64_t fragment = 16;
      all.push_back(with_factor(s, first, fmt::format("Within each {} rows {}", fragment, says),
                                strided_within(matrix, fragment, stride)));
    }
  }
  // Both, as if no matrix had padding.
  for (const auto& [x_word, x_stride] : strides(s)) {
    for (const auto& [y_word, y_stride] : strides(s)) {
      if (x_stride == s.x.ld || y_stride == s.y.ld) continue;
      all.push_back(
          {fmt::format(
               "{} is read with {} ({}) from row to row, {} with {} ({}): their row strides are {} ({}) and {} ({}).",
               name.x, x_word, x_stride, name.y, y_word, y_stride, stride_name(s, s.x), s.x.ld, stride_name(s, s.y),
               s.y.ld),
           [&s, x_stride = x_stride, y_stride = y_stride](auto i, auto j) {
             return with_places(s, i, j, strided(s.x, x_stride), strided(s.y, y_stride));
           }});
    }
  }
  // The result, written to another place: what stands where (i, j) should have gone may be another element's, or nobody's.
  for (const auto& [word, stride] : strides(s)) {
    if (stride == s.after.ld || stride == 0) continue;
    for (const bool reads_there : {false, true}) {
      if (reads_there && s.beta() == 0.0) continue;
      all.push_back(
          {fmt::format("{} is {} with {} ({}) from row to row: its row stride is {} ({}).", name.out,
                       reads_there ? "read and written" : "written", word, stride, stride_name(s, s.after), s.after.ld),
           [&s, stride = stride, reads_there](auto i, auto j) -> Maybe {
             // Which elements go to this address: the last ones first, because rows are mostly written in order.
             const std::int64_t address = i * s.after.ld + j;
             for (std::int64_t row = std::min(address / stride, s.rows() - 1); row >= 0; --row) {
               const std::int64_t col = address - row * stride;
               if (col >= s.cols()) break;
               const Number old = reads_there ? *s.before.at(address) : s.before(row, col);
               const Number value = s.alpha() * s.sum(row, col) + s.beta() * old;
               if (value == s.got(i, j)) return value;
             }
             return s.before(i, j);
           }});
    }
  }
}

// A result whose element (i, j) is the product's element (row, col), added to beta times the old element that lies there or here;
// outside of the matrix a kernel has added up zeros.
using Source = std::function<Element(std::int64_t i, std::int64_t j)>;
void add_moved(std::vector<Hypothesis>& all, const SolvedProblem& s, const std::string& says, const Source& source) {
  for (const bool old_moves : {false, true}) {
    if (old_moves && s.beta() == 0.0) continue;
    all.push_back({says, [&s, source, old_moves](auto i, auto j) -> Maybe {
                     const auto [row, col] = source(i, j);
                     const bool inside = row >= 0 && row < s.rows() && col >= 0 && col < s.cols();
                     if (!inside && old_moves) return {};
                     const Number old = old_moves ? s.before(row, col) : s.before(i, j);
                     return (inside ? s.alpha() * s.sum(row, col) : 0.0) + s.beta() * old;
                   }});
  }
}

void add_transposed(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  for (const bool first : {true, false}) {
    const HostMatrix& matrix = first ? s.x : s.y;
    const std::string says = fmt::format("{} is read transposed", first ? name.x : name.y);
    if (matrix.rows == matrix.cols) all.push_back(with_factor(s, first, says + ".", transposed(matrix)));
    for (const std::int64_t tile : {8, 16, 32, 64}) {
      all.push_back(with_factor(s, first, fmt::format("{0} within each tile of {1} x {1}.", says, tile),
                                transposed_within(matrix, tile)));
    }
  }
  // Whole, within tiles, and by blocks of a thread's elements, which keep their order.
  for (const std::int64_t tile : {0, 2, 4, 8, 16, 32, 64, 128}) {
    for (const std::int64_t block : {1, 2, 4, 8}) {
      if (tile == 0 && (s.rows() != s.cols() || block > 1)) continue;
      if (tile > 0 && (s.rows() < tile || s.cols() < tile || block >= tile)) continue;
      std::string where = tile == 0 ? "" : fmt::format(" within each tile of {0} x {0}", tile);
      if (block > 1) where += fmt::format(", by blocks of {0} x {0}", block);
      add_moved(all, s, fmt::format("The result is transposed{}.", where), [tile, block](auto i, auto j) -> Element {
        const std::int64_t top = tile ? i / tile * tile : 0, left = tile ? j / tile * tile : 0;
        const std::int64_t down = i - top, right = j - left;
        return {top + right / block * block + down % block, left + down / block * block + right % block};
      });
    }
  }
}

// Where the factor's matrix ends, a kernel that is shifted reads on, or puts zeros.
Place shifted(const HostMatrix& matrix, std::int64_t down, std::int64_t right, bool zeros) {
  return [&matrix, down, right, zeros](auto row, auto col) -> const Number* {
    static const Number zero = 0;
    const bool inside = row + down >= 0 && row + down < matrix.rows && col + right >= 0 && col + right < matrix.cols;
    return zeros && !inside ? &zero : matrix.at((row + down) * matrix.ld + col + right);
  };
}

void add_shifted(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  const auto steps = [](std::int64_t d, const char* what) {
    return fmt::format("{} {}{} too {}", std::abs(d), what, std::abs(d) == 1 ? "" : "s", d > 0 ? "far" : "early");
  };
  for (const std::int64_t d : {1, -1, 2, -2, 3, -3, 4, -4}) {
    for (const bool of_rows : {false, true}) {
      const std::int64_t down = of_rows ? d : 0, right = of_rows ? 0 : d;
      const std::string far = steps(d, of_rows ? "row" : "column");
      for (const bool zeros : {false, true}) {
        all.push_back(
            with_factor(s, true, fmt::format("{} is read {}.", name.x, far), shifted(s.x, down, right, zeros)));
        all.push_back(
            with_factor(s, false, fmt::format("{} is read {}.", name.y, far), shifted(s.y, down, right, zeros)));
      }
      add_moved(all, s, fmt::format("The result is written {}.", far), [down, right](auto i, auto j) -> Element {
        return {i - down, j - right};
      });
    }
  }
}

// ---- steps of k

struct Range {
  std::int64_t from, to;
};

// The ranges of terms whose sum, times `factor`, is what each of these elements has too much.
std::vector<Range> ranges_that_explain(const SolvedProblem& s, const std::vector<Element>& wrong, double factor) {
  const std::int64_t terms = s.problem.terms();
  constexpr std::size_t witnesses = 4;
  if (wrong.size() < witnesses || terms > 2000) return {};
  const auto prefixes = [&](const Element& e) {
    std::vector<Number> prefix(terms + 1);
    for (std::int64_t t = 0; t < terms; ++t)
      prefix[t + 1] = prefix[t] + factor * s.alpha() * s.left_factor(e.i, t) * s.right_factor(t, e.j);
    return prefix;
  };
  std::vector<Range> ranges;
  for (std::size_t w = 0; w < witnesses; ++w) {
    const Element& e = wrong[w * (wrong.size() - 1) / (witnesses - 1)];
    const std::vector<Number> prefix = prefixes(e);
    const Number excess = s.got(e.i, e.j) - s.right(e.i, e.j);
    if (w == 0) {
      for (std::int64_t from = 0; from < terms; ++from) {
        for (std::int64_t to = from + 1; to <= terms; ++to) {
          if (prefix[to] - prefix[from] == excess) ranges.push_back({from, to});
        }
      }
    } else {
      std::erase_if(ranges, [&](const Range& r) { return prefix[r.to] - prefix[r.from] != excess; });
    }
  }
  return ranges;
}

void add_steps(std::vector<Hypothesis>& all, const SolvedProblem& s, const std::vector<Element>& wrong) {
  const std::int64_t terms = s.problem.terms();
  const char* const letter = s.problem.op == Operation::tsmm ? "m" : "k";
  const auto range = [](const Range& r) {
    return r.to == r.from + 1 ? fmt::format("{}", r.from) : fmt::format("{} to {}", r.from, r.to - 1);
  };
  const auto add = [&](const Range& r, double factor, std::string says) {
    all.push_back({std::move(says), [&s, r, factor](auto i, auto j) -> Maybe {
                     return s.right(i, j) + factor * s.alpha() * s.sum(i, j, r.from, r.to);
                   }});
  };
  for (const Range& r : ranges_that_explain(s, wrong, -1)) {
    const std::int64_t missing = r.to - r.from;
    if (r.to == terms && r.from > 0) {
      add(r, -1,
          fmt::format("The sums end at {} = {} of {}: the last {} missing.", letter, r.from, terms,
                      missing == 1 ? "step is" : fmt::format("{} steps are", missing)));
    } else {
      add(r, -1, fmt::format("Of the sums' {} steps, {} {} missing.", terms, range(r), missing == 1 ? "is" : "are"));
    }
  }
  for (const Range& r : ranges_that_explain(s, wrong, 1))
    add(r, 1,
        fmt::format("Of the sums' {} steps, {} {} counted twice.", terms, range(r), r.to == r.from + 1 ? "is" : "are"));
  // The first or the last step of each tile.
  for (const std::int64_t tile : {2, 4, 8, 16, 32, 64}) {
    for (const bool last : {true, false}) {
      for (const double factor : {-1.0, 1.0}) {
        all.push_back({fmt::format("Of every {} steps of {} the {} is {}.", tile, letter, last ? "last" : "first",
                                   factor < 0 ? "missing" : "counted twice"),
                       [&s, terms, tile, last, factor](auto i, auto j) -> Maybe {
                         Number change = 0;
                         for (std::int64_t t = last ? tile - 1 : 0; t < terms; t += tile)
                           change += s.left_factor(i, t) * s.right_factor(t, j);
                         return s.right(i, j) + factor * s.alpha() * change;
                       }});
      }
    }
  }
  // A tile of k again in the place of the next one, or of all that follow: of both factors, or of one.
  const auto add_stale = [&](const Range& r, std::int64_t tile, const std::string& when) {
    for (const int which : {0, 1, 2}) {
      const std::string what = which == 0 ? "both factors" : which == 1 ? "the first factor" : "the second factor";
      all.push_back({fmt::format("{} {} still {} the tile of {}.", when, what, which == 0 ? "have" : "has",
                                 r.to - r.from <= tile ? fmt::format("{} steps before", tile)
                                                       : fmt::format("steps {} to {}", r.from - tile, r.from - 1)),
                     [&s, terms, r, tile, which](auto i, auto j) -> Maybe {
                       Number change = 0;
                       for (std::int64_t t = r.from; t < r.to; ++t) {
                         const std::int64_t stale = r.from - tile + (t - r.from) % tile;
                         const std::int64_t a = which == 2 ? t : stale, b = which == 1 ? t : stale;
                         if (a < terms && b < terms) change += s.left_factor(i, a) * s.right_factor(b, j);
                         if (t < terms) change -= s.left_factor(i, t) * s.right_factor(t, j);
                       }
                       return s.right(i, j) + s.alpha() * change;
                     }});
    }
  };
  for (const std::int64_t tile : {4, 8, 16, 32, 64}) {
    for (std::int64_t from = tile; from < terms; from += tile) {
      const std::int64_t to = std::min(from + tile, terms);
      add_stale({from, to}, tile, fmt::format("In steps {} to {} of {}", from, to - 1, letter));
    }
    // To the last step, or to the end of the last tile, if zeros in the place of missing steps are stale, too.
    for (const std::int64_t from : {tile, 2 * tile}) {
      for (const std::int64_t to : {terms, (terms + tile - 1) / tile * tile})
        if (from + tile < to) add_stale({from, to}, tile, fmt::format("From step {} of {} on", from, letter));
    }
  }
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

Number SolvedProblem::sum(std::int64_t i, std::int64_t j, std::int64_t from, std::int64_t to) const {
  Number total = 0;
  for (std::int64_t t = from; t < to; ++t) total += left_factor(i, t) * right_factor(t, j);
  return total;
}

std::vector<Hypothesis> hypotheses(const SolvedProblem& solved, const std::vector<Element>& wrong) {
  const Names names(solved.problem);
  std::vector<Hypothesis> all;
  add_scalars(all, solved, names);
  add_steps(all, solved, wrong);
  add_strides(all, solved, names);
  add_transposed(all, solved, names);
  add_shifted(all, solved, names);
  add_conjugates(all, solved);
  return all;
}

}  // namespace gemm
