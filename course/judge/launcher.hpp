// The process that a submission's kernels run in on a GPU. It holds no reference, no seed and no clock of the grader's, and of
// the submission only machine code for the GPU: no host code of a submission ever runs beside the CUDA runtime.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/backend/cpu/wire.hpp"
#include "common/problem/problem.hpp"
#include "common/report/json.hpp"

namespace course {

/// What is launched on given operands: kernels of a file by a plan (course_judge), or a library.
struct Program {
  std::string name;   ///< in messages
  std::string cubin;  ///< a file; empty: the yardstick of this build (gemm::baselines)
  gemm::Json plan;
};

/// What it is asked for. The bytes of the three operands follow, a message each, if they are new.
struct Request {
  gemm::Problem problem;    ///< its pointers mean nothing
  std::int64_t first[3]{};  ///< from where the operands' bytes begin to the first element of each
  int launches = 1;
  bool new_operands = true;
};

inline std::string request_of(const Request& request) {
  gemm::wire::Writer writer;
  writer.put(request);
  return writer.bytes();
}
inline Request get_request(std::string bytes) {
  return gemm::wire::Reader(std::move(bytes)).next<Request>();
}

/// Of it: why it failed, or nothing; a launch's time. The bytes of the result follow, if it did not and the operands are new.
inline std::string answer_of(const std::string& reason, double ms) {
  gemm::wire::Writer writer;
  writer.put(reason);
  writer.put(ms);
  return writer.bytes();
}

/// "ready" comes when the operands lie on the GPU; any message starts the launches, and the answer comes when they have ended.
/// The other end is a Launcher. Answers until the connection ends.
void serve_launches(int socket, const Program& program);

}  // namespace course
