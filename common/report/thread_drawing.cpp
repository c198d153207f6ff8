#include "common/report/thread_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace gemm {
namespace {

constexpr int most = 32;  // characters, of a picture: two fit a terminal
constexpr int label = 5;  // the row's number before it

using Rows = std::vector<std::vector<int>>;

int height_of(const Rows& rows) {
  return static_cast<int>(rows.size());
}

int width_of(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  return static_cast<int>(width);
}

// -1: not written. Rows may be shorter than others.
int at(const Rows& rows, int row, int col) {
  const auto& line = rows[row];
  return col < static_cast<int>(line.size()) ? line[col] : -1;
}

// How many elements in a row share a character, where there are `length`: as few as make the picture fit; if it can't fit, as
// many as are all the same.
template <class Same>
int scale(int length, const Same& same) {
  int best = 1;
  for (int step = 1; step <= length; ++step) {
    if (length % step || !same(step)) continue;
    best = step;
    if (length / step <= most) break;
  }
  return best;
}

// `of` an element: its warp, or its thread.
struct Picture {
  template <class Of>
  Picture(const Rows& rows, const Of& of) : height(height_of(rows)), width(width_of(rows)) {
    tall = scale(height, [&](int step) {
      for (int row = 0; row < height; ++row)
        for (int col = 0; col < width; ++col)
          if (of(at(rows, row, col)) != of(at(rows, row / step * step, col))) return false;
      return true;
    });
    wide = scale(width, [&](int step) {
      for (int row = 0; row < height; ++row)
        for (int col = 0; col < width; ++col)
          if (of(at(rows, row, col)) != of(at(rows, row, col / step * step))) return false;
      return true;
    });
  }

  int lines() const { return std::min(height / tall, most); }
  int columns() const { return std::min(width / wide, most); }

  std::string unit() const {
    if (tall * wide == 1) return "a character is an element";
    return fmt::format("a character is {} x {} elements", tall, wide);
  }

  // What is shown, if it is not all. Short enough for the picture's width.
  std::string part() const {
    const bool all_rows = lines() * tall >= height, all_columns = columns() * wide >= width;
    const std::string of_rows = fmt::format("rows 0-{}", lines() * tall - 1);
    const std::string of_columns = fmt::format("columns 0-{}", columns() * wide - 1);
    if (all_rows && all_columns) return "";
    if (all_columns) return fmt::format("{} of {}", of_rows, height);
    if (all_rows) return fmt::format("{} of {}", of_columns, width);
    return of_rows + ", " + of_columns;
  }

  // The number of every eighth column.
  std::string ruler() const {
    std::string text;
    for (int col = 0; col < columns(); col += 8) text += fmt::format("{:<8}", col * wide);
    return text;
  }

  int height, width;
  int tall = 1, wide = 1;
};

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuv";

// What stands for an element, coloured or not.
std::string sign(int thread, int number, bool colour, bool mark_thread_0) {
  const std::string text(1, thread < 0 ? '.' : digits[number % digits.size()]);
  if (!colour || thread < 0) return text;
  constexpr int colours = 6;  // red to cyan
  return fmt::format("\033[{}{}m{}\033[0m", mark_thread_0 && thread == 0 ? "1;7;" : "", 31 + thread / 32 % colours,
                     text);
}

// A line of a picture, as wide as all of them.
template <class Of>
std::string line(const Rows& rows, const Picture& picture, int number, bool colour, bool mark_thread_0, const Of& of) {
  if (number >= picture.lines()) return std::string(label + most, ' ');
  std::string text = fmt::format("{:>{}} ", number * picture.tall, label - 1);
  for (int col = 0; col < picture.columns(); ++col) {
    const int thread = at(rows, number * picture.tall, col * picture.wide);
    text += sign(thread, of(thread), colour, mark_thread_0);
  }
  return text + std::string(most - picture.columns(), ' ');
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string elements_of_thread_0(const Rows& rows, bool colour) {
  std::set<int> in_rows, in_columns;
  int elements = 0;
  for (int row = 0; row < height_of(rows); ++row) {
    for (int col = 0; col < width_of(rows); ++col) {
      if (at(rows, row, col) != 0) continue;
      ++elements;
      in_rows.insert(row);
      in_columns.insert(col);
    }
  }
  if (elements == 0) return "Thread 0 writes nothing.\n";
  const auto text = [](const std::set<int>& numbers) { return ranges({numbers.begin(), numbers.end()}); };
  return fmt::format("Thread 0{} writes {} element{}:\n  row{} {}\n  column{} {}\n", colour ? ", in reverse," : "",
                     elements, elements == 1 ? "" : "s", in_rows.size() == 1 ? "" : "s", text(in_rows),
                     in_columns.size() == 1 ? "" : "s", text(in_columns));
}

}  // namespace

std::string ranges(const std::vector<int>& numbers) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    all.push_back(end == i + 1 ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end - 1]));
    i = end;
  }
  constexpr std::size_t short_enough = 8;
  if (all.size() > short_enough) {
    all.erase(all.begin() + 3, all.end() - 1);
    all.insert(all.end() - 1, "...");
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string drawing(const ThreadMap& map, bool colour) {
  const auto warp = [](int thread) { return thread < 0 ? -1 : thread / 32; };
  const auto lane = [](int thread) { return thread < 0 ? -1 : thread % 32; };
  const Picture warps(map.rows, warp), lanes(map.rows, [](int thread) { return thread; });
  std::string text;
  const auto heading = [&](const std::string& left, const std::string& right) {
    if (!left.empty() || !right.empty()) {
      text += trimmed(fmt::format("{:{}}{:<{}}  {:{}}{}", "", label, left, most, "", label, right));
    }
  };
  heading("warp (thread / 32)", "lane (thread % 32)");
  heading(warps.unit(), lanes.unit());
  heading(warps.part(), lanes.part());
  heading(warps.ruler(), lanes.ruler());
  for (int i = 0; i < std::max(warps.lines(), lanes.lines()); ++i) {
    text +=
        trimmed(line(map.rows, warps, i, colour, false, warp) + "  " + line(map.rows, lanes, i, colour, true, lane));
  }
  return text + "\n0-9 are 0 to 9, a-v 10 to 31. " + elements_of_thread_0(map.rows, colour);
}

}  // namespace gemm
