// Rooflines: the least time a problem, or a stage's own way of solving it, can take on this device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/backend/ceilings.hpp"
#include "common/check/workbench.hpp"
#include "common/problem/registry.hpp"

namespace gemm {

struct Floor {
  double ms = 0;
  std::string by;  ///< what sets it
};

/// The roofline of the problem: FLOPs at the FMA ceiling of its type, on the plain cores, or compulsory bytes at the
/// read ceiling (of TSMM, which writes as much: at the scale ceiling), whichever takes longer.
/// With `tensor_cores`, FP64 problems get the Tensor Cores' ceiling if it is higher.
/// fp16_products: of an FP32 product on Tensor Cores (Emulation::fp16_products).
Floor problem_floor(const ProblemSpec& spec, const Ceilings& ceilings, bool tensor_cores = false,
                    double fp16_products = 0);

/// What bounds this stage, as its source is written: as above, and also its use of L1 and shared memory, its waits for
/// device memory, the launch,
/// and SMs left without a block (`blocks` on `sm_count` SMs). No floor in the strict sense: where nvcc merges loads,
/// the stage beats it.
Floor stage_prediction(const Stage& stage, const ProblemSpec& spec, const Ceilings& ceilings, unsigned blocks,
                       int sm_count);

/// Cycles of an SM that a warp-wide FMA takes where it has 128 FP32 lanes (sm_86, 89, 90, 100, 120); sm_75 and sm_80
/// have 64 and take twice as long. Predictions without a device are made for 128.
inline constexpr double cycles_per_warp_fma = 0.25;
/// The same in FP64 on the GPUs that are built for it: 64 lanes on sm_90 and sm_100. (sm_80 has 32, all others one or
/// two.)
inline constexpr double cycles_per_warp_fma64 = 0.5;

/// Cycles of an SM that a product of 16 x 8 x 16 takes in FP16 at the peak of sm_90's Tensor Cores, which only wgmma
/// reaches.
inline constexpr double cycles_per_mma = 1.0;
/// Cycles that 32 multiply-adds in double take there: an instruction of 16 x 8 x 4 is 16 times as many, in 4 cycles.
inline constexpr double cycles_per_tensor_fma64 = 0.25;

/// A warp-wide instruction of each of an SM's four schedulers a cycle.
inline constexpr double issue_slots = 4;

/// For how long a unit of an SM is busy with one of Counts::steps().
struct BusyUnit {
  std::string
      name;  ///< "shared memory" or "L1 cache" (the data banks), "L1 tags", "issue slots", "FP32 cores", "FP64 cores" or
             ///< "Tensor Cores"
  double cycles = 0;
};

/// What keeps an SM busy longest, from what the CPU executor has counted and from the machine code.
struct CountedBound {
  std::vector<BusyUnit> units;           ///< the cores first
  std::string by;                        ///< the busiest
  double cycles = 0;                     ///< its own
  double share_of_peak = 0;              ///< the most of the peak that this allows, 0 to 1
  double at_peak = cycles_per_warp_fma;  ///< cycles, at the peak
  std::string peak = "FP32";             ///< which: FP64 where most FMAs are; or "Tensor Core"
  std::string step = "FMA";              ///< or "mma"
};
/// `instructions` of a warp for each step, where they are known (machine_code.hpp).
CountedBound counted_bound(const Counts& counts, std::optional<double> instructions = std::nullopt);

/// The same without a device: which resource of an SM a warp-wide FMA of this stage keeps busy longest.
std::string predicted_bound(const Stage& stage, const ProblemSpec& spec);

/// The most of the FP32 peak that bound allows, 0 to 1.
double predicted_share_of_peak(const Stage& stage, const ProblemSpec& spec);

/// What the stage says of its use of L1 and shared memory on this problem.
L1Cycles l1_cycles(const Stage& stage, const ProblemSpec& spec);

}  // namespace gemm
