#include "common/backend/timing.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <thread>

#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/backend/gpu/nvml.hpp"

namespace gemm {
namespace {

// Clocks set below the maximum by hand (bit 0x2) are a setting, not throttling.
constexpr unsigned long long throttling = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "create an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  bool has_passed() const { return cudaEventQuery(event_) != cudaErrorNotReady; }
  void record() { check_cuda(cudaEventRecord(event_), "record an event"); }
  double ms_since(const Event& start) const {
    check_cuda(cudaEventSynchronize(event_), "run the kernel");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start.event_, event_), "read an event");
    return ms;
  }

 private:
  cudaEvent_t event_{};
};

// Writing twice the L2's size leaves nothing else in it. Allocated once.
void flush_l2() {
  static const DeviceArray<unsigned char> buffer(2 * std::max<std::size_t>(open_device().l2_bytes, 1 << 20));
  check_cuda(cudaMemsetAsync(buffer.data(), 0, buffer.size()), "flush the L2 cache");
}

void enqueue(const Work& work, int launches) {
  for (int i = 0; i < launches; ++i) {
    if (const Status status = work(); !status) throw DeviceError("a launch failed while timing: " + status.reason);
  }
}

// Keeps the GPU waiting while launches are enqueued behind it. Else short kernels would be timed at the pace of the program
// that launches them. (NVBench does it with a kernel that waits.)
class Gate {
 public:
  Gate() { check_cuda(cudaLaunchHostFunc(nullptr, wait, reinterpret_cast<void*>(++last)), "enqueue a function"); }
  ~Gate() { opened = last; }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

 private:
  static void wait(void* number) {
    const auto begin = std::chrono::steady_clock::now();
    // Not for ever: a launch may wait for the GPU by itself, or the queue be full.
    while (opened < reinterpret_cast<std::intptr_t>(number) &&
           std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(50))
      std::this_thread::yield();
  }
  static inline std::intptr_t last = 0;
  static inline std::atomic<std::intptr_t> opened = 0;
};

// One sample: ms per launch over `launches` of them.
double sample(const Work& work, int launches, bool cold) {
  static Event start, stop;
  if (cold) flush_l2();
  {
    const Gate gate;
    start.record();
    enqueue(work, launches);
    stop.record();
  }
  return stop.ms_since(start) / launches;
}

void note_state(DeviceState& state, Samples& samples) {
  const auto reading = Nvml::instance().read(open_device().pci_bus_id);
  if (!reading) return;
  state.sm_mhz_min = state.known ? std::min(state.sm_mhz_min, reading->sm_mhz) : reading->sm_mhz;
  state.sm_mhz_max = std::max(state.sm_mhz_max, reading->sm_mhz);
  state.memory_mhz = reading->memory_mhz;
  state.watts_max = std::max(state.watts_max, reading->watts);
  state.celsius_max = std::max(state.celsius_max, reading->celsius);
  state.throttle_reasons |= reading->throttle_reasons & ~1ull;
  samples.throttled += (reading->throttle_reasons & throttling) != 0;
  state.known = true;
}

void refuse_debug_build() {
#ifndef NDEBUG
  throw DeviceError("this is a debug build, whose times mean nothing: build with CMAKE_BUILD_TYPE=Release to time");
#endif
}

}  // namespace

double time_launches(const Work& work, int launches) {
  refuse_debug_build();
  return launches * sample(work, launches, false);
}

TimingRun time_back_to_back(const Work& work, const TimingOptions& options) {
  refuse_debug_build();
  enqueue(work, 1);
  const double ms = std::max(sample(work, 3, false), 1e-4);
  const double all = std::max(options.seconds * 1e3, options.min_samples * ms);
  const int count =
      static_cast<int>(std::clamp(all / std::max(ms, 1.0), 1.0, static_cast<double>(options.max_samples)));
  TimingRun run;
  Samples& samples = run.samples.emplace_back();
  samples.launches_per_sample = std::max(static_cast<int>(all / ms / count), 1);
  std::vector<Event> events(static_cast<std::size_t>(count) + 1);
  enqueue(work, count * samples.launches_per_sample);  // until clocks and power have settled
  for (int i = 0; i <= count; ++i) {
    if (i > 0) enqueue(work, samples.launches_per_sample);
    events[i].record();
  }
  // The queue is full, and the GPU busy with it: now there is time to look.
  Samples readings;
  do note_state(run.state, readings);
  while (!events.back().has_passed());
  for (int i = 1; i <= count; ++i)
    samples.ms.push_back(events[i].ms_since(events[i - 1]) / samples.launches_per_sample);
  if (readings.throttled > 0) samples.throttled = count;
  return run;
}

TimingRun time_in_turns(const std::vector<Work>& contenders, const TimingOptions& options,
                        const std::function<void()>& before_last) {
  refuse_debug_build();
  TimingRun run;
  run.samples.resize(contenders.size());

  // Warm up, then see how long a launch takes: the very first may load code or start a library, a thousand times as
  // long. Short ones are timed in groups of a millisecond, well above the events' resolution of half a microsecond; a
  // cold launch must stand alone.
  constexpr double group_ms = 1.0;
  double slowest_group = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    enqueue(contenders[i], 1);
    double ms = sample(contenders[i], 1, options.cold);
    if (ms < group_ms) ms = sample(contenders[i], 3, options.cold);
    const int group =
        options.cold ? 1 : static_cast<int>(std::clamp(std::ceil(group_ms / std::max(ms, 1e-4)), 1.0, 500.0));
    run.samples[i].launches_per_sample = group;
    slowest_group = std::max(slowest_group, ms * group);
  }

  const int fewest = slowest_group > 100 ? std::min(options.min_samples, 3) : options.min_samples;
  const int rounds =
      static_cast<int>(std::clamp(options.seconds * 1e3 / std::max(slowest_group, 1e-3), static_cast<double>(fewest),
                                  static_cast<double>(options.max_samples)));
  for (int round = 0; round < rounds; ++round) {
    // The first contender goes last in the last round: what it leaves is what before_last's caller inspects.
    const bool last = round == rounds - 1;
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t i = last ? contenders.size() - 1 - turn : turn;
      if (last && i == 0 && before_last) before_last();
      run.samples[i].ms.push_back(sample(contenders[i], run.samples[i].launches_per_sample, options.cold));
      note_state(run.state, run.samples[i]);
    }
  }
  return run;
}

}  // namespace gemm
