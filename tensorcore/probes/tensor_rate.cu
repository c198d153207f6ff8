// tensor_rate: how fast mma.sync is, by the numbers that it multiplies, at first and after a second.
//
// Idea      Warps that do nothing else, with operands in registers: what Tensor Cores can do. But bits that change take
//           power, and a GPU that takes more power than it may lowers its clock. So the same loop with zeros, with ones
//           and with random numbers.
// Kernel    Two warps a scheduler, each with 64 x 64 of C, as tensorcore/03 has it: 32 products a step, whose operands
//           never change. What is left of 03's loop without its loads.
// Predicted All alike: 4,096 flops in 6 cycles on each of four Tensor Cores.
// Page      docs/tensorcore/03b_even_shares.md#what-bounds-it
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/ptx.cuh"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"
#include "common/stage.cuh"
#include "tsm/probes/instructions.cuh"

namespace {

using gemm::Json;

constexpr int ROWS = 4, COLS = 8, WORDS = 4 * ROWS + 2 * COLS;  // of a warp; words of operands a lane
constexpr int THREADS = 256;

// words: WORDS a lane, A's first. cycles: of the first thread. out: C's element (0, 0) of the first warp.
template <bool half>
__global__ void __launch_bounds__(THREADS, 1)
    multiply(const std::uint32_t* words, int steps, float* out, long long* cycles) {
  std::uint32_t x[ROWS][4], y[COLS][2];
  const std::uint32_t* mine = words + (blockIdx.x * THREADS + threadIdx.x) * WORDS;
#pragma unroll
  for (int i = 0; i < 4 * ROWS; ++i) x[i / 4][i % 4] = mine[i];
#pragma unroll
  for (int i = 0; i < 2 * COLS; ++i) y[i / 2][i % 2] = mine[4 * ROWS + i];
  float sum[ROWS][COLS][4] = {};
  const long long begin = gemm::probes::sm_clock();
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < ROWS * COLS; ++i) {
      const int row = i / COLS, col = row % 2 ? COLS - 1 - i % COLS : i % COLS;
      if constexpr (half)
        gemm::ptx::mma_m16n8k16_f32_f16(sum[row][col], x[row], y[col], sum[row][col]);
      else
        gemm::ptx::mma_m16n8k8_f32_tf32(sum[row][col], x[row], y[col], sum[row][col]);
    }
  }
  const long long end = gemm::probes::sm_clock();
  float total = 0;
#pragma unroll
  for (int i = 1; i < ROWS * COLS * 4; ++i) total += sum[i / 4 / COLS][i / 4 % COLS][i % 4];
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  if (first) *cycles = end - begin;
  if (first || total == 1.2345e-33f) *out = sum[0][0][0];  // total: never so, and needs all of them
}

enum class Numbers { zeros, ones, uniform, positive };
struct Case {
  bool half;
  Numbers numbers;
  const char* name;
};
constexpr Case CASES[] = {{true, Numbers::zeros, "zeros"},      {true, Numbers::ones, "ones"},
                          {true, Numbers::positive, "0 to 1"},  {true, Numbers::uniform, "-1 to 1"},
                          {false, Numbers::zeros, "zeros"},     {false, Numbers::ones, "ones"},
                          {false, Numbers::positive, "0 to 1"}, {false, Numbers::uniform, "-1 to 1"}};

float draw(Numbers numbers, std::mt19937& generator) {
  if (numbers == Numbers::zeros) return 0;
  if (numbers == Numbers::ones) return 1;
  return std::uniform_real_distribution<float>(numbers == Numbers::uniform ? -1.0f : 0.0f, 1.0f)(generator);
}

// A lane's words, and as numbers what they hold.
struct Operands {
  std::vector<std::uint32_t> words;
  std::vector<float> numbers;
};
Operands make_operands(const Case& c, int lanes) {
  std::mt19937 generator(1);
  const int in_word = c.half ? 2 : 1;
  Operands made;
  for (std::size_t i = 0; i < static_cast<std::size_t>(lanes) * WORDS; ++i) {
    std::uint32_t word = 0;
    for (int j = 0; j < in_word; ++j) {
      const float number = draw(c.numbers, generator);
      const __half rounded = __float2half(number);
      word |= c.half ? static_cast<std::uint32_t>(__half_as_ushort(rounded)) << 16 * j
                     : std::bit_cast<std::uint32_t>(number) & ~0x1fffu;
      made.numbers.push_back(c.half ? __half2float(rounded) : std::bit_cast<float>(word));
    }
    made.words.push_back(word);
  }
  return made;
}

