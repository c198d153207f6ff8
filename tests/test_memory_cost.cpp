// The cost model against the hardware: every row of shared_wavefronts_h200.csv, which Nsight Compute read on an H200.
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <string>

#include "common/simt/memory_cost.hpp"

namespace simt {
namespace {

// Evaluates the table's index expressions: integers, l, + * / % ^ >> &, parentheses, and 2l for 2 * l. Precedence as
// in C.
class Expression {
 public:
  Expression(std::string text, int lane) : text_(std::move(text)), lane_(lane) {}
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
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) number = number * 10 + text_[at_++] - '0';
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

TEST(MemoryCost, EveryRowOfTheHardwareTable) {
  std::ifstream file(GEMM_SOURCE_DIR "/tests/shared_wavefronts_h200.csv");
  ASSERT_TRUE(file);
  std::string line;
  int rows = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("op,")) continue;
    const auto first = line.find(','), second = line.find(',', first + 1), last = line.rfind(',');
    const std::string op = line.substr(0, first), index = line.substr(second + 1, last - second - 1);
    const unsigned bytes = static_cast<unsigned>(std::stoi(line.substr(first + 1)));
    std::array<std::uint64_t, warp_lanes> address;
    for (int lane = 0; lane < 32; ++lane) address[lane] = 0x1000 + bytes * Expression(index, lane).value();
    EXPECT_EQ(bank_cost({address.data(), all_lanes, bytes, op == "store"}).wavefronts,
              static_cast<unsigned>(std::stoi(line.substr(last + 1))))
        << line;
    ++rows;
  }
  EXPECT_EQ(rows, 198);
}

std::array<std::uint64_t, warp_lanes> strided(std::uint64_t start, std::uint64_t stride) {
  std::array<std::uint64_t, warp_lanes> address;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) address[lane] = start + lane * stride;
  return address;
}

TEST(MemoryCost, SectorsAndLines) {
  const auto cost = [](std::uint64_t start, std::uint64_t stride, unsigned bytes, LaneMask mask = all_lanes) {
    const auto address = strided(start, stride);
    const GlobalCost c = global_cost({address.data(), mask, bytes, false});
    return std::pair{c.sectors, c.lines};
  };
  EXPECT_EQ(cost(0x1000, 4, 4), (std::pair{4u, 1u}));
  EXPECT_EQ(cost(0x1004, 4, 4), (std::pair{5u, 2u})) << "one element off costs a sector and a line";
  EXPECT_EQ(cost(0x1000, 0, 4), (std::pair{1u, 1u}));
  EXPECT_EQ(cost(0x1000, 16, 16), (std::pair{16u, 4u}));
  EXPECT_EQ(cost(0x1000, 1024, 4), (std::pair{32u, 32u}));
  EXPECT_EQ(cost(0x1000, 4, 4, 0x1), (std::pair{1u, 1u}));
  EXPECT_EQ(cost(0x1000, 2, 2), (std::pair{2u, 1u}));
  EXPECT_EQ(cost(0x1000, 4, 4, 0), (std::pair{0u, 0u}));
  auto shuffled = strided(0x1000, 4);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) shuffled[lane] = 0x1000 + (lane * 13 % 32) * 4;
  EXPECT_EQ(global_cost({shuffled.data(), all_lanes, 4, false}).sectors, 4u) << "order does not matter";
}

TEST(MemoryCost, ConflictsAreWhatOtherAddressesWouldSave) {
  const auto conflicts = [](std::uint64_t stride, unsigned bytes, bool store) {
    const auto address = strided(0, stride);
    return bank_cost({address.data(), all_lanes, bytes, store}).conflicts;
  };
  EXPECT_EQ(conflicts(4, 4, false), 0u);
  EXPECT_EQ(conflicts(128, 4, false), 31u);
  EXPECT_EQ(conflicts(132, 4, true), 0u);
  EXPECT_EQ(conflicts(16, 16, false), 0u) << "four wavefronts, but none too many";
  EXPECT_EQ(conflicts(32, 16, false), 4u);
}

}  // namespace
}  // namespace simt
