// The executable of a single stage: whichever one is linked in.
#include "common/options.hpp"

int main(int argc, char** argv) {
  const gemm::Stage& stage = gemm::stages().front();
  CLI::App app(stage.id + ": " + std::string(stage.idea));
  gemm::RunOptions options;
  gemm::add_run_options(app, options);
  return gemm::run_program(app, argc, argv,
                           [&] { return gemm::run_stage(stage, options, gemm::command_line(argc, argv)); });
}
