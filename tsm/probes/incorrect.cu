// incorrect: what would tsm/09's kernel do with more registers, and without waiting for memory? None of these computes
// A^T B.
//
// Idea      Three kernels with the same loads and the same FMAs, on more and more blocks. real: a sum for each element
//           of the tile, and so as many registers as tsm/09 needs, and as few warps. fake: two sums, so that many warps
//           fit. fake_l1: the same, and all rows are one row (leading dimensions of 0), which stays in the L1. Where
//           fake follows real, latency bounds both; where fake_l1 ends, it is no latency any more.
// Kernel    tsm/probes/incorrect.cuh, compiled at run time, as tsm/09's is.
// Predicted For each scheduler max(latency, warps x cycles of a warp's FMAs) for a row of each; with the paper's
//           hypothesis, a quarter of an FMA more for each other instruction.
// Page      docs/tsm/probes.md#incorrect
// Source    Ernst et al. (2020), section 5.3: "modified (incorrect) kernels".
#include <algorithm>
#include <numeric>
#include <set>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "common/toolchain/jit.hpp"
#include "tsm/probes/incorrect.cuh"

namespace {

using gemm::Json;

constexpr const char* STATUS = "incorrect on purpose";
constexpr int LEAST_THREADS = 128;  // of a block: a warp for each scheduler
constexpr int SCHEDULERS = 4;       // of an SM
constexpr int ROWS = 1536;          // of a block, of complex numbers half as many
constexpr int ADDRESSES = 9;        // instructions beside loads and FMAs, for a row, as nvcc makes it for sm_90a
constexpr double FMA_LATENCY = 8;   // cycles, as Ernst et al. have for a V100
constexpr double L1_LATENCY = 35;   // cycles, as `probe latency` guesses

struct Options {
  int m = 64, n = 64, sums = 2, mib = 4096;
  std::string types = "dz";
} options;

// Small whole numbers: sums of their products are exact.
__host__ __device__ double value(std::int64_t i) {
  return static_cast<double>(i * 40503 % 1009 % 7 - 3);
}

__global__ void fill(double* words, std::int64_t count) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
    words[i] = value(i);
}

template <class T>
constexpr int words = sizeof(T) / sizeof(double);

struct Form {
  const char* name;
  bool few_sums, one_row;
};
constexpr Form forms[] = {{"real", false, false}, {"fake", true, false}, {"fake_l1", true, true}};

// What is measured: one form of the kernel with one tile.
struct Subject {
  Form form;
  int tile_m, tile_n, slice_threads, threads, slices;
  const gemm::JitKernel* kernel = nullptr;
  int resident = 1;  // blocks of an SM
};

template <class T>
Subject find(const Form& form, int tile_m, int tile_n) {
  Subject s{form, tile_m, tile_n, options.m / tile_m * (options.n / tile_n), 0, 0};
  s.threads = std::max(LEAST_THREADS, s.slice_threads);
  s.slices = s.threads / s.slice_threads;
  std::string kernel = std::string("gemm::probes::incorrect<") + (words<T> == 1 ? "double" : "double2");
  for (const int number : {options.m, options.n, tile_m, tile_n, form.few_sums ? options.sums : 0, s.threads})
    kernel.append(", ").append(std::to_string(number));
  const gemm::JitRequest request = {kernel + ">", gemm::kernel_headers("tsm/probes/incorrect.cuh")};
  const gemm::JitResult found = gemm::find_kernel(request);
  if (!found.status) throw gemm::DeviceError(found.status.reason);
  s.kernel = found.kernel;
  s.resident = gemm::blocks_per_multiprocessor(*s.kernel, s.threads, 0);
  return s;
}

struct Data {
  gemm::DeviceArray<double> a, b, out;
};

template <class T>
gemm::Status launch(const Subject& s, const Data& data, int blocks, std::int64_t first, std::int64_t rows) {
  const std::int64_t lda = s.form.one_row ? 0 : options.m, ldb = s.form.one_row ? 0 : options.n;
  return gemm::JitCall<gemm::probes::Incorrect<T>>::launch(
      *s.kernel, {.grid = static_cast<unsigned>(blocks), .block = static_cast<unsigned>(s.threads)}, rows,
      reinterpret_cast<const T*>(data.a.data()) + first * lda, lda,
      reinterpret_cast<const T*>(data.b.data()) + first * ldb, ldb, reinterpret_cast<T*>(data.out.data()));
}

