// coissue: what do other instructions cost the FP64 units?
//
// Idea      A DFMA keeps a scheduler's 16 FP64 lanes busy for two cycles, and its issue slot for one. So every other
//           slot is free for something else. Is it? Loops of DFMAs with 0 to 8 instructions of one kind after every
//           four of them tell.
// Kinds     Integer additions; moves; loads of 8 and 16 bytes from shared memory, where lanes read different words
//           (spread) or the same (broadcast); loads that hit the L1. What is loaded or moved are factors of the next
//           FMAs.
// Orders    The factors of an FMA are those of the one before (same), or one of them is (neighbours), or none (fresh).
// Predicted Four hypotheses (docs/tsm/probes.md#coissue), one of them the paper's: a DFMA is lost for every four
//           others.
// Page      docs/tsm/probes.md#coissue
// Source    Ernst et al. (2020), section 5.3.
#include <array>
#include <cmath>

#include "common/kernel/launch.cuh"
#include "tsm/probes/fp64_loops.hpp"
#include "tsm/probes/instructions.cuh"

namespace {

using gemm::probes::Loop;
namespace probes = gemm::probes;

enum Kind { NONE, ADD, MOVE, SHARED_64, SHARED_128, GLOBAL_64 };
enum Order { SAME, NEIGHBOURS, FRESH };

constexpr int SUMS = 16;      // of a thread: enough independent FMAs for one warp
constexpr int INTEGERS = 16;  // of a thread, to be added up or moved
constexpr int POOL = 16;      // factors that a chunk has at most: half of them first ones, half second ones
constexpr int WORDS = 4096;   // in shared memory, 32 KiB

// A round is some chunks. FMAs of a chunk take their factors from one pool, and what is loaded meanwhile goes to
// another, for the next chunk. A chunk has as many FMAs as make `per_four` others for every four of them.
struct Mix {
  Kind kind;
  int per_four;

  __host__ __device__ constexpr bool in_shared() const { return kind == SHARED_64 || kind == SHARED_128; }
  __host__ __device__ constexpr bool loads() const { return in_shared() || kind == GLOBAL_64; }
  __host__ __device__ constexpr int words() const { return kind == SHARED_128 ? 2 : 1; }  // doubles of a load
  __host__ __device__ constexpr int pool() const { return loads() && per_four % 3 == 0 ? 12 : POOL; }
  __host__ __device__ constexpr int half() const { return pool() / 2; }
  __host__ __device__ constexpr int fmas() const {  // of a chunk
    return loads() ? 4 * pool() / words() / per_four : kind == MOVE ? 8 * pool() / per_four : 64;
  }
  __host__ __device__ constexpr int others() const { return fmas() * per_four / 4; }
  __host__ __device__ constexpr int chunks() const { return fmas() >= 32 ? 2 : 64 / fmas(); }
};

// Which factors FMA f of a chunk takes, of `half` first ones and as many second ones.
__host__ __device__ constexpr int first_factor(Order order, int f, int fmas, int half) {
  return order == SAME ? f * half / fmas : order == NEIGHBOURS ? (f + 1) / 2 % half : f % half;
}
__host__ __device__ constexpr int second_factor(Order order, int f, int fmas, int half) {
  return order == SAME ? f * half / fmas : order == NEIGHBOURS ? f / 2 % half : (f + f / half) % half;
}
// Which integers the words of a moved factor come from: a pair that no other of the round has.
__host__ __device__ constexpr int low_word(int moved) {
  return moved % INTEGERS;
}
__host__ __device__ constexpr int high_word(int moved) {
  return (moved + moved / INTEGERS + 1) % INTEGERS;
}
constexpr std::uint32_t BITS_OF_HALF = 0x3fe00000;  // the upper word of 0.5

// One function for all: nvcc puts it into each kernel below, where it knows m and order, and all that depends on them
// is gone.
[[maybe_unused]] __device__ void run_mix(const Mix& m, Order order, int rounds, int lane_step, int step,
                                         const double* data, double* out, long long* cycles) {
  __shared__ __align__(16) double words[WORDS];
  const int lane = threadIdx.x % 32;
  const double* mine = data + lane * lane_step;
  if (m.in_shared()) {
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = data[i];
    mine = words + lane * lane_step;
  }
  double pool[2][POOL], sum[SUMS];
  std::uint32_t integer[INTEGERS];
  for (int i = 0; i < 2 * POOL; ++i) pool[i / POOL][i % POOL] = data[32 * i + lane];
  for (int i = 0; i < SUMS; ++i) sum[i] = data[i + lane];
  for (int i = 0; i < INTEGERS; ++i) integer[i] = BITS_OF_HALF + threadIdx.x + i;
  __syncthreads();
  const long long begin = probes::sm_clock();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int chunk = 0; chunk < m.chunks(); ++chunk) {
      const double* const factors = pool[chunk % 2];
      double* const next = pool[(chunk + 1) % 2];
#pragma unroll
      for (int f = 0; f < m.fmas(); ++f) {
        probes::fused_multiply_add(sum[(chunk * m.fmas() + f) % SUMS],
                                   factors[first_factor(order, f, m.fmas(), m.half())],
                                   factors[m.half() + second_factor(order, f, m.fmas(), m.half())]);
#pragma unroll
        for (int i = f * m.others() / m.fmas(); i < (f + 1) * m.others() / m.fmas(); ++i) {
          const double* const from = mine + (chunk * m.others() + i) * 32 * m.words();
          if (m.kind == ADD)
            probes::add_two(integer[i % INTEGERS], integer[(i + 8) % INTEGERS], integer[(i + 5) % INTEGERS]);
          if (m.kind == MOVE) {  // each of the two words is one
            const int moved = chunk * m.others() / 2 + i / 2;
            if (i % 2) next[i / 2] = probes::from_words(integer[low_word(moved)], integer[high_word(moved)]);
          }
          if (m.kind == SHARED_64) probes::load_shared(next[i], from);
          if (m.kind == SHARED_128) probes::load_shared(next[2 * i], next[2 * i + 1], from);
          if (m.kind == GLOBAL_64) probes::load_global(next[i], from);
        }
      }
    }
    if (m.kind == GLOBAL_64) mine += step;  // by 0, which the compiler doesn't know
    if (m.kind == MOVE) {                   // or what is moved in this round could stay where it is for the next
#pragma unroll
      for (int i = 0; i < INTEGERS; ++i) ++integer[i];
    }
  }
  __syncthreads();
  const long long end = probes::sm_clock();
  double total = 0;
  for (int i = 0; i < SUMS; ++i) total += sum[i];
  std::uint32_t all = 0;
  for (int i = 0; i < INTEGERS; ++i) all ^= integer[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total + (m.kind == ADD ? all : 0);
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
}

