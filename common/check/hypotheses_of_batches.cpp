#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/check/hypothesis_groups.hpp"

namespace gemm {

// A batch is one tall matrix here: row i is row i % m of matrix i / m.
void add_batches(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name) {
  const Problem& p = s.problem;
  const std::int64_t rows = p.rows();
  struct Stride {
    std::string of;
    std::int64_t elements;
  };
  const std::array<Stride, 3> right = {Stride{name.x, p.stride_x}, {name.y, p.stride_y}, {name.out, p.stride_out}};
  const auto add = [&](std::string says, std::int64_t x_stride, std::int64_t y_stride) {
    all.push_back({std::move(says), [&s, rows, x_stride, y_stride](auto i, auto j) -> Maybe {
                     Number sum = 0;
                     for (std::int64_t t = 0; t < s.problem.terms(); ++t) {
                       const Number* const a = s.x.at(i / rows * x_stride + i % rows * s.x.ld + t);
                       const Number* const b = s.y.at(i / rows * y_stride + t * s.y.ld + j);
                       if (!a || !b) return {};
                       sum += *a * *b;
                     }
                     return s.alpha() * sum + s.beta() * s.before(i, j);
                   }});
  };
  for (const bool first : {true, false}) {
    const Stride& own = right[first ? 0 : 1];
    const auto with = [&](std::string says, std::int64_t stride) {
      add(std::move(says), first ? stride : p.stride_x, first ? p.stride_y : stride);
    };
    with(fmt::format("Each product of the batch takes the first {}.", own.of), 0);
    for (const Stride& other : right) {
      if (other.elements == own.elements) continue;
      with(fmt::format(
               "From one {0} of the batch to the next it goes by the stride of {1} ({2}), not by {0}'s own ({3}).",
               own.of, other.of, other.elements, own.elements),
           other.elements);
    }
  }
  add(fmt::format("Each product of the batch takes the first {} and the first {}.", name.x, name.y), 0, 0);
  all.push_back({"These elements are as they were before: nothing is written to them.",
                 [&s](auto i, auto j) -> Maybe { return s.before(i, j); }, true});
}

}  // namespace gemm