// Whether all threads' sums together are the sum over all elements of A^T B: that much is right of these kernels.
template <class T>
bool sums_are_right(const Subject& s, const Data& data) {
  constexpr int blocks = 2;
  const std::int64_t rows = blocks * s.slices * 5 + 1;
  if (const gemm::Status status = launch<T>(s, data, blocks, 0, rows); !status) throw gemm::DeviceError(status.reason);
  const std::vector<double> out = data.out.to_host();
  double found[2] = {}, right[2] = {};
  for (int i = 0; i < blocks * s.threads * words<T>; ++i) found[i % words<T>] += out[static_cast<std::size_t>(i)];
  for (std::int64_t row = 0; row < rows; ++row) {
    double of_a[2] = {}, of_b[2] = {};
    const std::int64_t from = s.form.one_row ? 0 : row;
    for (int i = 0; i < options.m * words<T>; ++i) of_a[i % words<T>] += value(from * options.m * words<T> + i);
    for (int i = 0; i < options.n * words<T>; ++i) of_b[i % words<T>] += value(from * options.n * words<T> + i);
    right[0] += of_a[0] * of_b[0] - of_a[1] * of_b[1];
    right[1] += of_a[0] * of_b[1] + of_a[1] * of_b[0];
  }
  return found[0] == right[0] && found[1] == right[1];
}

// The time of a launch in which each slice has so many rows, in ms.
double predicted_ms(const Subject& s, int number_words, int blocks, int rows, const gemm::Machine& machine,
                    bool papers) {
  const double fmas = static_cast<double>(s.tile_m) * s.tile_n * number_words * number_words;
  const double sums = s.form.few_sums ? options.sums : s.tile_m * s.tile_n;
  const double busy =
      2 * (fmas + (papers ? (s.tile_m + s.tile_n + ADDRESSES) / 4.0 : 0));  // a scheduler, by a warp's row
  // A complex sum is two, whose FMAs wait for one another in pairs.
  const double chain = fmas * FMA_LATENCY / (sums * number_words);
  const double latency = s.form.one_row ? L1_LATENCY : machine.latency_ns * machine.ghz();
  const double alone = std::max({busy, chain, latency});
  const int places = machine.sm_count * s.resident;
  double cycles = 0;
  for (int left = blocks; left > 0; left -= places) {  // waves
    const double of_sm = std::ceil(static_cast<double>(std::min(left, places)) / machine.sm_count);
    cycles += rows * std::max(alone, std::ceil(of_sm * s.threads / 32 / SCHEDULERS) * busy);
  }
  const double bytes =
      s.form.one_row ? 0 : 8.0 * number_words * (options.m + options.n) * rows * static_cast<double>(s.slices) * blocks;
  return std::max(cycles / (machine.ghz() * 1e6), bytes / (machine.read_gbs * 1e6));
}

using Launch = gemm::Status(const Subject&, const Data&, int blocks, std::int64_t first, std::int64_t rows);
Json measure(const gemm::ProbeRun& run, Launch* launch_it, int number_words, const Subject& s, const Data& data,
             int blocks, bool right) {
  const int rows = run.time ? ROWS / (s.slices * number_words) : 8;  // of a slice
  const std::int64_t all = static_cast<std::int64_t>(rows) * s.slices * blocks;
  const double flops = (number_words == 1 ? 2.0 : 8.0) * options.m * options.n;  // of a row
  const double bytes = 8.0 * number_words * (options.m + options.n);
  // On the executor, which has few SMs, as the other machine would have them.
  const auto predicted = [&](bool papers) {
    return flops * static_cast<double>(all) / (predicted_ms(s, number_words, blocks, rows, run.machine, papers) * 1e6);
  };
  Json result = {{"kernel", s.form.name},
                 {"type", number_words == 1 ? "double" : "double complex"},
                 {"m", options.m},
                 {"n", options.n},
                 {"tile_m", s.tile_m},
                 {"tile_n", s.tile_n},
                 {"sums", s.form.few_sums ? options.sums : s.tile_m * s.tile_n},
                 {"blocks", blocks},
                 {"block_threads", s.threads},
                 {"resident_blocks", s.resident},
                 {"predicted_gflops", predicted(false)},
                 {"predicted_paper_gflops", predicted(true)},
                 {"status", right ? STATUS : "fail"},
                 {"reason", right ? "" : "the sum over all elements is wrong"}};
  if (!run.time || !right) return result;
  const std::int64_t limit =
      static_cast<std::int64_t>(std::min(data.a.size() / static_cast<std::size_t>(options.m * number_words),
                                         data.b.size() / static_cast<std::size_t>(options.n * number_words)));
  if (all > limit) {
    result["status"] = "skip";
    result["reason"] = "the data are too few for so many blocks: --mib";
    return result;
  }
  std::int64_t at = 0;  // each launch goes on behind the last one, so as to find nothing in the L2
  const gemm::TimingRun timed = gemm::time_probe([&] {
    if (at + all > limit) at = 0;
    const gemm::Status status = launch_it(s, data, blocks, at, all);
    at += all;
    return status;
  });
  gemm::add_times(result, timed);
  const double ms = timed.samples[0].median();
  result["gflops"] = flops * static_cast<double>(all) / (ms * 1e6);
  result["gbytes_s"] = bytes * static_cast<double>(all) / (ms * 1e6);
  return result;
}

