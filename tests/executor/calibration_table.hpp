// shared_wavefronts_h200.csv: what one access of a warp to shared memory costs, by the address of each lane, as Nsight
// Compute read it on an H200.
#pragma once

#include <array>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gemm {

/// Evaluates the table's index expressions: integers, l, + * / % ^ >> &, parentheses, and 2l for 2 * l. Precedence as
/// in C.
class LaneExpression {
 public:
  LaneExpression(std::string text, int lane) : text_(std::move(text)), lane_(lane) {}
  int value() {
    const int result = binary(0);
    if (at_ != text_.size()) throw std::runtime_error("can't read " + text_);
    return result;
  }

 private:
  int binary(int level) {
    static const char* const operators[] = {"^", "&", ">", "+", "*/%"};
    if (level == 5) return factor();
    int left = binary(level + 1);
    while (at_ < text_.size() && std::string(operators[level]).find(text_[at_]) != std::string::npos) {
      const char op = text_[at_++];
      if (op == '>') ++at_;
      const int right = binary(level + 1);
      left = op == '^'   ? left ^ right
             : op == '&' ? left & right
             : op == '>' ? left >> right
             : op == '+' ? left + right
             : op == '*' ? left * right
             : op == '/' ? left / right
                         : left % right;
    }
    return left;
  }
  int factor() {
    if (text_.at(at_) == '(') {
      ++at_;
      const int inner = binary(0);
      ++at_;
      return inner;
    }
    if (text_[at_] == 'l') {
      ++at_;
      return lane_;
    }
    int number = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      number = number * 10 + text_[at_++] - '0';
    }
    if (at_ < text_.size() && text_[at_] == 'l') {
      ++at_;
      return number * lane_;
    }
    return number;
  }

  std::string text_;
  int lane_;
  std::size_t at_ = 0;
};

struct CalibrationRow {
  std::string line;  ///< as it stands in the file
  bool store = false;
  unsigned bytes = 0;         ///< of a lane's access, and of an element
  std::array<int, 32> index;  ///< of the element that each lane accesses
  unsigned wavefronts = 0;
};

inline std::vector<CalibrationRow> calibration_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't read " + path);
  std::vector<CalibrationRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("op,")) continue;
    // op,width_bytes,index,wavefronts
    const auto first = line.find(','), second = line.find(',', first + 1), last = line.rfind(',');
    CalibrationRow& row = rows.emplace_back();
    row.line = line;
    row.store = line.substr(0, first) == "store";
    row.bytes = static_cast<unsigned>(std::stoi(line.substr(first + 1)));
    row.wavefronts = static_cast<unsigned>(std::stoi(line.substr(last + 1)));
    const std::string index = line.substr(second + 1, last - second - 1);
    for (int lane = 0; lane < 32; ++lane) row.index[lane] = LaneExpression(index, lane).value();
  }
  return rows;
}

}  // namespace gemm
