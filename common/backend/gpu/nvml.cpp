#include "common/backend/gpu/nvml.hpp"

#include <dlfcn.h>

namespace gemm {
namespace {

// From the NVML API reference: the toolkit's header is not needed for these few, and PyPI's wheels don't carry it.
using Device = struct nvmlDevice_st*;
constexpr int success = 0;
constexpr int clock_sm = 1, clock_memory = 2;
constexpr int temperature_gpu = 0;

}  // namespace

Nvml& Nvml::instance() {
  static Nvml nvml;
  return nvml;
}

template <class Function>
Function Nvml::symbol(const char* name) const {
  return library_ ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
}

Nvml::Nvml() {
  library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  const auto initialise = symbol<int (*)()>("nvmlInit_v2");
  if (!initialise || initialise() != success) library_ = nullptr;
}

std::string Nvml::driver_version() const {
  const auto get = symbol<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  char text[96] = {};
  return get && get(text, sizeof text) == success ? text : "";
}

std::optional<NvmlReading> Nvml::read(const std::string& pci_bus_id) const {
  const auto find = symbol<int (*)(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
  Device device = nullptr;
  if (!find || find(pci_bus_id.c_str(), &device) != success) return std::nullopt;

  NvmlReading reading;
  const auto get_unsigned = [&](const char* name) {
    const auto get = symbol<int (*)(Device, unsigned*)>(name);
    unsigned value = 0;
    return get && get(device, &value) == success ? value : 0u;
  };
  const auto get_selected = [&](const char* name, int which) {
    const auto get = symbol<int (*)(Device, int, unsigned*)>(name);
    unsigned value = 0;
    return get && get(device, which, &value) == success ? value : 0u;
  };
  reading.sm_mhz = get_selected("nvmlDeviceGetClockInfo", clock_sm);
  reading.memory_mhz = get_selected("nvmlDeviceGetClockInfo", clock_memory);
  reading.max_sm_mhz = get_selected("nvmlDeviceGetMaxClockInfo", clock_sm);
  reading.watts = get_unsigned("nvmlDeviceGetPowerUsage") * 1e-3;
  reading.watts_limit = get_unsigned("nvmlDeviceGetEnforcedPowerLimit") * 1e-3;
  reading.celsius = get_selected("nvmlDeviceGetTemperature", temperature_gpu);
  const auto reasons = symbol<int (*)(Device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  if (!reasons || reasons(device, &reading.throttle_reasons) != success) reading.throttle_reasons = 0;
  const auto ecc = symbol<int (*)(Device, int*, int*)>("nvmlDeviceGetEccMode");
  int current = 0, pending = 0;
  if (ecc && ecc(device, &current, &pending) == success) reading.ecc = current;
  return reading;
}

}  // namespace gemm