template <Kind kind, int per_four, Order order>
__global__ void __launch_bounds__(512)
    mix(int rounds, int lane_step, int step, const double* data, double* out, long long* cycles) {
  constexpr Mix m{kind, per_four};
  static_assert(m.others() * m.words() * 32 * m.chunks() <= WORDS || !m.loads());
  if constexpr (probes::has_fp64_units)
    run_mix(m, order, rounds, lane_step, step, data, out, cycles);
  else
    probes::stop();
}

// The same once more, for one thread, with nothing but loops.
double right_sum(const Mix& m, Order order, int lane_step, int thread, int rounds) {
  const std::vector<double>& data = probes::loop_data();
  const auto value = [&](int i) { return data[static_cast<std::size_t>(i)]; };
  const auto at = [](auto& array, int i) -> auto& {
    return array[static_cast<std::size_t>(i)];
  };
  const int lane = thread % 32;
  std::array<std::array<double, POOL>, 2> pool;
  std::array<double, SUMS> sum;
  std::array<std::uint32_t, INTEGERS> integer;
  for (int i = 0; i < 2 * POOL; ++i) at(at(pool, i / POOL), i % POOL) = value(32 * i + lane);
  for (int i = 0; i < SUMS; ++i) at(sum, i) = value(i + lane);
  for (int i = 0; i < INTEGERS; ++i) at(integer, i) = BITS_OF_HALF + static_cast<std::uint32_t>(thread + i);
  for (int chunk = 0; chunk < rounds * m.chunks(); ++chunk) {
    const int of_round = chunk % m.chunks();
    const auto& factors = at(pool, chunk % 2);
    for (int f = 0; f < m.fmas(); ++f) {
      double& s = at(sum, (of_round * m.fmas() + f) % SUMS);
      s = std::fma(at(factors, first_factor(order, f, m.fmas(), m.half())),
                   at(factors, m.half() + second_factor(order, f, m.fmas(), m.half())), s);
    }
    auto& next = at(pool, (chunk + 1) % 2);
    for (int i = 0; i < m.others(); ++i) {
      const int of_all = of_round * m.others() + i;
      if (m.kind == ADD) at(integer, i % INTEGERS) += at(integer, (i + 8) % INTEGERS) + at(integer, (i + 5) % INTEGERS);
      if (m.kind == MOVE && i % 2)
        at(next, i / 2) = probes::from_words(at(integer, low_word(of_all / 2)), at(integer, high_word(of_all / 2)));
      for (int w = 0; m.loads() && w < m.words(); ++w)
        at(next, m.words() * i + w) = value(lane * lane_step + of_all * 32 * m.words() + w);
    }
    if (m.kind == MOVE && of_round == m.chunks() - 1) {
      for (std::uint32_t& n : integer) ++n;
    }
  }
  double total = 0;
  for (const double s : sum) total += s;
  std::uint32_t all = 0;
  for (const std::uint32_t n : integer) all ^= n;
  return total + (m.kind == ADD ? all : 0);
}

