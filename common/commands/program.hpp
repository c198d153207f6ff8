// What every program does with its command line, and with what goes wrong.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace gemm {

/// Parses and runs: exceptions become one line on standard error and the exit status (2 for bad usage or no device, 1
/// for a stage that is to blame).
int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

/// The command line as the user typed it, without the program's directory and those of absolute paths.
std::string command_line(int argc, char** argv);

/// A progress line on standard error, overwritten in place on a terminal, silent otherwise.
void show_progress(const std::string& text);

/// Whether tables may be coloured: standard output is a terminal.
bool colour();

}  // namespace gemm
