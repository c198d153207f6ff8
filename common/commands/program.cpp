#include "common/commands/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <sstream>
#include <system_error>

#include "common/kernel/status.hpp"

namespace gemm {
namespace {

// One line, whatever the user typed into it.
int complain(std::string message, int status = 2, std::size_t longest = 180) {
  show_progress("");
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (message.size() > longest) message = message.substr(0, longest) + "...";
  fmt::print(stderr, "error: {}\n", message);
  return status;
}

// What comes of a program that ends with this status, once all that it printed has arrived.
int printed(int status) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  return complain(fmt::format("can't write standard output: {}", std::strerror(errno)));
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  try {
    app.parse(argc, argv);
    return printed(body());
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    const int status = app.exit(help, text);
    std::fputs(text.str().c_str(), stdout);
    return printed(status);
  } catch (const CLI::ParseError& error) {
    return complain(error.what());
  } catch (const UsageError& error) {
    return complain(error.what());
  } catch (const DeviceError& error) {
    return complain(error.what());
  } catch (const StageError& error) {
    return complain(error.what(), 1, 500);  // a kernel's name, a thread and a line: not the user's words
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const std::system_error& error) {  // fmt::print's
    return complain(fmt::format("can't write standard output: {}", error.code().message()));
  }
}

std::string command_line(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    // A path tells of one machine only: FILE in "/home/me/FILE" and "--json=/home/me/FILE". "tsm/05,tsm/06" is none.
    const std::size_t value = word.starts_with("--") ? word.find('=') + 1 : 0;  // 0 after npos
    if (i == 0 || word.find('/', value) == value) word.erase(value, word.find_last_of('/') + 1 - value);
    text += (i ? " " : "") + word;
  }
  return text;
}

void show_progress(const std::string& text) {
  if (!isatty(STDERR_FILENO)) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

bool colour() {
  return isatty(STDOUT_FILENO);
}

}  // namespace gemm
