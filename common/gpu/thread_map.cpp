#include "common/thread_map.hpp"

#include "common/status.hpp"

namespace gemm {

int write_thread_maps(const std::string&) {
  throw DeviceError("the map of threads is found by the CPU executor: use the `cpu` build");
}

}  // namespace gemm
