// Clocks, power, temperature and throttling, from NVML. The library is opened at run time: it belongs to the driver,
// and a machine that only builds has none.
#pragma once

#include <optional>
#include <string>

namespace gemm {

struct NvmlReading {
  unsigned sm_mhz = 0, memory_mhz = 0;
  unsigned max_sm_mhz = 0;
  double watts = 0, watts_limit = 0;
  unsigned celsius = 0;
  unsigned long long throttle_reasons = 0;
  int ecc = -1;  ///< 1 on, 0 off, -1 unknown
};

class Nvml {
 public:
  static Nvml& instance();

  bool available() const { return library_ != nullptr; }
  std::string driver_version() const;
  /// Nothing if NVML, or the device (by PCI bus id, as CUDA gives it), is not there.
  std::optional<NvmlReading> read(const std::string& pci_bus_id) const;

 private:
  Nvml();
  template <class Function>
  Function symbol(const char* name) const;

  void* library_ = nullptr;
};

}  // namespace gemm
