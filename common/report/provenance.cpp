#include "common/report/provenance.hpp"

#include <nlohmann/json.hpp>

#include "common/backend/device.hpp"
#include "common/report/build_info.hpp"

namespace gemm {

Json provenance(const std::string& command, const std::optional<Ceilings>& ceilings) {
  const DeviceInfo& device = open_device();
  Json json = {{"device", device.name},
               {"compute_capability", device.compute_capability},
               {"sm_count", device.sm_count},
               {"l2_bytes", device.l2_bytes},
               {"driver", device.driver},
               {"cuda", device.cuda},
               {"cublas", device.cublas},
               {"cublas_compute_type", device.gpu ? "CUBLAS_COMPUTE_32F_PEDANTIC" : ""},
               {"architectures", GEMM_CUDA_ARCHITECTURES},
               {"build_type", GEMM_BUILD_TYPE},
               {"compiler", GEMM_COMPILER},
               {"commit", build_commit()},
               {"command", command}};
  if (device.gpu) {
    json["memory_bytes"] = device.memory_bytes;
    json["sm_shared_bytes"] = device.sm_shared_bytes;
  }
  if (ceilings) {
    json["ceilings"] = {{"read_gbs", ceilings->read_gbs},       {"copy_gbs", ceilings->copy_gbs},
                        {"scale_gbs", ceilings->scale_gbs},     {"ffma_gflops", ceilings->ffma_gflops},
                        {"hfma_gflops", ceilings->hfma_gflops}, {"dfma_gflops", ceilings->dfma_gflops},
                        {"dmma_gflops", ceilings->dmma_gflops}, {"hmma_gflops", ceilings->hmma_gflops},
                        {"tmma_gflops", ceilings->tmma_gflops}, {"shared_gbs", ceilings->shared_gbs},
                        {"launch_us", ceilings->launch_us},     {"latency_ns", ceilings->latency_ns}};
  }
  return json;
}

}  // namespace gemm
