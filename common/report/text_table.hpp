// Tables for people: columns as wide as what is in them, and fewer of them where the terminal is narrow.
#pragma once

#include <string>
#include <vector>

namespace gemm {

/// Columns of the terminal that standard output is, or as $COLUMNS has it; much where neither says.
std::size_t line_width();

/// Of a UTF-8 text, without colours' escape sequences.
std::size_t width_of(const std::string& text);

/// A paragraph in lines of at most 80 columns, or of line_width() where that is less, each with its end. Those after
/// the first begin with `indent`.
std::string wrapped(const std::string& paragraph, const std::string& indent = "  ");

struct Column {
  std::vector<std::string> head;  ///< lines above each other
  bool to_the_right = false;
  int dispensable = 0;  ///< 0: never left out; else those with the largest number are left out first
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A cell for each column. With fewer cells the last one is a remark, which runs over the columns that are left.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Head and rows, two blanks between columns; columns without anything in them are left out.
  std::string text(std::size_t width = line_width()) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gemm
