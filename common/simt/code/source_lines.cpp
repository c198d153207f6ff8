#include "common/simt/code/source_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "common/simt/code/symbols.hpp"

namespace simt {
namespace {

std::mutex mutex;
bool by_address = false;

// "/path/file.cu:12 (discriminator 3)"
SourceLine parse(const std::string& text) {
  const std::size_t colon = text.rfind(':', text.find(" (discriminator"));
  if (colon == std::string::npos || text.starts_with("??")) return {};
  SourceLine line;
  line.file = text.substr(0, colon);
  line.line = std::atoi(text.c_str() + colon + 1);
  if (line.line == 0) return {};
  return line;
}

// Neither the executor's own headers (ptx.cuh: functions that stand for one instruction each) nor those of the C++
// library (std::max takes references) are the author's.
bool is_shim(const std::string& file) {
  return file.find("/common/simt/") != std::string::npos || file.ends_with("/common/kernel/ptx.cuh") ||
         file.ends_with("/common/kernel/launch.cuh") || file.find("/include/c++/") != std::string::npos;
}

// From the author's innermost line outwards, at least one.
std::map<std::uintptr_t, std::vector<SourceLine>>& known_lines() {
  static auto& lines = *new std::map<std::uintptr_t, std::vector<SourceLine>>;  // asked after main(), too
  return lines;
}

// The author's lines among these, from the innermost function outwards; if none is, the outermost.
std::vector<SourceLine> lines_of_author(const std::vector<SourceLine>& all) {
  std::vector<SourceLine> result;
  for (const SourceLine& line : all) {
    if (!is_shim(line.file)) result.push_back(line);
  }
  if (result.empty()) result.push_back(all.empty() ? SourceLine{} : all.back());
  for (SourceLine& line : result) line.file = relative_to_repository(line.file);
  return result;
}

}  // namespace

std::string relative_to_repository(const std::string& file) {
  const std::string root = GEMM_SOURCE_DIR "/";
  const std::string clean = std::filesystem::path(file).lexically_normal().string();
  return clean.starts_with(root) ? clean.substr(root.size()) : clean;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen((command + " 2>/dev/null").c_str(), "r"), pclose);
  if (!pipe) return text;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) text.append(buffer, got);
  return text;
}

void name_lines_by_address() {
  by_address = true;
}

std::string with_lines(const std::string& text) {
  struct Named {
    std::size_t begin, end;
    std::uintptr_t place;
  };
  std::vector<Named> all;  // "@7f01@:1" each
  std::vector<std::uintptr_t> places;
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1)) {
    const std::size_t behind = text.find_first_not_of("0123456789abcdef", at + 1);
    if (behind == std::string::npos || behind == at + 1 || !text.substr(behind).starts_with("@:1")) continue;
    places.push_back(std::strtoull(text.c_str() + at + 1, nullptr, 16));
    all.push_back({at, behind + 3, places.back()});
  }
  source_lines(places);  // all at once: each question costs a process
  std::string result;
  std::size_t done = 0;
  for (const auto& [begin, end, place] : all) {
    result += text.substr(done, begin - done) + place_text(place);
    done = end;
  }
  return result + text.substr(done);
}

