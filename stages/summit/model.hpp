// Stage 18: which tile, how many workers, and which way: a model of their costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/kernel/vector.cuh"
#include "common/problem/problem.hpp"
#include "stages/summit/pack.cuh"
#include "stages/summit/plan.cuh"
#include "stages/summit/shape.cuh"

namespace gemm::summit {

static_assert(Large::TILE_M == PANEL && Large::TILE_N == PANEL);

// Microseconds on an H200, fitted to the times of 2100 plans for 124 shapes, the slim tile's to 26; no committed
// measurement has them.
struct Costs {
  double round[4];  // [b]: a round of each of an SM's b + 1 blocks, its operands in fours
  double tile;      // the rest of a tile: its first loads and its stores
  double part;      // more for a worker's tile; 0: `tile`, which is a mean of both, has it
  double ragged;    // how many times as long rounds take if rows do not start with lines of the cache
  double words;     // the same with words, of any alignment
  double packed;    // the same with packed operands
};
template <class S>
constexpr Costs COSTS{};
template <>
constexpr Costs COSTS<Large> = {{3.05, 5.29, 0, 0}, 4.85, 0.0, 1.02, 1.026, 0.968};
template <>
constexpr Costs COSTS<Medium> = {{2.8, 0, 0, 0}, 4.2, 0.0, 1.086, 1.085, 0};
template <>
constexpr Costs COSTS<Tall> = {{1.65, 2.82, 4.14, 0}, 4.3, 0.0, 1.0, 1.087, 0};
template <>
constexpr Costs COSTS<Small> = {{1.05, 1.71, 2.42, 3.16}, 3.75, 0.0, 1.0, 1.05, 0};
template <>
constexpr Costs COSTS<Slim> = {{2.03, 0, 0, 0}, 1.95, 2.0, 1.1, 1.16, 0};
constexpr double LAUNCH = 2.0;         // each kernel
constexpr double PART_BYTES = 5.0e6;   // bytes of parts a microsecond, written or read by all SMs
constexpr double ADD_BYTES = 0.043e6;  // the same, read by one block
constexpr double PACK_BYTES = 4.1e6;   // bytes of a matrix a microsecond, read and written

enum class Tile { any, large, medium, tall, small, slim };
// f of a tile's shape.
template <class F>
auto with_shape(Tile tile, const F& f) {
  return tile == Tile::large    ? f(Large{})
         : tile == Tile::medium ? f(Medium{})
         : tile == Tile::tall   ? f(Tall{})
         : tile == Tile::slim   ? f(Slim{})
                                : f(Small{});
}

struct Choice {
  Plan plan;
  Tile tile;
  Way way;
  double time;  // estimated, microseconds
};
constexpr double IMPOSSIBLE = 1e300;
constexpr int TICKETS = 4096;

// Which operands can be read 16 bytes at a time.
inline bool aligned_b(const SgemmProblem& p) {
  return has_aligned_rows(p.b, p.ldb) && p.n % 4 == 0;
}
// Rows that do not start with a line of the cache lie in one line more.
inline bool ragged(const float* x, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(x) % 128 != 0 || ld % 32 != 0;
}
inline bool ragged(const SgemmProblem& p) {
  return ragged(p.a, p.lda) || ragged(p.b, p.ldb);
}
// Whether B is packed if A is.
inline bool pack_b(const SgemmProblem& p) {
  return !aligned_b(p) || ragged(p.b, p.ldb);
}

// Writing the parts of shared tiles, and adding them up, by the second kernel or by the last worker of a tile.
template <class S>
double adding(const Plan& plan, bool reduced) {
  constexpr double BYTES = 1.0 * S::TILE_M * S::TILE_N * sizeof(float);
  const double parts = std::min(2.0 * plan.workers, plan.workers + 1.0 * plan.shared) * BYTES;
  const double of_a_tile = (plan.workers + plan.shared - 1) / plan.shared * BYTES;
  return parts / PART_BYTES + (reduced ? LAUNCH + parts / PART_BYTES : of_a_tile / ADD_BYTES);
}

template <class S>
Plan share(const SgemmProblem& p, int whole, int workers) {  // `whole` tiles have a block of their own
  Plan plan{};
  plan.tiles_m = ceil_div(p.m, S::TILE_M);
  plan.tiles_n = ceil_div(p.n, S::TILE_N);
  plan.rounds = ceil_div(p.depth(), S::TILE_K);
  const std::int64_t shared = static_cast<std::int64_t>(plan.tiles_m) * plan.tiles_n - whole;
  const std::int64_t rounds = shared * plan.rounds;
  if (workers == 0 || rounds == 0) return plan;
  if (rounds >= 1ll << 31) return share<S>(p, static_cast<int>(shared + whole), 0);  // they are counted in 32 bits
  plan.shared = static_cast<int>(shared);
  const Shares shares = Shares::of(rounds, workers);
  plan.workers = shares.workers;
  plan.each = shares.each;
  plan.extra = shares.extra;
  plan.reduced = plan.shared > TICKETS || adding<S>(plan, true) < adding<S>(plan, false);
  return plan;
}

template <class S>
double estimate(const Plan& plan, int sms, double slower) {
  constexpr Costs costs = COSTS<S>;
  const int whole = plan.tiles_m * plan.tiles_n - plan.shared, places = sms * S::BLOCKS;
  const auto wave = [&](int blocks, double rounds, int tiles) {  // of at most `places` blocks, a few tiles each
    return blocks == 0 ? 0.0 : slower * rounds * costs.round[(blocks - 1) / sms] + tiles * costs.tile;
  };
  double time = LAUNCH + whole / places * wave(places, plan.rounds, 1) + wave(whole % places, plan.rounds, 1);
  if (plan.workers > 0) {
    const int tiles = plan.workers % plan.shared == 0 ? 1 : plan.each / plan.rounds + 2;
    time += wave(plan.workers, plan.each + (plan.extra > 0), tiles) + tiles * costs.part;
    time += adding<S>(plan, plan.reduced);
  }
  return time;
}

// Offers the plans that a tile has for a problem: none shared; what is left after whole waves of blocks, or that and
// one wave more, shared by as many workers as the GPU has places. If there are fewer tiles than places, also: all
// shared by fewer blocks of each SM, or by the same number of blocks for every tile.
template <class S>
void consider(const SgemmProblem& p, Tile tile, Way way, Choice& best) {
  const DeviceLimits limits = device_limits();
  if (S::SHARED_BYTES > static_cast<unsigned>(limits.shared_bytes_per_block)) return;
  const double slower = way == Way::words    ? COSTS<S>.words
                        : way == Way::packed ? COSTS<S>.packed
                        : ragged(p)          ? COSTS<S>.ragged
                                             : 1.0;
  if (slower == 0.0) return;
  const double bytes = 4.0 * (packed_words(p.m, p.depth()) + pack_b(p) * packed_words(p.n, p.depth()));
  const double before = way == Way::packed ? LAUNCH + 2 * bytes / PACK_BYTES : 0.0;
  const int sms = std::max(limits.multiprocessors, 1), places = sms * S::BLOCKS;
  const std::int64_t tiles = static_cast<std::int64_t>(ceil_div(p.m, S::TILE_M)) * ceil_div(p.n, S::TILE_N);
  const auto offer = [&](std::int64_t whole, int workers) {
    const Plan plan = share<S>(p, static_cast<int>(whole), workers);
    const double time = before + estimate<S>(plan, sms, slower);
    if (time < best.time) best = {plan, tile, way, time};
  };
  offer(tiles, 0);
  if (p.depth() == 0 || tiles == 0) return;
  for (int waves = 0; waves <= 1 && tiles / places >= waves; ++waves) offer((tiles / places - waves) * places, places);
  if (tiles >= places) return;
  for (int blocks = 1; blocks < S::BLOCKS; ++blocks) offer(0, blocks * sms);
  const int rounds = ceil_div(p.depth(), S::TILE_K);
  for (int split = 2; split * tiles <= places && split <= rounds; ++split)
    offer(0, static_cast<int>(split * tiles));  // each tile by as many
}

inline Choice choose(const SgemmProblem& p, Tile tile, bool always_pack) {
  Choice best{{}, Tile::large, Way::words, IMPOSSIBLE};
  const Way unpacked = has_aligned_rows(p.a, p.lda) && aligned_b(p) ? Way::fours : Way::words;
  for (const Way way : {unpacked, Way::packed}) {
    if (always_pack && way != Way::packed) continue;
    for (const Tile each : {Tile::large, Tile::medium, Tile::tall, Tile::small, Tile::slim})
      if (tile == Tile::any || tile == each)
        with_shape(each, [&](auto shape) { consider<decltype(shape)>(p, each, way, best); });
  }
  return best;
}

}  // namespace gemm::summit
