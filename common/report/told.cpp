#include "common/report/told.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace gemm {
namespace {

// "stages/90_mine.cu:46" and what stands there; empty if the text names no line, or there is no such file.
std::string quoted_line(const std::string& text) {
  static const std::regex place(R"(([\w./-]+\.cuh?):(\d+))");
  std::smatch found;
  for (std::sregex_iterator it(text.begin(), text.end(), place), end; it != end; ++it) found = *it;
  if (found.empty()) return "";
  std::ifstream file(std::filesystem::path(GEMM_SOURCE_DIR) / found[1].str());
  std::string line;
  for (int number = std::stoi(found[2]); number > 0 && std::getline(file, line);) --number;
  const std::size_t begin = line.find_first_not_of(' ');
  return !file || begin == std::string::npos ? "" : fmt::format("  {}  {}\n", found.str(), line.substr(begin));
}

}  // namespace

std::string told(const std::string& reason, const std::vector<std::string>& explanation) {
  std::string text;
  for (const std::string& sentence : explanation) text += fmt::format("  {}\n", sentence);
  const std::string line = quoted_line(text);
  return text + (line.empty() ? quoted_line(reason) : line);
}

}  // namespace gemm
