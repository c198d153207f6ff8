#include "common/backend/trace.hpp"

#include "common/kernel/status.hpp"

namespace gemm {

AccessTrace trace_accesses(const Contender&, const Problem&, const TraceChoice&) {
  throw DeviceError("a trace comes from the CPU executor: use the `cpu` build (./lab trace 03 --cpu --html FILE)");
}

}  // namespace gemm
