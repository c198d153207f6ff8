// The executable of a single stage: whichever one is linked in, with those before it that it chooses from, if it does.
#include <fmt/format.h>

#include "common/options.hpp"

int main(int argc, char** argv) {
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
