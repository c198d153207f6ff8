#include "common/report/text_table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace gemm {
namespace {

constexpr std::size_t gap = 2;

std::string cut(std::string text, std::size_t width) {
  constexpr std::string_view rest = "...";
  if (width_of(text) <= width) return text;
  while (!text.empty() && width_of(text) + rest.size() > width) text.pop_back();
  return text + std::string(rest);
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

}  // namespace

std::size_t line_width() {
  constexpr std::size_t least = 40, much = 200;
  const char* const told = std::getenv("COLUMNS");
  if (const long columns = told ? std::strtol(told, nullptr, 10) : 0; columns > 0)
    return std::max(least, static_cast<std::size_t>(columns));
  winsize size{};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<std::size_t>(least, size.ws_col);
  return much;
}

std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = std::min(text.find('m', i), text.size() - 1);
    } else {
      width += (text[i] & 0xC0) != 0x80;  // the bytes behind a character's first
    }
  }
  return width;
}

std::string wrapped(const std::string& paragraph, const std::string& indent) {
  const std::size_t width = std::min<std::size_t>(80, line_width());
  std::string text, line;
  for (std::size_t begin = 0; begin < paragraph.size();) {
    // A word with the blanks before it, so that a first line keeps its own indent.
    const std::size_t word = std::min(paragraph.find_first_not_of(' ', begin), paragraph.size());
    const std::size_t end = std::min(paragraph.find(' ', word), paragraph.size());
    if (!line.empty() && width_of(line) + end - begin > width) {
      text += line + "\n";
      line = indent + paragraph.substr(word, end - word);
    } else {
      line += paragraph.substr(begin, end - begin);
    }
    begin = end;
  }
  return text + line + "\n";
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::size_t> wide(columns_.size());
  std::vector<bool> shown(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (const std::vector<std::string>& cells : rows_) {
      if (cells.size() < columns_.size() && c + 1 >= cells.size()) continue;  // a remark, or nothing
      wide[c] = std::max(wide[c], width_of(cells[c]));
      shown[c] = shown[c] || !cells[c].empty();
    }
    shown[c] = shown[c] || columns_[c].dispensable == 0;
    for (const std::string& line : columns_[c].head) wide[c] = std::max(wide[c], width_of(line));
  }
  const auto total = [&] {
    std::size_t sum = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) sum += shown[c] ? wide[c] + gap : 0;
    return sum - std::min(sum, gap);
  };
  // A text in the last column may be cut; of numbers none is lost, and the terminal wraps the line.
  constexpr std::size_t least = 20;
  const bool last_is_text = !columns_.back().to_the_right && columns_.back().dispensable == 0;
  const std::size_t to_cut = last_is_text ? wide.back() - std::min(wide.back(), least) : 0;
  while (total() - to_cut > width) {
    std::size_t most = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (shown[c] && columns_[c].dispensable > (most < columns_.size() ? columns_[most].dispensable : 0)) most = c;
    }
    if (most == columns_.size()) break;  // the rest is needed
    shown[most] = false;
  }
  if (total() > width) wide.back() -= std::min(to_cut, total() - width);

  std::string result;
  const auto append = [&](const auto& cell_of, std::size_t cells) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size() && c < cells; ++c) {
      const bool remark = cells < columns_.size() && c + 1 == cells;
      if (!remark && !shown[c]) continue;
      const std::string cell = cell_of(c);
      line += remark ? cell : padded(cut(cell, wide[c]), wide[c], columns_[c].to_the_right);
      line += std::string(gap, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  std::size_t lines = 0;
  for (const Column& column : columns_) lines = std::max(lines, column.head.size());
  for (std::size_t l = 0; l < lines; ++l) {
    append([&](std::size_t c) { return l < columns_[c].head.size() ? columns_[c].head[l] : std::string(); },
           columns_.size());
  }
  for (const std::vector<std::string>& cells : rows_) append([&](std::size_t c) { return cells[c]; }, cells.size());
  return result;
}

}  // namespace gemm
