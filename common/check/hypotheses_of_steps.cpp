#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/check/hypothesis_groups.hpp"

namespace gemm {
namespace {

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

// Steps beyond the last one, of what lies behind the rows and columns.
void add_steps_too_far(std::vector<Hypothesis>& all, const SolvedProblem& s, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  std::vector<std::int64_t> ends;
  for (const std::int64_t tile : {1, 2, 4, 8, 16, 32, 64}) {
    const std::int64_t end = tile == 1 ? terms + 1 : (terms + tile - 1) / tile * tile;
    if (end > terms && std::ranges::find(ends, end) == ends.end()) ends.push_back(end);
  }
  const bool transposed = s.problem.op == Operation::tsmttsm;
  for (const std::int64_t end : ends) {
    all.push_back({fmt::format("The sums go on to {} = {}, {} too far.", letter, end - 1,
                               end - terms == 1 ? "a step" : fmt::format("{} steps", end - terms)),
                   [&s, terms, end, transposed](auto i, auto j) -> Maybe {
                     Number more = 0;
                     for (std::int64_t t = terms; t < end; ++t) {
                       const Number* const a = s.x.at(transposed ? t * s.x.ld + i : i * s.x.ld + t);
                       const Number* const b = s.y.at(t * s.y.ld + j);
                       if (!a || !b) return {};
                       more += (transposed && s.problem.conjugate ? std::conj(*a) : *a) * *b;
                     }
                     return s.right(i, j) + s.alpha() * more;
                   }});
  }
}

// Threads share the steps out, `period` of them, and only some add theirs; those perhaps several times, as a shuffle does
// that every lane calls for itself.
struct Lanes {
  std::int64_t period, from, to, times;
};
void add_lanes(std::vector<Hypothesis>& all, const SolvedProblem& s, const std::vector<Element>& wrong,
               const char* letter) {
  constexpr std::size_t witnesses = 4;
  const std::int64_t terms = s.problem.terms();
  if (wrong.size() < witnesses || terms > 2000) return;
  const auto value = [&s, terms](const Lanes& lanes, std::int64_t i, std::int64_t j) {
    Number sum = 0;
    for (std::int64_t first = 0; first < terms; first += lanes.period)
      sum += s.sum(i, j, std::min(first + lanes.from, terms), std::min(first + lanes.to, terms));
    return s.alpha() * (1.0 * lanes.times) * sum + s.beta() * s.before(i, j);
  };
  std::vector<Lanes> left;
  for (const std::int64_t period : {4, 8, 16, 32, 64}) {
    for (std::int64_t from = 0; from < std::min(period, terms); ++from) {
      for (std::int64_t to = from + 1; to <= period; ++to) {
        if (to - from == period) continue;
        left.push_back({period, from, to, 1});
        if (to == from + 1) left.push_back({period, from, to, period});
      }
    }
  }
  for (std::size_t w = 0; w < witnesses; ++w) {
    const auto [i, j] = wrong[w * (wrong.size() - 1) / (witnesses - 1)];
    std::erase_if(left, [&](const Lanes& lanes) { return value(lanes, i, j) != s.got(i, j); });
  }
  for (const Lanes& lanes : left) {
    const std::string which = lanes.to == lanes.from + 1 ? fmt::format("step {} is", lanes.from)
                                                         : fmt::format("steps {} to {} are", lanes.from, lanes.to - 1);
    all.push_back({fmt::format("Of every {} steps of {} only {} added{}.", lanes.period, letter, which,
                               lanes.times == 1 ? "" : fmt::format(", {} times", lanes.times)),
                   [value, lanes](auto i, auto j) -> Maybe { return value(lanes, i, j); }});
  }
}

// Of each group of steps one is left out: of threads that share them, one does not add its own.
void add_left_out(std::vector<Hypothesis>& all, const SolvedProblem& s, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  for (std::int64_t period = 3; period <= std::min<std::int64_t>(64, terms / 2); ++period) {
    for (std::int64_t step = 0; step < period; ++step) {
      all.push_back({fmt::format("Of every {} steps of {} step {} is missing.", period, letter, step),
                     [&s, terms, period, step](auto i, auto j) -> Maybe {
                       Number missing = 0;
                       for (std::int64_t t = step; t < terms; t += period)
                         missing += s.left_factor(i, t) * s.right_factor(t, j);
                       return s.right(i, j) - s.alpha() * missing;
                     }});
    }
  }
}

// One factor, or both, stays what it was in the first steps, however many those are.
void add_kept(std::vector<Hypothesis>& all, const SolvedProblem& s, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  for (std::int64_t own = 1; own < std::min<std::int64_t>(terms, 512); ++own) {
    for (const int which : {0, 1, 2}) {
      const std::string what = which == 0 ? "both factors" : which == 1 ? "the first factor" : "the second factor";
      all.push_back(
          {fmt::format("From step {} of {} on {} still {} {}.", own, letter, what, which == 0 ? "have" : "has",
                       own == 1 ? "step 0" : fmt::format("steps 0 to {}", own - 1)),
           [&s, terms, own, which](auto i, auto j) -> Maybe {
             Number sum = 0;
             for (std::int64_t t = 0; t < terms; ++t)
               sum += s.left_factor(i, which == 2 ? t : t % own) * s.right_factor(which == 1 ? t : t % own, j);
             return s.alpha() * sum + s.beta() * s.before(i, j);
           }});
    }
  }
}

// In groups of steps, of which a thread copies several at a time, one of a factor is another's.
void add_mixed_up(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  for (const std::int64_t group : {2, 4, 8}) {
    for (std::int64_t step = 0; step < group; ++step) {
      for (std::int64_t taken = 0; taken < group; ++taken) {
        if (taken == step) continue;
        for (const bool first : {true, false}) {
          all.push_back({fmt::format("In every {} steps of {}, step {} takes {} of step {}.", group, letter, step,
                                     first ? name.x : name.y, taken),
                         [&s, terms, group, step, taken, first](auto i, auto j) -> Maybe {
                           Number change = 0;
                           for (std::int64_t t = step; t < terms; t += group) {
                             const std::int64_t other = t - step + taken;
                             const Number a = s.left_factor(i, t), b = s.right_factor(t, j);
                             if (first)
                               change += ((other < terms ? s.left_factor(i, other) : 0.0) - a) * b;
                             else
                               change += a * ((other < terms ? s.right_factor(other, j) : 0.0) - b);
                           }
                           return s.right(i, j) + s.alpha() * change;
                         }});
        }
      }
    }
  }
}

// Blocks begin at different steps, and each goes on to the end, because its stride is one block's: steps behind are counted
// by all blocks before them.
void add_stride_of_a_block(std::vector<Hypothesis>& all, const SolvedProblem& s, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  for (const std::int64_t own : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}) {
    if (own >= terms) continue;
    all.push_back(
        {fmt::format("From step {} of {} on steps are counted twice, from {} on three times, and so on: is the "
                     "loop's stride that of one block, and not of all blocks?",
                     own, letter, 2 * own),
         [&s, terms, own](auto i, auto j) -> Maybe {
           Number sum = 0;
           for (std::int64_t from = 0; from < terms; from += own) sum += s.sum(i, j, from, terms);
           return s.alpha() * sum + s.beta() * s.before(i, j);
         }});
  }
}

// The store stands in the loop over k: each tile's sums so far are added to beta times what the tile before has stored.
void add_stored_each_tile(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  if (s.beta() == 0.0) return;
  for (const std::int64_t tile : {1, 2, 4, 8, 16, 32, 64}) {
    if (tile >= terms) continue;
    all.push_back({fmt::format("{} is stored after every {} of {}, and multiplied by beta each time: the store belongs "
                               "behind the loop.",
                               name.out, tile == 1 ? "step" : fmt::format("{} steps", tile), letter),
                   [&s, terms, tile](auto i, auto j) -> Maybe {
                     Number sum = 0, out = s.before(i, j);
                     for (std::int64_t from = 0; from < terms; from += tile) {
                       sum += s.sum(i, j, from, std::min(from + tile, terms));
                       out = s.alpha() * sum + s.beta() * out;
                     }
                     return out;
                   }});
  }
}

// From the second tile of k on each is the one before it: the loop copies this one, not the next.
void add_one_behind(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name, const char* letter) {
  const std::int64_t terms = s.problem.terms();
  for (const std::int64_t tile : {4, 8, 16, 32, 64}) {
    for (const int which : {0, 1, 2}) {
      if (tile >= terms) continue;
      const std::string what = which == 0 ? "both factors" : which == 1 ? name.x : name.y;
      all.push_back({fmt::format("From step {0} of {1} on {2} {3} always {0} steps behind.", tile, letter, what,
                                 which == 0 ? "are" : "is"),
                     [&s, terms, tile, which](auto i, auto j) -> Maybe {
                       Number sum = s.sum(i, j, 0, tile);
                       for (std::int64_t t = tile; t < (terms + tile - 1) / tile * tile; ++t) {
                         const std::int64_t a = which == 2 ? t : t - tile, b = which == 1 ? t : t - tile;
                         if (a < terms && b < terms) sum += s.left_factor(i, a) * s.right_factor(b, j);
                       }
                       return s.alpha() * sum + s.beta() * s.before(i, j);
                     }});
    }
  }
}

}  // namespace

void add_steps(std::vector<Hypothesis>& all, const SolvedProblem& s, const Names& name,
               const std::vector<Element>& wrong) {
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
  add_stored_each_tile(all, s, name, letter);
  add_stride_of_a_block(all, s, letter);
  add_one_behind(all, s, name, letter);
  add_steps_too_far(all, s, letter);
  add_lanes(all, s, wrong, letter);
  add_mixed_up(all, s, name, letter);
  add_left_out(all, s, letter);
  add_kept(all, s, letter);
}

}  // namespace gemm
