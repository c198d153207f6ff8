#include "common/check/stage_run.hpp"

#include "common/backend/last_writer.hpp"

namespace gemm {

StageRun run_here(const Contender& contender, const Problem& problem, Looking looking) {
  StageRun run;
  run.observation = observe(
      [&] {
        const LaunchLogScope scope(run.launches);
        run.status = contender.launch(problem, nullptr);
      },
      looking);
  if (run.status && run.observation.defects.empty() && contender.policy) run.policy = contender.policy(problem);
  return run;
}

std::optional<std::string> last_writer_here(const Contender& contender, const Problem& problem, const void* address) {
  return last_writer([&] { contender.launch(problem, nullptr); }, address);
}

}  // namespace gemm
