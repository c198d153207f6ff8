// The program with all stages: what ./lab calls for more than one of them at a time.
#include <CLI/CLI.hpp>

#include "common/commands/commands.hpp"
#include "common/commands/program.hpp"

int main(int argc, char** argv) {
  using namespace gemm;
  CLI::App app("Staged GEMM: every stage checked, timed against cuBLAS, and explained");
  app.require_subcommand(1);
  const std::string command = command_line(argc, argv);
  Action action;
  for (const auto add :
       {add_ladder_command, add_run_command, add_compare_command, add_compile_command, add_candidates_command,
        add_batch_command, add_choice_command, add_probe_command, add_accuracy_command, add_list_command,
        add_doctor_command, add_map_command, add_trace_command}) {
    add(app, command, action);
  }
  return run_program(app, argc, argv, [&] { return action(); });
}