template <class T>
void measure_all(const gemm::ProbeRun& run, const Data& data, gemm::ProbeReport& report) {
  // Complex tiles of 4 x 8 would spill registers.
  using Tile = std::pair<int, int>;
  const Tile tiles[] = {words<T> == 1 ? Tile(8, 8) : Tile(2, 4), words<T> == 1 ? Tile(4, 8) : Tile(4, 4)};
  for (const auto& [tile_m, tile_n] : tiles) {
    if (!run.time && tile_m != 4) continue;  // on the executor, one is enough
    const std::string tile_name = std::to_string(tile_m) + " x " + std::to_string(tile_n);
    if (options.m % tile_m != 0 || options.n % tile_n != 0)
      throw gemm::UsageError("tiles are " + tile_name + ", and C " + std::to_string(options.m) + " x " +
                             std::to_string(options.n) + " is no multiple");
    for (const Form& form : forms) {
      const Subject s = find<T>(form, tile_m, tile_n);
      const bool right = sums_are_right<T>(s, data);
      std::set<int> grids;
      for (const int share : {132, 32, 8, 4, 2}) grids.insert(std::max(run.sm_count / share, 1));
      for (const double waves : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0})
        grids.insert(static_cast<int>(waves * run.sm_count));
      if (!run.time) grids = {1, run.sm_count};
      for (const int blocks : grids) {
        Json result = measure(run, launch<T>, words<T>, s, data, blocks, right);
        const auto cell = [&](const char* key) {
          return result.contains(key) ? gemm::decimals(result[key], 0) : std::string("-");
        };
        report.table.push_back({std::string(form.name) + (words<T> == 1 ? ", d, " : ", z, ") + tile_name,
                                std::to_string(blocks), std::to_string(s.resident), cell("predicted_gflops"),
                                cell("predicted_paper_gflops"), cell("gflops"), cell("gbytes_s"),
                                result["status"].get<std::string>()});
        report.results.push_back(std::move(result));
      }
    }
  }
}

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  const double mib = run.time ? options.mib : 1, share = static_cast<double>(options.m) / (options.m + options.n);
  const auto count = static_cast<std::int64_t>(mib * (1 << 17));
  const auto of_a = std::max<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(count)), 1 << 14);
  const auto of_b = std::max<std::int64_t>(count - of_a, 1 << 14);
  constexpr std::size_t most_waves = 16, most_threads = 4096;
  Data data{
      gemm::DeviceArray<double>(static_cast<std::size_t>(of_a)),
      gemm::DeviceArray<double>(static_cast<std::size_t>(of_b)),
      gemm::DeviceArray<double>(2 * most_threads * most_waves * static_cast<std::size_t>(std::max(run.sm_count, 2)))};
  for (const auto& [array, size] : {std::pair(data.a.data(), of_a), std::pair(data.b.data(), of_b)}) {
    if (const gemm::Status filled = gemm::launch(fill, {.grid = 1024, .block = 32}, array, size); !filled)
      throw gemm::DeviceError(filled.reason);
  }
  gemm::ProbeReport report;
  report.settings = {{"m", options.m}, {"n", options.n}, {"sums", options.sums}, {"mib", run.time ? options.mib : 0}};
  report.table = {{"kernel", "blocks", "fit an SM", "predicted GFLOP/s", "the paper's", "GFLOP/s", "GB/s", ""}};
  if (options.types.find('d') != std::string::npos) measure_all<double>(run, data, report);
  if (options.types.find('z') != std::string::npos) measure_all<double2>(run, data, report);
  report.text =
      "None of these kernels computes A^T B: no speed of theirs is one of a product. GB/s of fake_l1 are the L1's.\n";
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "tsm/09's kernel made wrong on purpose, to tell latency from instruction throughput",
     .options = {{.name = "--m", .description = "columns of A", .number = &options.m, .least = 1, .most = 64},
                 {.name = "--n", .description = "columns of B", .number = &options.n, .least = 1, .most = 64},
                 {.name = "--sums",
                  .description = "of a thread of the fake kernels",
                  .number = &options.sums,
                  .least = 1,
                  .most = 16},
                 {.name = "--type",
                  .description = "d: double; z: double complex; dz: both",
                  .word = &options.types,
                  .words = {"d", "z", "dz"}},
                 {.name = "--mib",
                  .description = "MiB of A and B together",
                  .number = &options.mib,
                  .least = 64,
                  .most = 1 << 17}},
     .run = probe}};

}  // namespace
