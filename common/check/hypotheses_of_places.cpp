#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/check/hypothesis_groups.hpp"

namespace gemm {
namespace {

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
      // The same numbers come of either.
      const bool by_columns = !of_rows || s.problem.op == Operation::tsmttsm;
      const std::string read =
          fmt::format("{} is read {}", of_rows ? name.x : name.y, steps(-d, by_columns ? "column" : "row"));
      add_moved(all, s, fmt::format("The result is written {}, or {}.", far, read),
                [down, right](auto i, auto j) -> Element {
                  return {i - down, j - right};
                });
    }
  }
}

// threadIdx.x and .y have changed places where a factor is read: the row of A goes by the column of C, or the other way.
// By tiles, and by blocks of a thread's elements, which keep their order.
void add_exchanged(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  const bool of_gemm = s.problem.op == Operation::gemm;
  const char* const line = s.problem.op == Operation::tsmttsm ? "column" : "row";  // of X, for a row of the result
  for (const std::int64_t tile : {0, 8, 16, 32, 64, 128}) {
    if (tile && !of_gemm) return;
    for (const std::int64_t block : {1, 2, 4, 8}) {
      for (const bool first : {true, false}) {
        if (block > 1 && block >= tile) continue;
        std::string says =
            first ? fmt::format("The {} of {} goes by the column of {}, not by its row", line, name.x, name.out)
                  : fmt::format("The column of {} goes by the row of {}, not by its column", name.y, name.out);
        if (tile) says += fmt::format(", within each tile of {0} x {0}", tile);
        if (block > 1) says += fmt::format(", by blocks of {}", block);
        says += of_gemm ? ": are x and y exchanged?" : ".";
        all.push_back({says, [&s, tile, block, first](auto i, auto j) -> Maybe {
                         const auto from = [tile, block](std::int64_t mine, std::int64_t other) {
                           return tile ? mine / tile * tile + other % tile / block * block + mine % block : other;
                         };
                         const std::int64_t row = first ? from(i, j) : i, col = first ? j : from(j, i);
                         const bool inside = row < s.rows() && col < s.cols();
                         if (!inside && tile == 0) return {};
                         return (inside ? s.alpha() * s.sum(row, col) : 0.0) + s.beta() * s.before(i, j);
                       }});
      }
    }
  }
}

// A thread's results are side by side, and it writes them a stride apart, or the other way: of columns, or of rows.
void add_interleaved(std::vector<Hypothesis>& all, const SolvedProblem& s) {
  for (const std::int64_t tile : {8, 16, 32, 64, 128}) {
    for (const std::int64_t each : {2, 4, 8}) {
      const std::int64_t apart = tile / each;
      if (apart < 2) continue;
      for (const bool of_rows : {false, true}) {
        for (const bool scattered : {true, false}) {
          if (!scattered && apart == each) continue;  // the same exchange
          const char* const what = of_rows ? "rows" : "columns";
          // Where the result stands whose right place is the place-th of a tile, and the other way.
          const auto source = [each, apart, scattered](std::int64_t place) {
            return scattered ? place % apart * each + place / apart : place % each * apart + place / each;
          };
          add_moved(all, s,
                    scattered ? fmt::format("Of every {} {}, {} that belong side by side are written {} apart.", tile,
                                            what, each, apart)
                              : fmt::format("Of every {} {}, {} that belong {} apart are written side by side.", tile,
                                            what, each, apart),
                    [tile, of_rows, source](auto i, auto j) -> Element {
                      if (of_rows) return {i / tile * tile + source(i % tile), j};
                      return {i, j / tile * tile + source(j % tile)};
                    });
        }
      }
    }
  }
}

// Each row of the result is made of another line of X than its own, or each column of another one of Y: which, the result
// tells. The line that gives a row's first elements is taken for all of it.
void add_other_lines(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name,
                     const std::vector<Element>& wrong) {
  constexpr double most = 2e7;  // products
  const std::int64_t rows = s.rows(), cols = s.cols();
  if (rows * rows + cols * cols > most / std::max<std::int64_t>(s.problem.terms(), 1) / 2) return;
  for (const bool first : {true, false}) {
    const std::int64_t lines = first ? rows : cols, length = first ? cols : rows;
    const auto value = [&s, first](std::int64_t line, std::int64_t taken, std::int64_t at) {
      const std::int64_t i = first ? line : at, j = first ? at : line;
      return s.alpha() * (first ? s.sum(taken, j) : s.sum(i, taken)) + s.beta() * s.before(i, j);
    };
    std::vector<std::int64_t> of(lines);  // each line's own, unless it is wrong
    for (std::int64_t line = 0; line < lines; ++line) of[line] = line;
    for (const Element& e : wrong) {
      const std::int64_t line = first ? e.i : e.j;
      if (of[line] != line) continue;
      const auto fits = [&](std::int64_t taken, std::int64_t at) {
        return value(line, taken, at) == (first ? s.got(line, at) : s.got(at, line));
      };
      for (std::int64_t taken = 0; taken < lines && of[line] == line; ++taken) {
        if (taken != line && fits(taken, first ? e.j : e.i) && fits(taken, 0) && fits(taken, length - 1))
          of[line] = taken;
      }
      if (of[line] == line) break;  // the zeros behind the matrix, or a mistake of another kind
    }
    std::vector<std::int64_t> moved;
    for (std::int64_t line = 0; line < lines; ++line)
      if (of[line] != line) moved.push_back(line);
    if (moved.empty()) continue;
    const bool by_columns = !first || s.problem.op == Operation::tsmttsm;
    const auto pair = [&](std::int64_t line) {
      return fmt::format("{} {} of {} takes {} {} of {}", first ? "row" : "column", line, name.out,
                         by_columns ? "column" : "row", of[line], first ? name.x : name.y);
    };
    std::string says = pair(moved.front());
    says[0] = first ? 'R' : 'C';
    if (moved.size() > 1) says += ", " + pair(moved[1]);
    if (moved.size() > 2) says += ", and so on";
    all.push_back({says + ".", [value, of, first](auto i, auto j) -> Maybe {
                     return first ? value(i, of[i], j) : value(j, of[j], i);
                   }});
  }
}

