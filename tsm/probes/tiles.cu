// tiles: how near the FP64 peak come the inner loops of real kernels?
//
// Idea      The loop of tsm/10 and its like, with nothing around it: a thread has a tile of C, and for each row of K loads TM + TN
//           words from shared memory and does TM x TN FMAs, while the next row's words are on their way. With and without the
//           loads, in several sizes, and with FMAs in two orders: what stops tsm/10 at 80 % of the peak?
// Loads     As in tsm/10: a warp is 4 x 8 threads, two words at a time (or one), lanes n and n ^ 1 want the same words of A,
//           lanes n and n ^ 2 of B. Large tiles have no registers for two sets of words: there each word is loaded anew as
//           soon as its last FMA is issued.
// Predicted Four hypotheses (docs/tsm/probes.md#tiles).
// Page      docs/tsm/probes.md#tiles
// Source    Ernst et al. (2020), section 4.3; docs/tsm/10_pipeline.md.
#include <cmath>

#include "tsm/probes/fp64_loops.hpp"
#include "tsm/probes/instructions.cuh"

namespace {

using gemm::probes::Loop;
namespace probes = gemm::probes;

enum Numbers { REAL = 1, COMPLEX = 2 };  // doubles of a number
enum Loads { NONE, SHARED_64, SHARED_128 };
enum Order { SAME, NEIGHBOURS, FRESH };

constexpr int ALONG_M = 4, ALONG_N = 8;  // threads of a warp
constexpr int MOST_WORDS = 240;          // registers of the sums and two sets of words: with more, one set

template <Numbers numbers, int TM, int TN, Loads loads>
struct Tile {
  static constexpr int words_m = TM * numbers, words_n = TN * numbers;  // of a row
  static constexpr int fmas = words_m * words_n;
  static constexpr bool two_sets = loads != NONE && 2 * (TM * TN * numbers + 2 * (words_m + words_n)) <= MOST_WORDS;
  static constexpr int sets = two_sets ? 2 : 1;
  static constexpr int rows = 2 * ((128 + 2 * fmas - 1) / (2 * fmas));  // of a round: at least 128 FMAs
  static constexpr int unit = loads == SHARED_64 ? 1 : 2;               // words of a load
  static constexpr int row_words = words_m * ALONG_M + words_n * ALONG_N;
  static_assert(words_m % 2 == 0 && words_n % 2 == 0 && (two_sets || numbers == REAL || loads == NONE));
};

// Which sum FMA f of a row belongs to, and which words it takes. Down one column and up the next; or (fresh) along diagonals, so
// that neither word is that of the FMA before. Complex: re re, im re, im im (with the other sign), re im.
struct Fma {
  int row, col;     // of the tile
  int part;         // of the sum
  int of_a, of_b;   // which word of the numbers
  bool negative;
};
template <Numbers numbers, int TM, int TN>
__host__ __device__ constexpr Fma fma_of(Order order, int f) {
  if (numbers == REAL) {
    if (order == FRESH) return {f % TM, (f % TM + f / TM) % TN, 0, 0, 0, false};
    const int j = f / TM;
    return {j % 2 ? TM - 1 - f % TM : f % TM, j, 0, 0, 0, false};
  }
  const int j = f / (4 * TM), step = f / TM % 4, i = step % 2 ? TM - 1 - f % TM : f % TM;
  return {i, j, step % 2, step == 1 || step == 2, step > 1, step == 2};
}

template <Numbers numbers, int TM, int TN, Loads loads, Order order>
__global__ void tile(int rounds, const double* data, double* out, long long* cycles) {
  if constexpr (!probes::has_fp64_units) {
    __trap();
  } else {
    using T = Tile<numbers, TM, TN, loads>;
    __shared__ __align__(16) double words[T::rows * T::row_words];
    for (int i = threadIdx.x; i < T::rows * T::row_words; i += blockDim.x) words[i] = data[i];
    const int lane = threadIdx.x % 32, at_m = lane / 16 * 2 + lane / 2 % 2, at_n = lane % 16 / 4 * 2 + lane % 2;
    const double* const row_a = words + at_m * T::unit;
    const double* const row_b = words + T::words_m * ALONG_M + at_n * T::unit;
    double a[T::sets][T::words_m], b[T::sets][T::words_n], sum[numbers][TM][TN];
    const auto read = [&](double* to, const double* from) {
      if constexpr (T::unit == 2)
        probes::load_shared(to[0], to[1], from);
      else
        probes::load_shared(to[0], from);
    };
    const auto read_a = [&](int row, int i) {
      read(&a[row % T::sets][i * T::unit], row_a + row * T::row_words + i * ALONG_M * T::unit);
    };
    const auto read_b = [&](int row, int j) {
      read(&b[row % T::sets][j * T::unit], row_b + row * T::row_words + j * ALONG_N * T::unit);
    };
    for (int i = 0; i < TM * TN; ++i) {
      for (int part = 0; part < numbers; ++part) sum[part][i / TN][i % TN] = data[i + lane + part];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T::words_m / T::unit; ++i) read_a(0, i);
#pragma unroll
    for (int j = 0; j < T::words_n / T::unit; ++j) read_b(0, j);
    const long long begin = probes::sm_clock();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
      for (int row = 0; row < T::rows; ++row) {
        const int next = (row + 1) % T::rows;
        if constexpr (T::two_sets) {
#pragma unroll
          for (int i = 0; i < T::words_m / T::unit; ++i) read_a(next, i);
#pragma unroll
          for (int j = 0; j < T::words_n / T::unit; ++j) read_b(next, j);
        }
        // Without loads, the words take turns: there must be others in the next row.
        const bool turned = loads == NONE && row % 2;
#pragma unroll
        for (int f = 0; f < T::fmas; ++f) {
          const Fma x = fma_of<numbers, TM, TN>(order, f);
          const double of_a = a[row % T::sets][(turned ? TM - 1 - x.row : x.row) * numbers + x.of_a];
          const double of_b = b[row % T::sets][(turned ? TN - 1 - x.col : x.col) * numbers + x.of_b];
          probes::fused_multiply_add(sum[x.part][x.row][x.col], x.negative ? -of_a : of_a, of_b);
          if constexpr (loads != NONE && !T::two_sets) {  // the last column goes up, since there is an even number of them
            if (f % TM == TM - 1 && x.col % T::unit == T::unit - 1) read_b(next, x.col / T::unit);
            if (x.col == TN - 1 && x.row % T::unit == 0) read_a(next, x.row / T::unit);
          }
        }
      }
    }
    __syncthreads();
    const long long end = probes::sm_clock();
    double total = 0;
    for (int i = 0; i < TM * TN; ++i) {
      for (int part = 0; part < numbers; ++part) total += sum[part][i / TN][i % TN];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  }
}

// The same once more, for one thread, with nothing but loops.
template <Numbers numbers, int TM, int TN, Loads loads>
double right_sum(Order order, int thread, int rounds) {
  using T = Tile<numbers, TM, TN, loads>;
  const std::vector<double>& data = probes::loop_data();
  const auto value = [&](int i) { return data[static_cast<std::size_t>(i)]; };
  const int lane = thread % 32, at_m = lane / 16 * 2 + lane / 2 % 2, at_n = lane % 16 / 4 * 2 + lane % 2;
  const auto word = [&](int row, bool of_b, int w) {
    const int unit = w / T::unit * (of_b ? ALONG_N : ALONG_M) + (of_b ? at_n : at_m);
    return value(row * T::row_words + (of_b ? T::words_m * ALONG_M : 0) + unit * T::unit + w % T::unit);
  };
  std::vector<double> sum(static_cast<std::size_t>(numbers * TM * TN));
  for (int i = 0; i < TM * TN; ++i) {
    for (int part = 0; part < numbers; ++part) sum[static_cast<std::size_t>(numbers * i + part)] = value(i + lane + part);
  }
  for (int row = 0; row < rounds * T::rows; ++row) {
    const int from = loads == NONE ? 0 : row % T::rows;
    const bool turned = loads == NONE && row % 2;
    for (int f = 0; f < T::fmas; ++f) {
      const Fma x = fma_of<numbers, TM, TN>(order, f);
      const double a = word(from, false, (turned ? TM - 1 - x.row : x.row) * numbers + x.of_a);
      const double b = word(from, true, (turned ? TN - 1 - x.col : x.col) * numbers + x.of_b);
      double& s = sum[static_cast<std::size_t>(numbers * (x.row * TN + x.col) + x.part)];
      s = std::fma(x.negative ? -a : a, b, s);
    }
  }
  double total = 0;
  for (const double s : sum) total += s;
  return total;
}

template <Numbers numbers, int TM, int TN, Loads loads, Order order = NEIGHBOURS>
Loop loop() {
  using T = Tile<numbers, TM, TN, loads>;
  static constexpr const char* names[] = {"none", "lds64", "lds128"};
  Loop result;
  result.about = {{"kind", names[loads]},
                  {"type", numbers == REAL ? "double" : "double complex"},
                  {"tile_m", TM},
                  {"tile_n", TN},
                  {"order", order == FRESH ? "fresh" : "neighbours"}};
  const int of_row = loads == NONE ? 0 : (T::words_m + T::words_n) / T::unit;
  result.fmas = T::rows * T::fmas;
  result.others = T::rows * of_row;
  result.loads_64 = loads == SHARED_64 ? result.others : 0;
  result.loads_128 = loads == SHARED_128 ? result.others : 0;
  result.other_cycles = result.others * T::unit;  // wavefronts
  result.operands = order == FRESH ? 3 : 2;
  const auto kernel = tile<numbers, TM, TN, loads, order>;
  result.kernel = reinterpret_cast<const void*>(kernel);
  result.kernel_name = "tile";
  for (const int number : {static_cast<int>(numbers), TM, TN, static_cast<int>(loads), static_cast<int>(order)})
    result.kernel_name += " " + std::to_string(number);
  result.launch = [kernel](const gemm::LaunchShape& shape, int rounds, const double* data, double* out, long long* cycles) {
    return gemm::launch(kernel, shape, rounds, data, out, cycles);
  };
  result.right = [](int thread, int rounds) { return right_sum<numbers, TM, TN, loads>(order, thread, rounds); };
  return result;
}

template <Numbers numbers, int TM, int TN>
void add(std::vector<Loop>& loops) {
  loops.push_back(loop<numbers, TM, TN, NONE>());
  loops.push_back(loop<numbers, TM, TN, SHARED_128>());
}

std::vector<Loop> all_loops() {
  std::vector<Loop> loops;
  add<REAL, 8, 8>(loops);
  loops.push_back(loop<REAL, 8, 8, NONE, FRESH>());
  loops.push_back(loop<REAL, 8, 8, SHARED_64>());
  add<REAL, 4, 4>(loops);
  add<REAL, 8, 4>(loops);
  add<REAL, 10, 8>(loops);
  add<REAL, 12, 8>(loops);
  add<REAL, 16, 4>(loops);
  add<REAL, 16, 6>(loops);
  add<COMPLEX, 4, 4>(loops);
  add<COMPLEX, 6, 4>(loops);
  add<COMPLEX, 8, 4>(loops);
  add<COMPLEX, 6, 6>(loops);
  return loops;
}

bool with_machine_code = false;

void add_options(CLI::App& app) {
  app.add_flag("--sass", with_machine_code, "what nvcc makes of the loops, too (needs nvcc and nvdisasm, but no GPU)");
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "the inner loops of tiles, with and without their loads from shared memory",
     .add_options = add_options,
     .run = [](const gemm::ProbeRun& run) { return probes::run_loops(run, all_loops(), with_machine_code, __FILE__); }}};

}  // namespace
