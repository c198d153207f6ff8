// bandwidth: how many bytes must be on their way for device memory to give all it has?
//
// Idea      Little's law: bandwidth = bytes in flight / latency. Bytes in flight are threads times loads that a thread has
//           under way; both are varied, and nothing else.
// Kernel    Each thread asks for ILP words before it needs the first, adds them up, and goes on: a sum of all words, by
//           persistent blocks. Dynamic shared memory that nobody uses sets how many blocks an SM holds.
// Predicted min(read ceiling, threads x ILP x bytes of a word / latency of a lone load).
// Page      docs/tsm/probes.md#bandwidth
// Source    Ernst et al. (2020), section 1.6, Table 1.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/device.hpp"
#include "common/device_memory.hpp"
#include "common/launch.cuh"
#include "common/probe.hpp"

namespace {

using gemm::Json;

constexpr int MOST_WARPS = 4;     // of a block
constexpr int CHAINS = 4;         // sums of a thread: additions must not wait for one another
constexpr int VALUES = 1021;      // word i holds i % VALUES: sums of them are exact
constexpr double LAUNCH_MS = 6;   // about how long one should take
constexpr int LEAST_ROUNDS = 16;  // of a thread

__device__ double total(double x) {
  return x;
}
__device__ double total(double2 x) {
  return x.x + x.y;
}

template <class Word, int ILP>
__global__ void __launch_bounds__(32 * MOST_WARPS) read_words(const Word* from, int rounds, double* sums) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const Word* at = from + thread;
  double sum[CHAINS] = {};
#pragma unroll 1  // or more than ILP loads would be under way
  for (int round = 0; round < rounds; ++round) {
    Word word[ILP];
#pragma unroll
    for (int i = 0; i < ILP; ++i) word[i] = at[i * threads];
    at += ILP * threads;
#pragma unroll
    for (int i = 0; i < ILP; ++i) sum[i % CHAINS] += total(word[i]);
  }
  sums[thread] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

__global__ void fill(double* words, std::int64_t count) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
    words[i] = static_cast<double>(i % VALUES);
}

int mib = 4096;

// Of the first `count` words.
double sum_of_first(std::int64_t count) {
  const std::int64_t rest = count % VALUES;
  return static_cast<double>(count / VALUES) * (VALUES * (VALUES - 1) / 2) + static_cast<double>(rest * (rest - 1) / 2);
}

struct Data {
  gemm::DeviceArray<double> words, sums;
  std::int64_t at =
      0;  // the next launch's first word: it goes on where the last one ended, so as to find nothing in the L2
};

// So much dynamic shared memory that an SM holds so many blocks and no more (each block takes 1 KiB besides).
std::size_t shared_for(int blocks_of_sm) {
#ifdef __CUDACC__
  const int all = gemm::device_limits().shared_bytes_per_block + 1024;
  return static_cast<std::size_t>((all / blocks_of_sm - 1024) / 1024 * 1024);
#else
  static_cast<void>(blocks_of_sm);
  return 0;
#endif
}

// One place in the table: `warps` of an SM, or of the whole GPU if `alone`.
template <class Word, int ILP>
Json measure(const gemm::ProbeRun& run, Data& data, int warps, bool alone) {
  constexpr int doubles = sizeof(Word) / sizeof(double);
  const int block_warps = std::min(warps, MOST_WARPS), of_sm = warps / block_warps;
  const int blocks = alone ? 1 : of_sm * run.sm_count;
  const std::int64_t threads = 32LL * block_warps * blocks, round_words = threads * ILP * doubles;
  const double in_flight = static_cast<double>(round_words) * sizeof(double) / (alone ? 1 : run.sm_count);  // of an SM
  const double all = in_flight * (alone ? 1 : run.machine.sm_count);
  const double predicted = std::min(run.machine.read_gbs, all / run.machine.latency_ns);
  Json result = {{"word_bytes", sizeof(Word)},
                 {"ilp", ILP},
                 {"warps_per_sm", alone ? 0 : warps},
                 {"blocks", blocks},
                 {"block_threads", 32 * block_warps},
                 {"bytes_in_flight_per_sm", in_flight},
                 {"predicted_gbs", predicted},
                 {"status", "pass"},
                 {"reason", ""}};
  if (const auto resources = gemm::kernel_resources(reinterpret_cast<const void*>(&read_words<Word, ILP>))) {
    result["registers"] = resources->registers;
    const int fit = 65536 / ((resources->registers + 7) / 8 * 8 * 32);
    if (warps > fit) {
      result["status"] = "skip";
      result["reason"] = fmt::format("{} registers a thread: at most {} warps", resources->registers, fit);
      return result;
    }
  }
  const std::int64_t limit = static_cast<std::int64_t>(data.words.size());
  const double wanted = run.time ? predicted * 1e6 * LAUNCH_MS / sizeof(double) : 0;
  const std::int64_t most = std::min(limit, std::max<std::int64_t>(static_cast<std::int64_t>(wanted), 1));
  const int rounds = static_cast<int>(std::max<std::int64_t>(most / round_words, run.time ? LEAST_ROUNDS : 2));
  const std::int64_t count = rounds * round_words;
  if (count > limit) {
    result["status"] = "skip";
    result["reason"] = "the data are too few for so many threads";
    return result;
  }
  std::int64_t first = 0;
  const gemm::Work work = [&] {
    if (data.at + count > limit) data.at = 0;
    first = data.at;
    data.at += count;
    return gemm::launch(read_words<Word, ILP>,
                        {.grid = static_cast<unsigned>(blocks),
                         .block = static_cast<unsigned>(32 * block_warps),
                         .dynamic_shared = alone ? 0 : shared_for(of_sm)},
                        reinterpret_cast<const Word*>(data.words.data() + first), rounds, data.sums.data());
  };
  result["bytes"] = count * static_cast<std::int64_t>(sizeof(double));
  if (run.time) {
    const gemm::TimingRun timed = gemm::time_probe(work);
    gemm::add_times(result, timed);
    result["gbs"] = static_cast<double>(count) * sizeof(double) / (timed.samples[0].median() * 1e6);
  } else if (const gemm::Status status = work(); !status) {
    throw gemm::DeviceError("a launch failed: " + status.reason);
  }
  const std::vector<double> sums = data.sums.to_host();
  const double sum = std::accumulate(sums.begin(), sums.begin() + threads, 0.0);
  const double right = sum_of_first(first + count) - sum_of_first(first);
  if (sum != right) {
    result["status"] = "fail";
    result["reason"] = fmt::format("the sum is {}, not {}", sum, right);
  }
  return result;
}

