// What this device can do at most: the lines of a roofline.
#pragma once

#include <optional>

namespace gemm {

/// Measured on this device in this run, never taken from a datasheet.
struct Ceilings {
  double read_gbs = 0;     ///< device memory, read only, 1e9 byte/s
  double copy_gbs = 0;     ///< device memory, read + write, both counted
  double scale_gbs = 0;    ///< device memory, by a kernel that reads an array and writes one, both counted
  double ffma_gflops = 0;  ///< FP32 FMA on the plain cores, 1e9 flop/s
  double hfma_gflops = 0;  ///< FP16 FMA on the plain cores, two of them a lane and instruction
  double dfma_gflops = 0;  ///< FP64 FMA on the plain cores
  double dmma_gflops = 0;  ///< FP64 FMA on the Tensor Cores; 0: it has none for them
  double hmma_gflops = 0;  ///< FP16 products with FP32 sums on the Tensor Cores, by mma.sync (wgmma has more on sm_90)
  double tmma_gflops = 0;  ///< TF32 products, by mma.sync; 0: it has none
  double shared_gbs = 0;   ///< shared memory, all SMs together
  double launch_us = 0;    ///< an empty kernel, launched back to back
  double latency_ns =
      0;  ///< of a load from device memory: a thread's alone, each at the address that the last one gave
};

/// Measures all of them (about 0.3 s), which also brings an idle GPU's clocks up: call it before timing. Nothing on the
/// CPU executor, which has no clock that means anything.
std::optional<Ceilings> measure_ceilings();

}  // namespace gemm
