// Other programs, started with argument vectors and never through a shell; where to find them; what compilers say.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gemm {

struct Finished {
  int status = 0;      ///< the exit status, or 128 + the signal
  std::string output;  ///< standard output and standard error together
};

/// Throws std::runtime_error if the program can't be started. `variables` ("NAME=value") go before the environment's.
Finished run_process(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {});

/// A folder that is gone, with all in it, when this is. Throws std::runtime_error if there can be none.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The absolute path of the first that can be run; empty if none can.
std::string first_program(const std::vector<std::filesystem::path>& candidates);

/// Where a program of this name might be: one place for each folder of PATH.
std::vector<std::filesystem::path> in_path(const std::string& name);

/// The first line of a compiler's output that calls itself an error, else the first of all.
std::string first_error(const std::string& output);

}  // namespace gemm
