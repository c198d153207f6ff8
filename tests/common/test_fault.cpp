// A kernel that faults takes the whole CUDA context with it: that must be reported as what it is, and end the run. In a
// program of its own, because nothing can be tested after it.
#include "tests/device_test.hpp"

gemm::Status launch_fault(const gemm::SgemmProblem& problem, cudaStream_t stream);

namespace gemm {
namespace {

class Fault : public DeviceTest {};

TEST_F(Fault, IsReportedAndEndsTheRun) {
  const std::vector<Contender> contenders = {
      contender(find_stage("04")), {"test/fault", Accuracy::fp32, launch_fault}, contender(find_stage("02"))};
  const auto results = evaluate(contenders, cube(64), EvaluateOptions{}, {});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[1].verdict.outcome, Outcome::fail);
  EXPECT_NE(results[1].verdict.reason.find("the kernel faulted"), std::string::npos) << results[1].verdict.reason;
  EXPECT_TRUE(results[1].verdict.device_lost);
  for (const Result& other : {results[0], results[2]}) {
    EXPECT_EQ(other.verdict.outcome, Outcome::skip) << other.id << " can't have been judged";
    EXPECT_NE(other.verdict.reason.find("test/fault crashed the device"), std::string::npos) << other.verdict.reason;
    EXPECT_FALSE(other.timed);
  }
  EXPECT_THROW(Workbench{cube(8)}, DeviceError) << "nothing runs any more, and says so";
}

}  // namespace
}  // namespace gemm
