#include "common/backend/thread_map.hpp"

#include "common/kernel/status.hpp"

namespace gemm {

std::optional<ThreadMap> thread_map(const Stage&) {
  throw DeviceError("the map of threads is found by the CPU executor: use the `cpu` build (./lab map 07 --cpu)");
}

}  // namespace gemm
