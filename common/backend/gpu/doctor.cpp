#include "common/backend/doctor.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "common/backend/device.hpp"
#include "common/backend/gpu/nvml.hpp"
#include "common/backend/timing.hpp"
#include "common/kernel/status.hpp"

namespace gemm {
namespace {

int trouble = 0;

void line(bool good, const std::string& text, const std::string& advice = {}) {
  fmt::print("{:<5} {}{}\n", good ? "ok" : "CHECK", text, good || advice.empty() ? "" : ": " + advice);
  trouble += !good;
}

// A fact that never stands in the way of running.
void note(const std::string& text) {
  fmt::print("note  {}\n", text);
}

// Whether this user may read hardware counters: else ncu answers ERR_NVGPUCTRPERM.
void profiler_permission() {
  std::ifstream file("/proc/driver/nvidia/params");
  if (!file) return note("profiler permission unknown (/proc/driver/nvidia/params can't be read); ncu tells");
  bool admin_only = false;
  for (std::string text; std::getline(file, text);)
    admin_only |= text.find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (!admin_only || geteuid() == 0) return line(true, "hardware counters may be read (ncu works)");
  note(
      "ncu will answer ERR_NVGPUCTRPERM: hardware counters are for root only; run ncu with sudo, or set "
      "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia kernel module");
}

}  // namespace

int doctor() {
  const std::string build_type = GEMM_BUILD_TYPE;
  line(build_type == "Release" || build_type == "RelWithDebInfo", "build type " + build_type,
       "a debug build refuses to time; configure with CMAKE_BUILD_TYPE=Release");
  fmt::print("ok    built for {} with {}\n", GEMM_CUDA_ARCHITECTURES, GEMM_COMPILER);

  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    line(false, "no NVIDIA driver", "install one for a GPU; without a GPU, ./lab ladder runs everything on the CPU");
    return 1;
  }
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  line(driver / 1000 >= runtime / 1000,
       fmt::format("driver {} (for CUDA {}.{}), runtime {}.{}", Nvml::instance().driver_version(), driver / 1000,
                   driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10),
       "the driver is older than the toolkit: update the driver, or build with an older CUDA");
  try {
    const DeviceInfo& device = open_device();
    line(true, fmt::format("GPU {}, sm_{}, {} SMs, {:.0f} GiB; the build has code for it; cuBLAS {}", device.name,
                           device.compute_capability, device.sm_count, device.memory_bytes / 0x1p30, device.cublas));
    if (const auto now = Nvml::instance().read(device.pci_bus_id)) {
      const std::string reasons = throttle_text(now->throttle_reasons);
      line((now->throttle_reasons & ~0x103ull) == 0,
           fmt::format("clocks {} of {} MHz (SM), memory {} MHz, {} C{}", now->sm_mhz, now->max_sm_mhz, now->memory_mhz,
                       now->celsius, reasons.empty() ? "" : ", held back by: " + reasons),
           "throttled samples are flagged in every result; let it cool, or see who else uses it");
      line(true, fmt::format("power {:.0f} of {:.0f} W, ECC {}", now->watts, now->watts_limit,
                             now->ecc == 1   ? "on"
                             : now->ecc == 0 ? "off"
                                             : "unknown"));
    } else {
      note("no NVML: clocks, power and throttling will not be logged with results");
    }
    profiler_permission();
  } catch (const DeviceError& error) {
    line(false, error.what());
  }
  return trouble ? 1 : 0;
}

}  // namespace gemm
