#include "common/report/told.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace gemm {
namespace {

constexpr const char* letters_of_paths = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";

// "stages/90_mine.cu:46" and what stands there; empty if the text names no line, or there is no such file.
std::string quoted_line(const std::string& text) {
  std::string path;
  int number = 0;
  for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    const std::size_t before = colon == 0 ? std::string::npos : text.find_last_not_of(letters_of_paths, colon - 1);
    const std::string word = text.substr(before + 1, colon - before - 1);
    if (!std::isdigit(static_cast<unsigned char>(text[colon + 1])) ||
        !(word.ends_with(".cu") || word.ends_with(".cuh")))
      continue;
    path = word;
    number = std::atoi(text.c_str() + colon + 1);
  }
  if (path.empty()) return "";
  std::ifstream file(std::filesystem::path(GEMM_SOURCE_DIR) / path);
  std::string line;
  for (int i = 0; i < number && std::getline(file, line);) ++i;
  const std::size_t begin = line.find_first_not_of(' ');
  return !file || begin == std::string::npos ? "" : fmt::format("  {}:{}  {}\n", path, number, line.substr(begin));
}

}  // namespace

std::string told(const std::string& reason, const std::vector<std::string>& explanation) {
  std::string text;
  for (const std::string& sentence : explanation) text += fmt::format("  {}\n", sentence);
  const std::string line = quoted_line(text);
  return text + (line.empty() ? quoted_line(reason) : line);
}

}  // namespace gemm
