#include "common/backend/doctor.hpp"

#include <fmt/format.h>

#include "common/backend/device.hpp"

namespace gemm {

int doctor() {
  fmt::print("ok    build: CPU executor ({}), {}\n", GEMM_BUILD_TYPE, open_device().name);
  return 0;
}

}  // namespace gemm