// Lanes give each other words of lines that lie a power of two apart, the wrong ones: some elements take the line of X or Y
// that lies so far away, zeros behind the last.
void add_wrong_lane(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name,
                    const std::vector<Element>& wrong) {
  if (wrong.empty()) return;
  for (const bool first : {true, false}) {
    const bool by_columns = !first || s.problem.op == Operation::tsmttsm;
    const std::int64_t mine = first ? wrong.front().i : wrong.front().j;
    for (std::int64_t apart = 1; apart <= 128; apart *= 2) {
      all.push_back(
          {fmt::format("{}({}, {}) takes {} {} of {} in the place of {}, and so on, {} away: is a word exchanged with "
                       "the wrong lane?",
                       name.out, wrong.front().i, wrong.front().j, by_columns ? "column" : "row", mine ^ apart,
                       first ? name.x : name.y, mine, apart),
           [&s, first, apart](auto i, auto j) -> Maybe {
             const std::int64_t row = first ? i ^ apart : i, col = first ? j : j ^ apart;
             const bool exists = row < s.rows() && col < s.cols();
             return (exists ? s.alpha() * s.sum(row, col) : 0.0) + s.beta() * s.before(i, j);
           }});
    }
  }
}

// A tile in shared memory whose lines are stored swizzled and read as they come, or the other way: in each line groups of
// `group` places are exchanged, by the line's number.
void add_swizzled(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  if (s.problem.op != Operation::gemm) return;
  for (const bool first : {true, false}) {
    const HostMatrix& matrix = first ? s.x : s.y;
    for (const std::int64_t group : {1, 4, 8}) {
      for (const std::int64_t lines : {4, 8, 16, 32}) {
        if (group * lines > 128) continue;
        const Place place = [&matrix, group, lines](auto row, auto col) -> const Number* {
          static const Number zero = 0;  // behind the last column
          const std::int64_t from = col ^ row % lines * group;
          return from < matrix.cols ? matrix.at(row * matrix.ld + from) : &zero;
        };
        all.push_back(with_factor(
            s, first,
            fmt::format("In each row of {0} columns are exchanged by groups of {1}, by the row's number modulo "
                        "{2}: is its tile swizzled where it is written, and not where it is read, or the other way?",
                        first ? name.x : name.y, group, lines),
            place));
      }
    }
  }
}

void add_column_major(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  if (s.problem.op != Operation::gemm) return;
  for (const bool out_too : {false, true}) {
    if (out_too && s.rows() != s.cols()) continue;
    all.push_back(
        {fmt::format("{} and {}{} are taken to be stored by columns, as in BLAS: here they are stored by rows.", name.x,
                     name.y, out_too ? " and " + name.out : ""),
         [&s, out_too](auto i, auto j) -> Maybe {
           Number sum = 0;
           const auto row = out_too ? j : i, col = out_too ? i : j;
           for (std::int64_t t = 0; t < s.problem.terms(); ++t) {
             const Number *const a = s.x.at(row + t * s.x.ld), *const b = s.y.at(t + col * s.y.ld);
             if (!a || !b) return {};
             sum += *a * *b;
           }
           return s.alpha() * sum + s.beta() * s.before(i, j);
         }});
  }
}

}  // namespace

void add_places(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name,
                const std::vector<Element>& wrong) {
  add_strides(all, s, name);
  add_transposed(all, s, name);
  add_shifted(all, s, name);
  add_exchanged(all, s, name);
  add_interleaved(all, s);
  add_column_major(all, s, name);
  add_other_lines(all, s, name, wrong);
  add_wrong_lane(all, s, name, wrong);
  add_swizzled(all, s, name);
}

}  // namespace gemm
