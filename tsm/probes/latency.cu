// latency: how long a load takes, from the L1 cache, the L2 cache, device memory and shared memory, and how long an FP64
// FMA; and how many loads an SM takes in a cycle.
//
// Idea      A thread that has nothing else to do follows a chain of addresses, each of which the last load gave. Where
//           the chain fits a cache, the time of a step is that cache's latency. FMAs that add to one sum are a chain,
//           too. Many warps that load at once show the throughput.
// Kernels   chase, chase_shared, add_up: one thread. load_lines: 32 warps of each SM, whose loads touch 1 to 32 lines
//           of 128 bytes.
// Predicted Device memory: the ceiling that `ladder` measures. Throughput: the wavefronts of the banks, or of the L1
//           four lines a cycle, whichever is more (docs/concepts/counts.md). The others are guesses.
// Page      docs/tsm/probes.md#latency
// Source    Ernst et al. (2020), sections 1.6 and 5.3; the order of the chain: Hull and Dobell (1962).
#include <algorithm>
#include <array>
#include <cstring>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "tsm/probes/instructions.cuh"

namespace {

using gemm::Json;
namespace probes = gemm::probes;

constexpr int LINE_WORDS = 32;    // 128 bytes
constexpr int LINE_DOUBLES = 16;  // the same
constexpr int LINES = 32;         // of one load at most
constexpr int LOADS = 8;          // of a thread in a round, each from lines of its own: 32 KiB for all
constexpr int THREADS = 1024;
constexpr int SHARED_WORDS = 4096;  // of the chain in shared memory: 16 KiB
constexpr int FMAS = 64;            // of a round: the loop's own instructions are issued while these wait
constexpr double GUESSED_L1 = 35, GUESSED_L2 = 250;  // cycles
constexpr double GUESSED_SHARED = 24, GUESSED_FMA = 8;

// Each line holds the number of the next. A linear congruential generator modulo a power of two passes through all
// lines, in an order that nobody guesses, if a % 4 is 1 and c is odd.
__host__ __device__ unsigned next_line(unsigned line, unsigned lines) {
  return (line * 1664525u + 1013904223u) & (lines - 1);
}

__global__ void link_lines(unsigned* words, unsigned lines) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += threads)
    words[static_cast<std::size_t>(i) * LINE_WORDS] = next_line(i, lines);
}

// The first `warm` steps bring a short chain into the L1; the clock runs for the others.
__global__ void chase(const unsigned* words, int warm, int steps, unsigned* at, long long* cycles) {
  unsigned line = *at;  // where the launch before ended, so that a long chain meets no line again soon
#pragma unroll 1
  for (int step = 0; step < warm; ++step) line = __ldca(words + static_cast<std::size_t>(line) * LINE_WORDS);
  *at = line;  // the clock waits for it
  const long long begin = probes::sm_clock();
#pragma unroll 4
  for (int step = 0; step < steps; ++step) line = __ldca(words + static_cast<std::size_t>(line) * LINE_WORDS);
  *at = line;
  *cycles = probes::sm_clock() - begin;
}

// The same in shared memory, where a word holds the address of the next: a step is nothing but the load.
__global__ void chase_shared(int steps, std::uint32_t* at, long long* cycles) {
  __shared__ std::uint32_t words[SHARED_WORDS];
  for (unsigned i = 0; i < SHARED_WORDS; ++i) words[i] = probes::shared_place(words, next_line(i, SHARED_WORDS));
  std::uint32_t place = probes::shared_place(words, 0);
  const long long begin = probes::sm_clock();
#pragma unroll 4
  for (int step = 0; step < steps; ++step) probes::follow_shared(place, words);
  *at = probes::shared_number(words, place);  // the clock waits for it
  *cycles = probes::sm_clock() - begin;
}

// Each FMA waits for the sum that the one before has left.
__global__ void add_up(double x, double y, int rounds, double* sum, long long* cycles) {
  double total = 0;
  const long long begin = probes::sm_clock();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < FMAS; ++i) probes::fused_multiply_add(total, x, y);
  }
  *sum = total;
  *cycles = probes::sm_clock() - begin;
}

