#include "common/backend/doctor.hpp"

#include <CLI/CLI.hpp>

#include "common/commands/commands.hpp"

namespace gemm {

void add_doctor_command(CLI::App& app, const std::string&, Action& action) {
  app.add_subcommand("doctor", "is this machine ready? each line ok or what to do")->callback([&action] {
    action = doctor;
  });
}

}  // namespace gemm