std::vector<std::vector<SourceLine>> source_lines_with_callers(const std::vector<std::uintptr_t>& return_addresses) {
  if (by_address) {
    std::vector<std::vector<SourceLine>> lines;
    for (const std::uintptr_t address : return_addresses) lines.push_back({{fmt::format("@{:x}@", address), 1}});
    return lines;
  }
  const std::lock_guard lock(mutex);
  std::map<std::string, std::pair<std::uintptr_t, std::string>> questions;  // by file: where it lies, the addresses
  for (const std::uintptr_t address : return_addresses) {
    if (known_lines().contains(address)) continue;
    known_lines()[address] = {SourceLine{}};
    const ImageFile image = image_file_of(address);
    auto& [base, addresses] = questions[image.path];
    base = image.base;
    addresses += fmt::format(" {:#x}", address - 1 - base);  // the call itself, not what follows it
  }
  for (const auto& [path, question] : questions) {
    const auto& [base, addresses] = question;
    // An address, then its lines from the innermost function outwards.
    std::istringstream output(output_of(fmt::format("addr2line -i -a -e {}{}", quoted(path), addresses)));
    std::vector<SourceLine> frames;
    std::uintptr_t current = 0;
    const auto keep = [&] {
      if (!frames.empty()) known_lines()[current] = lines_of_author(frames);
      frames.clear();
    };
    for (std::string text; std::getline(output, text);) {
      if (text.starts_with("0x")) {
        keep();
        current = std::strtoull(text.c_str(), nullptr, 16) + base + 1;
        continue;
      }
      if (SourceLine line = parse(text); !line.file.empty()) frames.push_back(std::move(line));
    }
    keep();
  }
  std::vector<std::vector<SourceLine>> lines;
  for (const std::uintptr_t address : return_addresses) lines.push_back(known_lines()[address]);
  return lines;
}

std::vector<SourceLine> source_lines(const std::vector<std::uintptr_t>& return_addresses) {
  std::vector<SourceLine> lines;
  for (const auto& each : source_lines_with_callers(return_addresses)) lines.push_back(each.front());
  return lines;
}

SourceLine source_line(std::uintptr_t return_address) {
  return source_lines({return_address}).front();
}

std::string place_text(std::uintptr_t return_address) {
  const auto is_shared = [](const SourceLine& line) {
    return line.file.starts_with("common/") || line.file.starts_with("tensorcore/wmma_ext/");
  };
  const std::vector<SourceLine> lines = source_lines_with_callers({return_address}).front();
  const auto caller = std::ranges::find_if_not(lines, is_shared);
  if (caller == lines.begin() || caller == lines.end()) return lines.front().text();
  return fmt::format("{} (called at {})", lines.front().text(), caller->text());
}

bool same_line(std::uintptr_t one, std::uintptr_t other) {
  if (one == other) return true;
  const auto lines = source_lines({one, other});
  return !lines[0].file.empty() && lines[0] == lines[1];
}

namespace {

// The variables of an image by where they end, with the lines of their declarations.
using Declarations = std::map<std::uintptr_t, SourceLine>;

Declarations declarations_in(const ImageFile& image) {
  Declarations result;
  // nm -l gives each symbol's line, from the same information as addr2line.
  std::istringstream output(output_of(fmt::format("nm -l -S {}", quoted(image.path))));
  for (std::string text; std::getline(output, text);) {
    // "0000000000004010 0000000000000004 b name\t/path/file.cu:12"
    const std::size_t tab = text.find('\t');
    if (tab == std::string::npos) continue;
    std::istringstream words(text);
    std::string value, size, type;
    if (!(words >> value >> size >> type) || type.size() != 1 || std::string("bBdD").find(type) == std::string::npos)
      continue;
    const SourceLine line = parse(text.substr(tab + 1));
    const std::uintptr_t begin = std::strtoull(value.c_str(), nullptr, 16) + image.base;
    const std::uintptr_t bytes = std::strtoull(size.c_str(), nullptr, 16);
    result[begin + bytes] = line;  // by its end: the first one above the address holds it
  }
  return result;
}

}  // namespace

bool is_device_variable(std::uintptr_t address) {
  if (by_address) return false;                                // nobody here who could tell
  static std::map<std::uintptr_t, Declarations> known_images;  // by where they lie
  const ImageFile image = image_file_of(address);
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known_images.try_emplace(image.base);
  if (is_new) place->second = declarations_in(image);
  const Declarations& declarations = place->second;
  const auto at = declarations.upper_bound(address);
  if (at == declarations.end()) return false;
  std::ifstream file(at->second.file);
  std::string text;
  for (int i = 0; i < at->second.line; ++i) std::getline(file, text);
  return text.find("__device__") != std::string::npos || text.find("__managed__") != std::string::npos;
}

}  // namespace simt
