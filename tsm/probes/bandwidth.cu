// bandwidth: how many bytes must be on their way for device memory to give all it has?
//
// Idea      Little's law: bandwidth = bytes in flight / latency. Bytes in flight are threads times loads that a thread
//           has under way; both are varied, and nothing else.
// Kernel    Each thread asks for ILP words before it needs the first, adds them up, and goes on: a sum of all words, by
//           persistent blocks. Dynamic shared memory that nobody uses sets how many blocks an SM holds. scale: it stores
//           half of each word, too, so the memory is read and written.
// Predicted min(ceiling of reading or scaling, threads x ILP x bytes of a word / latency of a lone load; scale: twice).
// Page      docs/tsm/probes.md#bandwidth
// Source    Ernst et al. (2020), section 1.6, Table 1.
#include <algorithm>
#include <numeric>

#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"

namespace {

using gemm::Json;

constexpr int MOST_WARPS = 4;     // of a block
constexpr int MOST_ILP = 16;      // loads in flight of a thread
constexpr int CHAINS = 4;         // sums of a thread: additions must not wait for one another
constexpr int VALUES = 1021;      // word i holds i % VALUES: sums of them are exact
constexpr double FACTOR = 0.5;    // products, too
constexpr double LAUNCH_MS = 6;   // about how long one should take
constexpr int LEAST_ROUNDS = 16;  // of a thread
// If nothing is timed:
constexpr int CHECKED_WARPS = 8;  // of an SM, at most: the executor's threads are fibers
constexpr int CHECKED_ROUNDS = 2;

__device__ double plus(double sum, double word) {
  return sum + word;
}
__device__ double plus(double sum, double2 word) {
  return sum + word.x + word.y;
}

__device__ long long bits(double x) {
  return __double_as_longlong(x);
}
__device__ long long bits(double2 x) {
  return __double_as_longlong(x.x) | __double_as_longlong(x.y);
}

// sum, but not before all words have arrived: `zero` is 0, which the compiler doesn't know. Without it nvcc puts the
// fourth load behind the addition of the first one's word, to save registers, and fewer than ILP are in flight.
template <class Word, int ILP>
__device__ double after(const Word (&word)[ILP], double sum, long long zero) {
  long long any = 0;
#pragma unroll
  for (int i = 0; i < ILP; ++i) any |= bits(word[i]);
  return __longlong_as_double(__double_as_longlong(sum) ^ (any & zero));
}

// out: null of kernels that only read.
template <class Word, int ILP, bool WRITES>
__global__ void __launch_bounds__(32 * MOST_WARPS)
    read_words(const double* words, double* out, int rounds, long long zero, double* sums) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const Word* at = reinterpret_cast<const Word*>(words) + thread;
  double* to = out + thread;  // of words of 8 bytes
  double sum[CHAINS] = {};
#pragma unroll 1  // or more than ILP loads would be under way
  for (int round = 0; round < rounds; ++round) {
    Word word[ILP];
#pragma unroll
    for (int i = 0; i < ILP; ++i) word[i] = at[i * threads];
    at += ILP * threads;
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) sum[chain] = after(word, sum[chain], zero);
#pragma unroll
    for (int i = 0; i < ILP; ++i) sum[i % CHAINS] = plus(sum[i % CHAINS], word[i]);
    if constexpr (WRITES) {
#pragma unroll
      for (int i = 0; i < ILP; ++i) to[i * threads] = FACTOR * word[i];
      to += ILP * threads;
    }
  }
  sums[thread] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

__global__ void fill(double* words, std::int64_t count) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
    words[i] = static_cast<double>(i % VALUES);
}

__global__ void count_wrong(const double* words, std::int64_t first, std::int64_t count, unsigned long long* wrong) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long found = 0;
  for (std::int64_t i = first + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < first + count;
       i += threads)
    found += words[i] != FACTOR * static_cast<double>(i % VALUES);
  if (found) atomicAdd(wrong, found);
}

int mib = 4096;

// Of the first `count` words.
double sum_of_first(std::int64_t count) {
  const std::int64_t rest = count % VALUES;
  return static_cast<double>(count / VALUES) * (VALUES * (VALUES - 1) / 2) + static_cast<double>(rest * (rest - 1) / 2);
}

struct Data {
  gemm::DeviceArray<double> words, sums;
  gemm::DeviceArray<unsigned long long> wrong{1};
  std::int64_t at =
      0;  // the next launch's first word: it goes on where the last one ended, so as to find nothing in the L2
};

