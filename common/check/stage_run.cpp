#include "common/check/stage_run.hpp"

#include "common/backend/last_writer.hpp"

namespace gemm {

StageRun run_here(const Contender& contender, const Problem& problem, Looking looking) {
  StageRun run;
  run.observation = observe(
      [&] {
        const LaunchLogScope scope(run.launches);
        const StageStream stream;
        run.status = contender.launch(problem, stream.get());
        const std::size_t element = size_of(result_of(problem.type));
        read_in_order(problem.out, problem.all_rows(), static_cast<std::size_t>(problem.n) * element,
                      static_cast<std::size_t>(problem.ldout) * element);
      },
      looking);
  if (run.status && run.observation.defects.empty() && contender.policy) run.policy = contender.policy(problem);
  return run;
}

std::optional<std::string> last_writer_here(const Contender& contender, const Problem& problem, const void* address) {
  return last_writer([&] { contender.launch(problem, nullptr); }, address);
}

}  // namespace gemm
