// tiles: how near the FP64 peak come the inner loops of real kernels?
//
// Idea      The loop of tsm/10 and its like, with nothing around it: a thread has a tile of C, and for each row of K
//           loads TM + TN words from shared memory and does TM x TN FMAs, while the next row's words are on their way.
//           With and without the loads, in several sizes, and with FMAs in two orders: what stops tsm/10 at 80 % of the
//           peak?
// Loads     As in tsm/10: a warp is 4 x 8 threads, two words at a time (or one), lanes n and n ^ 1 want the same words
//           of A, lanes n and n ^ 2 of B. Large tiles have no registers for two sets of words: there each word is
//           loaded anew as soon as its last FMA is issued.
// Predicted Four hypotheses (docs/tsm/probes.md#tiles).
// Page      docs/tsm/probes.md#tiles
// Source    Ernst et al. (2020), section 5.3; docs/tsm/10_pipeline.md.
#include <cmath>

#include "common/kernel/launch.cuh"
#include "tsm/probes/fp64_loops.hpp"
#include "tsm/probes/instructions.cuh"

namespace {

using gemm::probes::Loop;
namespace probes = gemm::probes;

enum Numbers { REAL = 1, COMPLEX = 2 };  // doubles of a number
enum Loads { NONE, SHARED_64, SHARED_128 };
enum Order { NEIGHBOURS = 1, FRESH };

constexpr int ALONG_M = 4, ALONG_N = 8;  // threads of a warp
constexpr int MOST_WORDS = 240;          // registers of the sums and two sets of words: with more, one set

constexpr int MOST_M = 16, MOST_N = 12, MOST_SUMS = 96, SHARED_WORDS = 512;

struct Tile {
  Numbers numbers;
  int tm, tn;
  Loads loads;

