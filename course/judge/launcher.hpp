// The process that a submission's kernels run in on a GPU. It holds no reference, no seed and no clock of the grader's, and of
// the submission only machine code for the GPU: no host code of a submission ever runs beside the CUDA runtime.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/report/json.hpp"

namespace course {

/// What is launched on given operands: kernels of a file by a plan (course_judge), or a library.
struct Program {
  std::string name;   ///< in messages
  std::string cubin;  ///< a file; empty: the yardstick of this build (gemm::baselines)
  gemm::Json plan;
};

/// The other end is a Launcher. Answers until the connection ends.
void serve_launches(int socket, const Program& program);

}  // namespace course
