// The executable of a single stage, or of a numbered probe: whichever one is linked in, with those before it that it
// chooses from, if it does.
#include <fmt/format.h>

#include "common/options.hpp"

namespace {

int run_probe_program(const gemm::Probe& probe, int argc, char** argv) {
  CLI::App app(probe.name + ": " + std::string(probe.idea));
  gemm::ProbeRequest request;
  gemm::add_probe_options(app, probe, request);
  return gemm::run_program(app, argc, argv,
                           [&] { return gemm::run_probe(probe, request, gemm::command_line(argc, argv)); });
}

}  // namespace

int main(int argc, char** argv) {
  if (gemm::stages().empty()) return run_probe_program(gemm::all_probes().back(), argc, argv);
  const gemm::Stage& stage = gemm::stages().back();
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  gemm::RunOptions options;
  gemm::add_run_options(app, options);
  std::string variant;
  app.add_option("--variant", variant, "another form of the kernel: one of those that --variants shows");
  bool list = false;
  app.add_flag("--variants", list, "show the variants");
  return gemm::run_program(app, argc, argv, [&] {
    if (list) {
      for (const gemm::Stage& form : gemm::variants(stage))
        fmt::print("{:<20}  {}\n", form.id.substr(stage.id.size() + 1), form.idea);
      return 0;
    }
    const gemm::Stage& chosen = variant.empty() ? stage : gemm::find_stage(stage.id + ":" + variant);
    return gemm::run_stage(chosen, options, gemm::command_line(argc, argv));
  });
}
