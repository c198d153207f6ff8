// Timing with CUDA events: contenders take turns, so that a drift of the clocks meets them all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/kernel/status.hpp"

namespace gemm {

/// What NVML read while samples were taken.
struct DeviceState {
  bool known = false;  ///< false without NVML
  unsigned sm_mhz_min = 0, sm_mhz_max = 0;
  unsigned memory_mhz = 0;
  double watts_max = 0;
  unsigned celsius_max = 0;
  unsigned long long throttle_reasons = 0;  ///< NVML's bit mask, idle left out, or-ed over all samples
};

struct Samples {
  std::vector<double> ms;  ///< per launch, one entry a sample, in the order taken
  int launches_per_sample = 1;
  int throttled = 0;  ///< samples during which the GPU held its clocks back

  double median() const;
  double min() const;
  double p90() const;
};

struct TimingOptions {
  bool cold = false;      ///< flush the L2 cache before every launch; else operands stay where the last left them
  double seconds = 0.25;  ///< about how long each contender is sampled
  int min_samples = 5;    ///< 3 where one takes more than 100 ms
  int max_samples = 50;
  bool back_to_back = false;  ///< besides, launches one behind another: time_back_to_back()
};

struct TimingRun {
  std::vector<Samples> samples;  ///< one for each contender
  DeviceState state;
};

/// Enqueues one launch on the default stream.
using Work = std::function<Status()>;

/// Times the contenders alternately: A B A B. `before_last` runs once before the last sample of the first contender, so
/// that the caller can see what that very sample computed. Throws DeviceError when a launch fails, in a debug build, or
/// where there is no clock (the CPU executor).
TimingRun time_in_turns(const std::vector<Work>& contenders, const TimingOptions& options,
                        const std::function<void()>& before_last);

/// Times launches one behind another, with no other work between them and no wait: what a program sees that does nothing
/// else, and at what clocks and power. They are enqueued all at once, for about options.seconds, after as long a warm-up.
/// Throws like time_in_turns.
TimingRun time_back_to_back(const Work& work, const TimingOptions& options);

/// So many launches together, in ms, with no warm-up: for callers that repeat and average by themselves. Throws like
/// time_in_turns.
double time_launches(const Work& work, int launches);

/// "SW power cap, HW slowdown", or empty.
std::string throttle_text(unsigned long long reasons);

}  // namespace gemm
