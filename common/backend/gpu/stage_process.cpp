// A CUDA context does not survive a fork: stages run in this process.
#include "common/check/stage_run.hpp"

namespace gemm {

void set_stages_apart(double) {}

StageRun run_apart(const Contender& contender, const Problem& problem, Looking looking) {
  return run_here(contender, problem, looking);
}

std::string look_on_apart(const Contender& contender, const Problem& problem, const Onlooker& onlooker) {
  return onlooker([&] { return contender.launch(problem, nullptr); });
}

std::optional<std::string> last_writer_apart(const Contender& contender, const Problem& problem, const void* address) {
  return last_writer_here(contender, problem, address);
}

}  // namespace gemm