// Lane i loads the double at offset[i], and LOADS - 1 others, each so much further. `step` is 0, which the compiler
// doesn't know: else it would load once.
template <bool shared>
__global__ void __launch_bounds__(THREADS)
    load_lines(const double* data, const int* offset, int rounds, int step, double* out, long long* cycles) {
  __shared__ double words[shared ? LOADS * LINES * LINE_DOUBLES : 1];
  const double* from = data + offset[threadIdx.x % 32];
  if constexpr (shared) {
    for (int i = threadIdx.x; i < LOADS * LINES * LINE_DOUBLES; i += blockDim.x) words[i] = data[i];
    from = words + offset[threadIdx.x % 32];
  }
  double sum[LOADS] = {};
  __syncthreads();
  const long long begin = probes::sm_clock();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      double x;
      if constexpr (shared)
        probes::load_shared(x, from + i * LINES * LINE_DOUBLES);
      else
        probes::load_global(x, from + i * LINES * LINE_DOUBLES);
      sum[i] += x;
    }
    from += step;
  }
  __syncthreads();
  const long long end = probes::sm_clock();
  double total = 0;
  for (int i = 0; i < LOADS; ++i) total += sum[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

// ---- chains

int most_mib = 2048;

Json measure_chain(const gemm::ProbeRun& run, const gemm::DeviceArray<unsigned>& words, unsigned lines) {
  const std::int64_t bytes = std::int64_t{lines} * LINE_WORDS * 4;
  Json result = {{"part", "chain"}, {"bytes", bytes}, {"status", "pass"}, {"reason", ""}};
  // Only that of device memory is known; for the caches a guess from GPUs of the last years.
  double ns = 0;
  if (bytes <= 1 << 16) ns = GUESSED_L1 / run.machine.ghz();
  if (bytes >= 1 << 20 && bytes <= 1 << 24) ns = GUESSED_L2 / run.machine.ghz();
  if (bytes >= 1 << 30) ns = run.machine.latency_ns;
  if (ns > 0) {
    result["predicted_ns"] = ns;
    result["predicted_cycles"] = ns * run.machine.ghz();
  }
  const int warm = static_cast<int>(std::min(lines, 2048u)), steps = run.time ? 1 << 13 : 64;
  gemm::DeviceArray<unsigned> at(1);
  gemm::DeviceArray<long long> cycles(1);
  gemm::check_cuda(cudaMemset(at.data(), 0, sizeof(unsigned)), "clear a word");
  const auto launch = [](const gemm::Status& status) {
    if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
  };
  launch(gemm::launch(link_lines, {.grid = 1024, .block = 32}, words.data(), lines));
  const auto work = [&](int count) -> gemm::Work {
    return [&, count] { return gemm::launch(chase, {}, words.data(), warm, count, at.data(), cycles.data()); };
  };
  launch(work(steps)());
  unsigned line = 0;
  for (int i = 0; i < warm + steps; ++i) line = next_line(line, lines);
  if (at.to_host()[0] != line) {
    result["status"] = "fail";
    result["reason"] = "the chain ends elsewhere";
  }
  if (!run.time) return result;
  // Of two lengths the difference: what a launch costs, and the steps before the clock, are in both.
  gemm::TimingOptions options;
  options.seconds = 0.02;
  options.min_samples = 3;
  const gemm::TimingRun timed = gemm::time_in_turns({work(2 * steps), work(steps)}, options, {});
  gemm::add_times(result, timed);
  result["ns"] = (timed.samples[0].median() - timed.samples[1].median()) * 1e6 / steps;
  launch(work(steps)());
  result["cycles"] = static_cast<double>(cycles.to_host()[0]) / steps;
  return result;
}

// ---- shared memory, FMAs

Json measure_shared_chain(const gemm::ProbeRun& run) {
  Json result = {{"part", "dependent"},
                 {"what", "shared"},
                 {"predicted_cycles", GUESSED_SHARED},
                 {"status", "pass"},
                 {"reason", ""}};
  const int steps = run.time ? 1 << 13 : 64;
  gemm::DeviceArray<std::uint32_t> at(1);
  gemm::DeviceArray<long long> cycles(1);
  const gemm::Status status = gemm::launch(chase_shared, {}, steps, at.data(), cycles.data());
  if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
  unsigned word = 0;
  for (int i = 0; i < steps; ++i) word = next_line(word, SHARED_WORDS);
  if (at.to_host()[0] != word) {
    result["status"] = "fail";
    result["reason"] = "the chain ends elsewhere";
  }
  if (run.time) result["cycles"] = static_cast<double>(cycles.to_host()[0]) / steps;
  return result;
}

Json measure_fmas(const gemm::ProbeRun& run) {
  Json result = {
      {"part", "dependent"}, {"what", "dfma"}, {"predicted_cycles", GUESSED_FMA}, {"status", "pass"}, {"reason", ""}};
  const int rounds = run.time ? 128 : 2;
  constexpr double x = 1.5, y = 2;  // each of their products is 3, and all sums are exact
  gemm::DeviceArray<double> sum(1);
  gemm::DeviceArray<long long> cycles(1);
  const gemm::Status status = gemm::launch(add_up, {}, x, y, rounds, sum.data(), cycles.data());
  if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
  if (const double found = sum.to_host()[0], right = x * y * FMAS * rounds; found != right) {
    result["status"] = "fail";
    result["reason"] = "the sum is " + gemm::significant(found, 17) + ", not " + gemm::significant(right, 17);
  }
  if (run.time) result["cycles"] = static_cast<double>(cycles.to_host()[0]) / (FMAS * rounds);
  return result;
}

// ---- lines

// Lanes share out so many lines among them. spread: side by side within a line, so that as many banks as possible have
// work; else (column) at the same place of each line, all in the same banks.
std::array<int, 32> lane_offsets(int lines, bool spread) {
  std::array<int, 32> offsets{};
  for (int lane = 0; lane < 32; ++lane) {
    const int line = spread ? lane * lines / 32 : lane % lines;
    const int word = lines == 1 ? lane / 2 : spread ? lane % LINE_DOUBLES : lane / lines;
    offsets[static_cast<std::size_t>(lane)] = line * LINE_DOUBLES + word;
  }
  return offsets;
}

// Wavefronts of a load of 8 bytes a lane: half a warp at a time, or all of it if lanes n and n ^ 1, or n and n ^ 2,
// agree; as many as the busiest pair of banks has words to give.
int wavefronts(const std::array<int, 32>& offset) {
  const auto agree = [&](int distance) {
    for (int lane = 0; lane < 32; ++lane) {
      if (offset[static_cast<std::size_t>(lane)] != offset[static_cast<std::size_t>(lane ^ distance)]) return false;
    }
    return true;
  };
  const int lanes = agree(1) || agree(2) ? 32 : 16;
  int total = 0;
  for (int first = 0; first < 32; first += lanes) {
    std::vector<int> words(offset.begin() + first, offset.begin() + first + lanes);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    int load[LINE_DOUBLES] = {}, most = 0;
    for (const int word : words) most = std::max(most, ++load[word % LINE_DOUBLES]);
    total += most;
  }
  return total;
}

template <bool shared>
Json measure_lines(const gemm::ProbeRun& run, const gemm::DeviceArray<double>& data, int lines, bool spread) {
  const std::array<int, 32> offsets = lane_offsets(lines, spread);
  const double banks = wavefronts(offsets), tags = lines / 4.0;
  const double predicted = shared ? banks : std::max(banks, tags);
  Json result = {{"part", "lines"},     {"memory", shared ? "shared" : "l1"},
                 {"lines", lines},      {"pattern", spread ? "spread" : "column"},
                 {"wavefronts", banks}, {"predicted_cycles", predicted},
                 {"status", "pass"},    {"reason", ""}};
  const int threads = run.time ? THREADS : 32, rounds = run.time ? 512 : 2;
  const auto blocks = static_cast<std::size_t>(run.sm_count);
  gemm::DeviceArray<int> offset(32);
  gemm::DeviceArray<double> out(blocks * static_cast<std::size_t>(threads));
  gemm::DeviceArray<long long> cycles(blocks);
  gemm::check_cuda(cudaMemcpy(offset.data(), offsets.data(), sizeof offsets, cudaMemcpyHostToDevice), "copy offsets");
  for (int launch = 0; launch < 2; ++launch) {  // the first one warms up
    const gemm::Status status = gemm::launch(
        load_lines<shared>, {.grid = static_cast<unsigned>(blocks), .block = static_cast<unsigned>(threads)},
        data.data(), offset.data(), rounds, 0, out.data(), cycles.data());
    if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
  }
  const std::vector<double> sums = out.to_host();
  for (std::size_t thread = 0; thread < sums.size(); ++thread) {
    double right = 0;
    for (int i = 0; i < LOADS; ++i)
      right += rounds * static_cast<double>(offsets[thread % 32] + i * LINES * LINE_DOUBLES);
    if (sums[thread] != right) {
      result["status"] = "fail";
      result["reason"] = "thread " + std::to_string(thread) + " has " + gemm::significant(sums[thread], 17) + ", not " +
                         gemm::significant(right, 17);
    }
  }
  if (run.time) {
    std::vector<long long> all = cycles.to_host();
    std::sort(all.begin(), all.end());
    result["cycles"] = static_cast<double>(all[all.size() / 2]) / (rounds * LOADS * (threads / 32));
  }
  return result;
}

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  gemm::ProbeReport report;
  report.settings = {{"mib", run.time ? most_mib : 0}};
  report.table = {{"chain", "predicted ns", "ns", "predicted cycles", "cycles"}};
  const auto cell = [](const Json& result, const char* key) {
    return result.contains(key) ? gemm::significant(result[key]) : std::string("-");
  };
  const std::int64_t longest = run.time ? most_mib * (1LL << 20) : 1 << 17;
  double latency = 0;
  {
    const gemm::DeviceArray<unsigned> words(static_cast<std::size_t>(longest / 4));
    for (unsigned lines = 128; std::int64_t{lines} * LINE_WORDS * 4 <= longest; lines *= 2) {
      Json result = measure_chain(run, words, lines);
      const std::int64_t kib = result["bytes"].get<std::int64_t>() >> 10;
      report.table.push_back({kib < 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib >> 10) + " MiB",
                              cell(result, "predicted_ns"), cell(result, "ns"), cell(result, "predicted_cycles"),
                              cell(result, "cycles")});
      latency = result.value("ns", 0.0);
      report.results.push_back(std::move(result));
    }
  }

  report.table.push_back({"one after another", "", "", "predicted cycles", "cycles"});
  constexpr std::pair<const char*, Json (*)(const gemm::ProbeRun&)> chains[] = {
      {"loads from shared memory", measure_shared_chain}, {"FP64 FMAs on one sum", measure_fmas}};
  for (const auto& [title, measure] : chains) {
    Json result = measure(run);
    report.table.push_back({title, "", "", cell(result, "predicted_cycles"), cell(result, "cycles")});
    report.results.push_back(std::move(result));
  }

  std::vector<double> values(LOADS * LINES * LINE_DOUBLES);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const gemm::DeviceArray<double> data(values.size());
  gemm::check_cuda(cudaMemcpy(data.data(), values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice),
                   "copy");
  report.table.push_back({"lines of a warp's load", "pattern", "", "predicted cycles", "cycles"});
  for (const bool spread : {true, false}) {
    for (int lines = 1; lines <= LINES; lines *= 2) {
      for (const bool shared : {false, true}) {
        Json result =
            shared ? measure_lines<true>(run, data, lines, spread) : measure_lines<false>(run, data, lines, spread);
        report.table.push_back({std::to_string(lines) + (shared ? " of shared memory" : " of the L1"),
                                result["pattern"], "", cell(result, "predicted_cycles"), cell(result, "cycles")});
        report.results.push_back(std::move(result));
      }
    }
  }
  const auto in_flight = [&](double ns) {
    return gemm::decimals(ns, 1) + " ns are " +
           gemm::decimals(ns * run.machine.read_gbs / run.machine.sm_count / 1000, 1) + " kB in flight an SM";
  };
  report.text = "Little's law for " + gemm::decimals(run.machine.read_gbs, 0) +
                " GB/s: " + in_flight(run.machine.latency_ns) + "\n";
  if (latency > 0)
    report.text += "with the longest chain's: " + in_flight(latency) + "; `probe bandwidth` shows how many it takes\n";
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "latency of L1, L2, device and shared memory, and of FP64 FMAs; cycles of a load against the cache lines "
             "that it touches",
     .options = {{.name = "--mib",
                  .description = "MiB of the longest chain, beyond the L2 cache",
                  .number = &most_mib,
                  .least = 1,
                  .most = 1 << 14}},
     .run = probe}};

}  // namespace