// The rows of a table, a column for each ILP.
template <class Word>
void measure_all(const gemm::ProbeRun& run, Data& data, gemm::ProbeReport& report) {
  const auto row = [&]<int... ILP>(std::integer_sequence<int, ILP...>, int warps, bool alone) {
    std::vector<std::string> cells = {
        fmt::format("{} bytes, {}", sizeof(Word), alone ? "1 block, 4 warps" : fmt::format("{} warps an SM", warps))};
    const auto add = [&](Json result) {
      cells.push_back(
          result["status"] == "pass"
              ? fmt::format("{:.4g} / {}", result["predicted_gbs"].get<double>(),
                            result.contains("gbs") ? fmt::format("{:.4g}", result["gbs"].get<double>()) : "-")
              : result["status"].get<std::string>());
      report.results.push_back(std::move(result));
    };
    (add(measure<Word, ILP>(run, data, warps, alone)), ...);
    report.table.push_back(cells);
  };
  constexpr std::integer_sequence<int, 1, 2, 4, 8, 16> ilps;
  row(ilps, 4, true);
  for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
    if (run.time || warps <= 8) row(ilps, warps, false);  // the executor's threads are fibers
  }
}

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  constexpr std::int64_t few = 1 << 16;
  const std::int64_t count = run.time ? mib * (1LL << 20) / static_cast<std::int64_t>(sizeof(double)) : few;
  Data data{gemm::DeviceArray<double>(static_cast<std::size_t>(count)),
            gemm::DeviceArray<double>(static_cast<std::size_t>(run.sm_count) * 2048)};
  const gemm::Status filled = gemm::launch(fill, {.grid = 1024, .block = 32}, data.words.data(), count);
  if (!filled) throw gemm::DeviceError(filled.reason);

  gemm::ProbeReport report;
  report.settings = {{"mib", run.time ? mib : 0}};
  report.table = {{"predicted / measured, GB/s; ILP:", "1", "2", "4", "8", "16"}};
  measure_all<double>(run, data, report);
  measure_all<double2>(run, data, report);

  const double needed = run.machine.latency_ns * run.machine.read_gbs / run.machine.sm_count;
  report.text = fmt::format("Little's law: {:.1f} ns x {:.0f} GB/s = {:.1f} kB in flight an SM\n",
                            run.machine.latency_ns, run.machine.read_gbs, needed / 1000);
  double best = 0, least = 0;
  for (const Json& result : report.results) best = std::max(best, result.value("gbs", 0.0));
  for (const Json& result : report.results) {
    const double bytes = result["bytes_in_flight_per_sm"];
    if (result["warps_per_sm"] > 0 && result.value("gbs", 0.0) >= 0.9 * best && (least == 0 || bytes < least))
      least = bytes;
  }
  if (best > 0) report.text += fmt::format("90 % of the best, {:.0f} GB/s, first with {:.1f} kB\n", best, least / 1000);
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "read bandwidth against warps of an SM and loads in flight of a thread",
     .options = {{.name = "--mib",
                  .description = "MiB of data, far more than the L2 cache holds",
                  .number = &mib,
                  .least = 64,
                  .most = 1 << 20}},
     .run = probe}};

}  // namespace