// C's element (0, 0) after a step: row 0 of A and column 0 of B lie in lanes 0 to 3, in A's words 0 and 2 and in both of
// B's (layouts in ptx.cuh).
double expected(const Case& c, const Operands& operands) {
  const int in_word = c.half ? 2 : 1;
  double sum = 0;
  for (int i = 0; i < 4 * 2 * in_word; ++i) {
    const int lane = i / in_word / 2, word = i / in_word % 2, part = i % in_word;
    const auto at = [&](int w) { return static_cast<double>(operands.numbers[(lane * WORDS + w) * in_word + part]); };
    sum += at(2 * word) * at(4 * ROWS + word);
  }
  return sum;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

constexpr int TIMED_STEPS = 16384;                    // some 3.6 ms of an H200
constexpr double IDLE = 0.5, SHORT = 0.03, LONG = 1;  // seconds

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  const gemm::DeviceInfo& device = gemm::open_device();
  if (device.gpu && device.compute_capability < 80)
    throw gemm::UsageError("the probe needs sm_80, and this GPU is sm_" + std::to_string(device.compute_capability));
  gemm::ProbeReport report;
  report.table.push_back({"operands", "numbers", "result"});
  if (run.time) report.table[0].insert(report.table[0].end() - 1, {"TFLOP/s at first", "after a second", "GHz"});
  for (const Case& c : CASES) {
    const int blocks = run.time ? run.sm_count : 1;
    const Operands operands = make_operands(c, blocks * THREADS);
    const gemm::DeviceArray<std::uint32_t> words(operands.words.size());
    gemm::check_cuda(cudaMemcpy(words.data(), operands.words.data(), operands.words.size() * sizeof(std::uint32_t),
                                cudaMemcpyHostToDevice),
                     "copy operands");
    const gemm::DeviceArray<float> out(1);
    const gemm::DeviceArray<long long> cycles(1);
    const auto launch = [&](int steps) {
      return gemm::launch(c.half ? multiply<true> : multiply<false>,
                          {.grid = static_cast<unsigned>(blocks), .block = THREADS}, words.data(), steps, out.data(),
                          cycles.data());
    };
    if (const gemm::Status status = launch(1); !status) throw gemm::DeviceError("could not run: " + status.reason);
    const double is = out.to_host()[0], should = expected(c, operands);
    const bool right = std::abs(is - should) <= 1e-5;
    Json result = {{"operands", c.half ? "FP16" : "TF32"}, {"numbers", c.name}, {"status", right ? "pass" : "fail"}};
    std::vector<std::string> row = {result["operands"], c.name, right ? "pass" : "fail"};
    if (run.time && right) {
      const double gflop = 1e-9 * blocks * (THREADS / 32) * TIMED_STEPS * ROWS * COLS * (c.half ? 4096.0 : 2048.0);
      std::this_thread::sleep_for(std::chrono::duration<double>(IDLE));
      std::vector<double> first, last;
      double ghz = 0;
      for (const auto begin = std::chrono::steady_clock::now(); seconds_since(begin) < LONG;) {
        const double at = seconds_since(begin), ms = gemm::time_launches([&] { return launch(TIMED_STEPS); }, 1);
        if (at < SHORT) first.push_back(gflop / ms);
        if (at > LONG / 2) last.push_back(gflop / ms);
        ghz = static_cast<double>(cycles.to_host()[0]) / (ms * 1e6);
      }
      result["tflops_at_first"] = median(first);
      result["tflops"] = median(last);
      result["ghz"] = ghz;
      row.insert(row.end() - 1,
                 {gemm::decimals(median(first), 0), gemm::decimals(median(last), 0), gemm::decimals(ghz, 2)});
    }
    report.results.push_back(result);
    report.table.push_back(row);
  }
  report.text =
      "Two warps a scheduler that only multiply, with operands that stay in registers. GHz: in the last launch.";
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__, {.idea = "how fast Tensor Cores are, by the numbers that they multiply", .run = probe}};

}  // namespace
