#include "common/toolchain/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace gemm {

namespace fs = std::filesystem;

Finished run_process(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
  std::vector<char*> argv, envp;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  for (const std::string& variable : variables) envp.push_back(const_cast<char*>(variable.c_str()));
  for (char** inherited = environ; *inherited; ++inherited) {
    const bool is_replaced = std::any_of(variables.begin(), variables.end(), [&](const std::string& variable) {
      return std::strncmp(*inherited, variable.c_str(), variable.find('=') + 1) == 0;
    });
    if (!is_replaced) envp.push_back(*inherited);
  }
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    throw std::runtime_error(fmt::format("could not run {}: {}", arguments[0], std::strerror(error)));
  }

  Finished finished;
  char buffer[65536];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n > 0) finished.output.append(buffer, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "gemm_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error(fmt::format("could not make {}: {}", name, std::strerror(errno)));
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string first_program(const std::vector<fs::path>& candidates) {
  for (const fs::path& candidate : candidates) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0) {
      return fs::absolute(candidate).lexically_normal().string();
    }
  }
  return {};
}

std::vector<fs::path> in_path(const std::string& name) {
  std::vector<fs::path> candidates;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    candidates.push_back(fs::path(folder.empty() ? "." : folder) / name);
  }
  return candidates;
}

namespace {

// Whether a line has "error:" or "fatal:", as in "error #20: ", "fatal error: " or "error C2065 : ". By hand, because
// std::regex takes seconds to compile.
bool names_an_error(std::string_view line) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (const std::string_view word : {"error", "fatal"}) {
    for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
      if (at > 0 && is_word(line[at - 1])) continue;
      std::string_view rest = line.substr(at + word.size());
      if (rest.starts_with(" error")) rest.remove_prefix(6);
      // Perhaps a code, and blanks.
      const auto colon_follows = [](std::string_view text) {
        const std::size_t next = text.find_first_not_of(' ');
        return next != text.npos && text[next] == ':';
      };
      if (colon_follows(rest)) return true;
      if (!rest.starts_with(' ')) continue;
      rest.remove_prefix(1);
      std::size_t code = 0;
      while (code < rest.size() && (is_word(rest[code]) || rest[code] == '#' || rest[code] == '-')) ++code;
      if (code > 0 && colon_follows(rest.substr(code))) return true;
    }
  }
  return false;
}

}  // namespace

std::string first_error(const std::string& output) {
  std::string first_line;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (names_an_error(line)) return line;
    if (first_line.empty()) first_line = line;
  }
  return first_line;
}

}  // namespace gemm
