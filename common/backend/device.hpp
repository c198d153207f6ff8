// What the harness runs on: a GPU (common/gpu/) or the CPU executor (common/simt/). A build has one of the two.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace gemm {

struct DeviceInfo {
  std::string name;
  bool gpu = false;
  int compute_capability = 0;  ///< 10 * major + minor; 0 for the CPU executor
  int sm_count = 0;            ///< streaming multiprocessors, or OS threads of the executor
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  std::size_t sm_shared_bytes = 0;  ///< shared memory of an SM, at most
  std::string pci_bus_id;
  std::string driver, cuda, cublas;  ///< versions; empty where there is none
};

/// Opens the device that everything runs on. Throws DeviceError with one clear line if there is none, or if this build
/// holds no code for its architecture; StageError if a kernel of this program keeps the executor from running any.
const DeviceInfo& open_device();

/// The device that the calling thread has chosen, by cudaSetDevice(): what a choice of kernels depends on. Other than the
/// harness, libraries run on any, and several at once. The reference stays valid.
struct CurrentDevice {
  int number = 0;
  bool gpu = false;
  std::string name;            ///< as the CUDA runtime calls it; empty for the CPU executor
  int compute_capability = 0;  ///< as above
};
/// Throws as open_device() does.
const CurrentDevice& current_device();

/// What the compiler gave a kernel.
struct KernelResources {
  int registers = 0;      ///< per thread
  int spill_bytes = 0;    ///< local memory per thread
  int static_shared = 0;  ///< bytes per block
};

/// Nothing on the CPU executor, which has no registers to count.
std::optional<KernelResources> kernel_resources(const void* kernel);

/// As reports call it: "sgemm<4>". Empty on a GPU, where the launch log has an address alone.
std::string kernel_name(const void* kernel);

/// Whether machine code built for `architectures` (as in CMAKE_CUDA_ARCHITECTURES, but separated by commas:
/// "75-real,90a-real") runs on a device of this compute capability: same major version, minor not above; with a suffix
/// (90a), exactly that one.
bool architectures_cover(const std::string& architectures, int compute_capability);

}  // namespace gemm