std::uint64_t wrong_products(const Data& data, const double* products, std::int64_t first, std::int64_t count) {
  gemm::check_cuda(cudaMemset(data.wrong.data(), 0, sizeof(unsigned long long)), "clear a word");
  const gemm::Status status =
      gemm::launch(count_wrong, {.grid = 1024, .block = 32}, products, first, count, data.wrong.data());
  if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
  return data.wrong.to_host()[0];
}

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
using Kernel = void(const double*, double*, int, long long, double*);
Json measure(const gemm::ProbeRun& run, Data& data, Kernel* kernel, int doubles, int ilp, int warps, bool alone,
             bool writes) {
  const int block_warps = std::min(warps, MOST_WARPS), of_sm = warps / block_warps;
  const int blocks = alone ? 1 : of_sm * run.sm_count;
  const std::int64_t threads = 32LL * block_warps * blocks, round_words = threads * ilp * doubles;
  const double in_flight = static_cast<double>(round_words) * sizeof(double) / (alone ? 1 : run.sm_count);  // of an SM
  const double all = in_flight * (alone ? 1 : run.machine.sm_count);
  const double predicted =
      std::min(writes ? run.machine.scale_gbs : run.machine.read_gbs, (writes ? 2 : 1) * all / run.machine.latency_ns);
  Json result = {{"work", writes ? "scale" : "read"},
                 {"word_bytes", doubles * 8},
                 {"ilp", ilp},
                 {"warps_per_sm", alone ? 0 : warps},
                 {"blocks", blocks},
                 {"block_threads", 32 * block_warps},
                 {"bytes_in_flight_per_sm", in_flight},
                 {"predicted_gbs", predicted},
                 {"status", "pass"},
                 {"reason", ""}};
  if (const auto resources = gemm::kernel_resources(reinterpret_cast<const void*>(kernel))) {
    result["registers"] = resources->registers;
    const int fit = 65536 / ((resources->registers + 7) / 8 * 8 * 32);
    if (warps > fit) {
      result["status"] = "skip";
      result["reason"] =
          std::to_string(resources->registers) + " registers a thread: at most " + std::to_string(fit) + " warps";
      return result;
    }
  }
  // What is written lies in the second half, behind what is read then.
  const auto limit = static_cast<std::int64_t>(data.words.size()) / (writes ? 2 : 1);
  double* const out = writes ? data.words.data() + limit : nullptr;
  const double wanted = run.time ? predicted * 1e6 * LAUNCH_MS / sizeof(double) : 0;
  const std::int64_t most = std::min(limit, std::max<std::int64_t>(static_cast<std::int64_t>(wanted), 1));
  const int rounds =
      static_cast<int>(std::max<std::int64_t>(most / round_words, run.time ? LEAST_ROUNDS : CHECKED_ROUNDS));
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
    return gemm::launch(kernel,
                        {.grid = static_cast<unsigned>(blocks),
                         .block = static_cast<unsigned>(32 * block_warps),
                         .dynamic_shared = alone ? 0 : shared_for(of_sm)},
                        data.words.data() + first, writes ? out + first : nullptr, rounds, 0LL, data.sums.data());
  };
  const auto bytes = count * static_cast<std::int64_t>(sizeof(double)) * (writes ? 2 : 1);
  result["bytes"] = bytes;
  if (writes)
    gemm::check_cuda(cudaMemset(out, 0xff, static_cast<std::size_t>(limit) * sizeof(double)),
                     "clear products");  // NaNs
  if (run.time) {
    const gemm::TimingRun timed = gemm::time_probe(work);
    gemm::add_times(result, timed);
    result["gbs"] = static_cast<double>(bytes) / (timed.samples[0].median() * 1e6);
  } else if (const gemm::Status status = work(); !status) {
    throw gemm::DeviceError("a launch failed: " + status.reason);
  }
  const std::vector<double> sums = data.sums.to_host();
  const double sum = std::accumulate(sums.begin(), sums.begin() + threads, 0.0);
  const double right = sum_of_first(first + count) - sum_of_first(first);
  if (sum != right) {
    result["status"] = "fail";
    result["reason"] = "the sum is " + gemm::significant(sum, 17) + ", not " + gemm::significant(right, 17);
  } else if (const std::uint64_t wrong = writes ? wrong_products(data, out, first, count) : 0; wrong != 0) {
    result["status"] = "fail";
    result["reason"] = std::to_string(wrong) + " products are wrong";
  }
  return result;
}

