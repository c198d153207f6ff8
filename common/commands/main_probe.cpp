// The executable of a numbered probe: the one that is linked in.
#include <CLI/CLI.hpp>

#include "common/commands/probe.hpp"
#include "common/commands/program.hpp"

int main(int argc, char** argv) {
  const gemm::Probe& probe = gemm::all_probes().back();
  CLI::App app(probe.name + ": " + std::string(probe.idea));
  gemm::ProbeRequest request;
  gemm::add_probe_options(app, probe, request);
  return gemm::run_program(app, argc, argv,
                           [&] { return gemm::run_probe(probe, request, gemm::command_line(argc, argv)); });
}
