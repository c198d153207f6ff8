#include "common/check/stage_run.hpp"

namespace gemm {

StageRun run_here(const Contender& contender, const Problem& problem) {
  StageRun run;
  run.observation = observe([&] {
    const LaunchLogScope scope(run.launches);
    run.status = contender.launch(problem, nullptr);
  });
  if (run.status && run.observation.defects.empty() && contender.policy) run.policy = contender.policy(problem);
  return run;
}

}  // namespace gemm
