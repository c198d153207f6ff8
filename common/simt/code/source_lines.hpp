// From an address in the code to a line of source, by way of addr2line (which comes with g++).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simt {

struct SourceLine {
  std::string file;  ///< relative to the repository if it lies there; empty if unknown
  int line = 0;
  std::string text() const { return file.empty() ? "unknown line" : file + ":" + std::to_string(line); }
  bool operator==(const SourceLine&) const = default;
};

/// The line of the call that returns to each of these addresses. Where functions were inlined, the innermost line
/// outside common/simt/ and the C++ library: what the kernel's author wrote. Results are kept.
std::vector<SourceLine> source_lines(const std::vector<std::uintptr_t>& return_addresses);
SourceLine source_line(std::uintptr_t return_address);
/// "stages/07.cu:12"; of a line in a header that stages share with the line of the stage that calls it, if it is known:
/// "common/kernel/vector.cuh:39 (called at stages/14.cu:121)".
std::string place_text(std::uintptr_t return_address);
/// The same, each followed by the lines from which it was called, where functions were inlined.
std::vector<std::vector<SourceLine>> source_lines_with_callers(const std::vector<std::uintptr_t>& return_addresses);

/// From now on no process is asked: a line's text names its address, and another process, which knows this program
/// (add_program), puts the line there.
void name_lines_by_address();
std::string with_lines(const std::string& text);

/// Whether two calls stand on the same line.
bool same_line(std::uintptr_t one, std::uintptr_t other);

/// Whether the variable with static storage at this address is declared __device__ (or __managed__): from the line of
/// its declaration, for nothing else tells g++'s variables apart.
bool is_device_variable(std::uintptr_t address);

/// A file's name, relative to the repository if it lies there.
std::string relative_to_repository(const std::string& file);

/// A word quoted for the shell; what a command prints on standard output.
std::string quoted(const std::string& text);
std::string output_of(const std::string& command);

}  // namespace simt