// Cycles of an SM that one of a warp takes.
double cycles_of(Kind kind, bool spread) {
  switch (kind) {
    case ADD:
      return 0.5;  // 64 lanes
    case MOVE:
      return 0.25;  // nvcc deals them out to two pipes
    case SHARED_64:
      return spread ? 2 : 1;  // wavefronts
    case SHARED_128:
      return spread ? 4 : 1;
    case GLOBAL_64:
      return 2;
    default:
      return 0;
  }
}

using Kernel = void(int, int, int, const double*, double*, long long*);

Loop loop(Kernel* kernel, const Mix& m, Order order, bool spread) {
  static constexpr const char* kinds[] = {"none", "add", "move", "lds64", "lds128", "ldg64"};
  static constexpr const char* orders[] = {"same", "neighbours", "fresh"};
  const int lane_step = m.loads() && spread ? m.words() : 0;
  Loop result;
  result.about = {{"kind", kinds[m.kind]}, {"per_four", m.per_four}, {"order", orders[order]}};
  if (m.loads()) result.about["lanes"] = spread ? "spread" : "broadcast";
  result.fmas = m.chunks() * m.fmas();
  result.others = m.chunks() * m.others();
  result.loads_64 = m.loads() && m.words() == 1 ? result.others : 0;
  result.loads_128 = m.words() == 2 ? result.others : 0;
  result.other_cycles = result.others * cycles_of(m.kind, spread);
  result.operands = order == SAME ? 1 + 2.0 * m.half() / m.fmas() : order == NEIGHBOURS ? 2 : 3;
  result.kernel = reinterpret_cast<const void*>(kernel);
  result.kernel_name = "mix " + std::to_string(m.kind) + " " + std::to_string(m.per_four) + " " + std::to_string(order);
  result.launch = [kernel, lane_step](const gemm::LaunchShape& shape, int rounds, const double* data, double* out,
                                      long long* cycles) {
    return gemm::launch(kernel, shape, rounds, lane_step, 0, data, out, cycles);
  };
  result.right = [m, order, lane_step](int thread, int rounds) {
    return right_sum(m, order, lane_step, thread, rounds);
  };
  return result;
}

template <Kind kind, Order order, int... per_four>
void add(std::vector<Loop>& loops, bool spread = false) {
  (loops.push_back(loop(mix<kind, per_four, order>, {kind, per_four}, order, spread)), ...);
}

std::vector<Loop> all_loops() {
  std::vector<Loop> loops;
  add<NONE, SAME, 0>(loops);
  add<NONE, NEIGHBOURS, 0>(loops);
  add<NONE, FRESH, 0>(loops);
  add<ADD, SAME, 1, 2, 4, 8>(loops);
  add<ADD, NEIGHBOURS, 1, 2, 3, 4, 6, 8>(loops);
  add<ADD, FRESH, 1, 2, 4, 8>(loops);
  add<MOVE, NEIGHBOURS, 1, 2, 4, 8>(loops);
  for (const bool spread : {false, true}) {
    // Where loads are many, each FMA has factors of its own, or some would be loaded for nothing.
    add<SHARED_64, NEIGHBOURS, 1, 2, 3, 4>(loops, spread);
    add<SHARED_64, FRESH, 6, 8>(loops, spread);
    add<SHARED_128, NEIGHBOURS, 1, 2>(loops, spread);
    add<SHARED_128, FRESH, 3, 4>(loops, spread);
  }
  add<GLOBAL_64, NEIGHBOURS, 1, 2, 4>(loops, true);
  add<GLOBAL_64, FRESH, 8>(loops, true);
  return loops;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "what other instructions and new operands cost the FP64 units",
     .options = {probes::machine_code_option()},
     .run = [](const gemm::ProbeRun& run) { return probes::run_loops(run, all_loops(), __FILE__); }}};

}  // namespace
