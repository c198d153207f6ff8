// The commands of the program `gemm`, a file each.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace gemm {

/// What the command that was typed does; returns the exit status. Throws UsageError and DeviceError.
using Action = std::function<int()>;

// Each adds a command to the program, and sets `action` when that one is typed. `command` is the whole command line,
// for the reports.

void add_ladder_command(CLI::App& app, const std::string& command, Action& action);
void add_run_command(CLI::App& app, const std::string& command, Action& action);
void add_compare_command(CLI::App& app, const std::string& command, Action& action);
void add_compile_command(CLI::App& app, const std::string& command, Action& action);
void add_candidates_command(CLI::App& app, const std::string& command, Action& action);
void add_batch_command(CLI::App& app, const std::string& command, Action& action);
void add_choice_command(CLI::App& app, const std::string& command, Action& action);
void add_probe_command(CLI::App& app, const std::string& command, Action& action);
void add_accuracy_command(CLI::App& app, const std::string& command, Action& action);
void add_list_command(CLI::App& app, const std::string& command, Action& action);
void add_doctor_command(CLI::App& app, const std::string& command, Action& action);
void add_map_command(CLI::App& app, const std::string& command, Action& action);
void add_trace_command(CLI::App& app, const std::string& command, Action& action);

}  // namespace gemm