// The rows of a table, a column for each ILP.
template <class Word, bool WRITES>
void measure_all(const gemm::ProbeRun& run, Data& data, gemm::ProbeReport& report) {
  constexpr int doubles = sizeof(Word) / sizeof(double);
  constexpr std::pair<int, Kernel*> kernels[] = {{1, read_words<Word, 1, WRITES>},
                                                 {2, read_words<Word, 2, WRITES>},
                                                 {4, read_words<Word, 4, WRITES>},
                                                 {8, read_words<Word, 8, WRITES>},
                                                 {MOST_ILP, read_words<Word, MOST_ILP, WRITES>}};
  for (const int warps : {0, 1, 2, 4, 8, 16, 32, 64}) {
    if (!run.time && warps > CHECKED_WARPS) continue;
    const bool alone = warps == 0;
    std::vector<std::string> cells = {(WRITES ? "scale, " : "") + std::to_string(8 * doubles) + " bytes, " +
                                      (alone ? "1 block, 4 warps" : std::to_string(warps) + " warps an SM")};
    for (const auto& [ilp, kernel] : kernels) {
      Json result = measure(run, data, kernel, doubles, ilp, alone ? 4 : warps, alone, WRITES);
      if (result["status"] == "pass") {
        const std::string measured = result.contains("gbs") ? gemm::significant(result["gbs"]) : "-";
        cells.push_back(gemm::significant(result["predicted_gbs"]) + " / " + measured);
      } else {
        cells.push_back(result["status"]);
      }
      report.results.push_back(std::move(result));
    }
    report.table.push_back(std::move(cells));
  }
}

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  constexpr std::int64_t checked_words = CHECKED_WARPS * 32 * MOST_ILP * 2 * CHECKED_ROUNDS;  // 2: of a double2
  const std::int64_t count =
      run.time ? mib * (1LL << 20) / static_cast<std::int64_t>(sizeof(double)) : run.sm_count * checked_words;
  Data data{gemm::DeviceArray<double>(static_cast<std::size_t>(count)),
            gemm::DeviceArray<double>(static_cast<std::size_t>(run.sm_count) * 2048)};
  const gemm::Status filled = gemm::launch(fill, {.grid = 1024, .block = 32}, data.words.data(), count);
  if (!filled) throw gemm::DeviceError(filled.reason);

  gemm::ProbeReport report;
  report.settings = {{"mib", run.time ? mib : 0}};
  report.table = {{"predicted / measured, GB/s; ILP:", "1", "2", "4", "8", "16"}};
  measure_all<double, false>(run, data, report);
  measure_all<double2, false>(run, data, report);
  measure_all<double, true>(run, data, report);

  const double needed = run.machine.latency_ns * run.machine.read_gbs / run.machine.sm_count;
  report.text = "Little's law: " + gemm::decimals(run.machine.latency_ns, 1) + " ns x " +
                gemm::decimals(run.machine.read_gbs, 0) + " GB/s = " + gemm::decimals(needed / 1000, 1) +
                " kB in flight an SM\n";
  double best = 0, least = 0;
  const auto reads = [](const Json& result) { return result["work"] == "read"; };
  for (const Json& result : report.results)
    if (reads(result)) best = std::max(best, result.value("gbs", 0.0));
  for (const Json& result : report.results) {
    if (!reads(result)) continue;
    const double bytes = result["bytes_in_flight_per_sm"];
    if (result["warps_per_sm"] > 0 && result.value("gbs", 0.0) >= 0.9 * best && (least == 0 || bytes < least))
      least = bytes;
  }
  if (best > 0)
    report.text += "90 % of the best, " + gemm::decimals(best, 0) + " GB/s, first with " +
                   gemm::decimals(least / 1000, 1) + " kB\n";
  return report;
}

const gemm::ProbeRegistration registration{__FILE__,
                                           {.idea = "bandwidth against warps of an SM and loads in flight of a thread",
                                            .options = {{.name = "--mib",
                                                         .description = "MiB of data, far more than the L2 cache holds",
                                                         .number = &mib,
                                                         .least = 64,
                                                         .most = 1 << 20}},
                                            .run = probe}};

}  // namespace
