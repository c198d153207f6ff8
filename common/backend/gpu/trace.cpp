#include "common/backend/trace.hpp"

namespace gemm {

AccessTrace trace_accesses(const std::string&, const std::function<Status()>&, const TraceChoice&) {
  throw DeviceError("a trace comes from the CPU executor: use the `cpu` build (./lab trace 03 --cpu --html FILE)");
}

}  // namespace gemm