  __host__ __device__ constexpr int words_m() const { return tm * numbers; }  // of a row
  __host__ __device__ constexpr int words_n() const { return tn * numbers; }
  __host__ __device__ constexpr int fmas() const { return words_m() * words_n(); }
  __host__ __device__ constexpr int sets() const {
    return loads != NONE && 2 * (tm * tn * numbers + 2 * (words_m() + words_n())) <= MOST_WORDS ? 2 : 1;
  }
  __host__ __device__ constexpr int rows() const { return 2 * ((128 + 2 * fmas() - 1) / (2 * fmas())); }  // of a round
  __host__ __device__ constexpr int unit() const { return loads == SHARED_64 ? 1 : 2; }  // words of a load
  __host__ __device__ constexpr int row_words() const { return words_m() * ALONG_M + words_n() * ALONG_N; }
};

// Which sum FMA f of a row belongs to, and which words it takes. Down one column and up the next; or (fresh) along
// diagonals, so that neither word is that of the FMA before. Complex: re re, im re, im im (with the other sign), re im.
struct Fma {
  int row, col;    // of the tile
  int part;        // of the sum
  int of_a, of_b;  // which word of the numbers
  bool negative;
};
__host__ __device__ constexpr Fma fma_of(const Tile& t, Order order, int f) {
  if (t.numbers == REAL) {
    if (order == FRESH) return {f % t.tm, (f % t.tm + f / t.tm) % t.tn, 0, 0, 0, false};
    const int j = f / t.tm;
    return {j % 2 ? t.tm - 1 - f % t.tm : f % t.tm, j, 0, 0, 0, false};
  }
  const int j = f / (4 * t.tm), step = f / t.tm % 4, i = step % 2 ? t.tm - 1 - f % t.tm : f % t.tm;
  return {i, j, step % 2, step == 1 || step == 2, step > 1, step == 2};
}

// One function for all: nvcc puts it into each kernel below, where it knows t and order, and all that depends on them
// is gone.
[[maybe_unused]] __device__ void run_tile(const Tile& t, Order order, int rounds, const double* data, double* out,
                                          long long* cycles) {
  __shared__ __align__(16) double words[SHARED_WORDS];
  for (int i = threadIdx.x; i < t.rows() * t.row_words(); i += blockDim.x) words[i] = data[i];
  const int lane = threadIdx.x % 32, at_m = lane / 16 * 2 + lane / 2 % 2, at_n = lane % 16 / 4 * 2 + lane % 2;
  const double* const row_a = words + at_m * t.unit();
  const double* const row_b = words + t.words_m() * ALONG_M + at_n * t.unit();
  double a[2][MOST_M], b[2][MOST_N], sum[MOST_SUMS];
  const int sums = t.tm * t.tn * t.numbers;  // a number's parts side by side
  const auto read = [&](double* to, const double* from) {
    if (t.unit() == 2)
      probes::load_shared(to[0], to[1], from);
    else
      probes::load_shared(to[0], from);
  };
  const auto read_a = [&](int row, int i) {
    read(&a[row % t.sets()][i * t.unit()], row_a + row * t.row_words() + i * ALONG_M * t.unit());
  };
  const auto read_b = [&](int row, int j) {
    read(&b[row % t.sets()][j * t.unit()], row_b + row * t.row_words() + j * ALONG_N * t.unit());
  };
  for (int i = 0; i < sums; ++i) sum[i] = data[i + lane];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < t.words_m() / t.unit(); ++i) read_a(0, i);
#pragma unroll
  for (int j = 0; j < t.words_n() / t.unit(); ++j) read_b(0, j);
  const long long begin = probes::sm_clock();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int row = 0; row < t.rows(); ++row) {
      const int next = (row + 1) % t.rows();
      if (t.sets() == 2) {
#pragma unroll
        for (int i = 0; i < t.words_m() / t.unit(); ++i) read_a(next, i);
#pragma unroll
        for (int j = 0; j < t.words_n() / t.unit(); ++j) read_b(next, j);
      }
      // Without loads, the words take turns: there must be others in the next row.
      const bool turned = t.loads == NONE && row % 2;
#pragma unroll
      for (int f = 0; f < t.fmas(); ++f) {
        const Fma x = fma_of(t, order, f);
        const double of_a = a[row % t.sets()][(turned ? t.tm - 1 - x.row : x.row) * t.numbers + x.of_a];
        const double of_b = b[row % t.sets()][(turned ? t.tn - 1 - x.col : x.col) * t.numbers + x.of_b];
        probes::fused_multiply_add(sum[(x.row * t.tn + x.col) * t.numbers + x.part], x.negative ? -of_a : of_a, of_b);
        if (t.loads != NONE && t.sets() == 1) {  // the last column goes up, since there is an even number of them
          if (f % t.tm == t.tm - 1 && x.col % t.unit() == t.unit() - 1) read_b(next, x.col / t.unit());
          if (x.col == t.tn - 1 && x.row % t.unit() == 0) read_a(next, x.row / t.unit());
        }
      }
    }
  }
  __syncthreads();
  const long long end = probes::sm_clock();
  double total = 0;
  for (int i = 0; i < sums; ++i) total += sum[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

template <Numbers numbers, int TM, int TN, Loads loads, Order order>
__global__ void tile(int rounds, const double* data, double* out, long long* cycles) {
  constexpr Tile t{numbers, TM, TN, loads};
  static_assert(t.words_m() % 2 == 0 && t.words_n() % 2 == 0 && t.words_m() <= MOST_M && t.words_n() <= MOST_N);
  static_assert(TM * TN * numbers <= MOST_SUMS && t.rows() * t.row_words() <= SHARED_WORDS);
  static_assert(t.sets() == 2 || numbers == REAL || loads == NONE);
  if constexpr (probes::has_fp64_units)
    run_tile(t, order, rounds, data, out, cycles);
  else
    probes::stop();
}

// The same once more, for one thread, with nothing but loops.
double right_sum(const Tile& t, Order order, int thread, int rounds) {
  const std::vector<double>& data = probes::loop_data();
  const auto value = [&](int i) { return data[static_cast<std::size_t>(i)]; };
  const int lane = thread % 32, at_m = lane / 16 * 2 + lane / 2 % 2, at_n = lane % 16 / 4 * 2 + lane % 2;
  const auto word_a = [&](int row, int w) {
    const int unit = w / t.unit() * ALONG_M + at_m;
    return value(row * t.row_words() + unit * t.unit() + w % t.unit());
  };
  const auto word_b = [&](int row, int w) {
    const int unit = w / t.unit() * ALONG_N + at_n;
    return value(row * t.row_words() + t.words_m() * ALONG_M + unit * t.unit() + w % t.unit());
  };
  std::vector<double> sums(data.begin() + lane, data.begin() + lane + t.tm * t.tn * t.numbers);
  for (int row = 0; row < rounds * t.rows(); ++row) {
    const int from = t.loads == NONE ? 0 : row % t.rows();
    const bool turned = t.loads == NONE && row % 2;
    for (int f = 0; f < t.fmas(); ++f) {
      const Fma x = fma_of(t, order, f);
      const double a = word_a(from, (turned ? t.tm - 1 - x.row : x.row) * t.numbers + x.of_a);
      const double b = word_b(from, (turned ? t.tn - 1 - x.col : x.col) * t.numbers + x.of_b);
      double& s = sums[static_cast<std::size_t>((x.row * t.tn + x.col) * t.numbers + x.part)];
      s = std::fma(x.negative ? -a : a, b, s);
    }
  }
  double total = 0;
  for (const double s : sums) total += s;
  return total;
}

using Kernel = void(int, const double*, double*, long long*);

Loop loop(Kernel* kernel, const Tile& t, Order order) {
  static constexpr const char* names[] = {"none", "lds64", "lds128"};
  Loop result;
  result.about = {{"kind", names[t.loads]},
                  {"type", t.numbers == REAL ? "double" : "double complex"},
                  {"tile_m", t.tm},
                  {"tile_n", t.tn},
                  {"order", order == FRESH ? "fresh" : "neighbours"}};
  result.fmas = t.rows() * t.fmas();
  result.others = t.loads == NONE ? 0 : t.rows() * (t.words_m() + t.words_n()) / t.unit();
  result.loads_64 = t.loads == SHARED_64 ? result.others : 0;
  result.loads_128 = t.loads == SHARED_128 ? result.others : 0;
  result.other_cycles = result.others * t.unit();  // wavefronts
  result.operands = order == FRESH ? 3 : 2;
  result.kernel = reinterpret_cast<const void*>(kernel);
  result.kernel_name = "tile";
  for (const int number : {static_cast<int>(t.numbers), t.tm, t.tn, static_cast<int>(t.loads), static_cast<int>(order)})
    result.kernel_name.append(" ").append(std::to_string(number));
  result.launch = [kernel](const gemm::LaunchShape& shape, int rounds, const double* data, double* out,
                           long long* cycles) { return gemm::launch(kernel, shape, rounds, data, out, cycles); };
  result.right = [t, order](int thread, int rounds) { return right_sum(t, order, thread, rounds); };
  return result;
}

template <Numbers numbers, int TM, int TN, Loads loads, Order order = NEIGHBOURS>
void add(std::vector<Loop>& loops) {
  loops.push_back(loop(tile<numbers, TM, TN, loads, order>, {numbers, TM, TN, loads}, order));
}
template <Numbers numbers, int TM, int TN>
void add_both(std::vector<Loop>& loops) {
  add<numbers, TM, TN, NONE>(loops);
  add<numbers, TM, TN, SHARED_128>(loops);
}

std::vector<Loop> all_loops() {
  std::vector<Loop> loops;
  add_both<REAL, 8, 8>(loops);
  add<REAL, 8, 8, NONE, FRESH>(loops);
  add<REAL, 8, 8, SHARED_64>(loops);
  add_both<REAL, 4, 4>(loops);
  add_both<REAL, 8, 4>(loops);
  add_both<REAL, 10, 8>(loops);
  add_both<REAL, 12, 8>(loops);
  add_both<REAL, 16, 4>(loops);
  add_both<REAL, 16, 6>(loops);
  add_both<COMPLEX, 4, 4>(loops);
  add_both<COMPLEX, 6, 4>(loops);
  add_both<COMPLEX, 8, 4>(loops);
  add_both<COMPLEX, 6, 6>(loops);
  return loops;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "the inner loops of tiles, with and without their loads from shared memory",
     .options = {probes::machine_code_option()},
     .run = [](const gemm::ProbeRun& run) { return probes::run_loops(run, all_loops(), __FILE__); }}};

}  // namespace
