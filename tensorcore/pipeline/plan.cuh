// Stage 03b: which tiles of C, and which shares of tiles, a block has.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/kernel/schedule.cuh"
#include "common/problem/problem.hpp"

namespace pipeline {

// Rounds of TILE_K steps of one tile of C, from `first` to before `end`.
struct Segment {
  int tile, first, end;
};

// The partition: a tile takes `rounds` rounds. Block b has tiles b, b + blocks, .. of the first `whole` ones, then an
// even share of the rounds of the others: each + extra / blocks of them.
struct Plan {
  int tiles_m, tiles_n, rounds, whole = 0, blocks = 0, each = 0, extra = 0;

  __host__ __device__ int shared_tiles() const { return tiles_m * tiles_n - whole; }
  __host__ __device__ gemm::Shares shares() const { return {blocks, each, extra}; }
  // Of a block's share of rounds the first: as shares() has it, in 32 bits.
  __device__ int begin(int block) const { return block * each + block * extra / blocks; }
  // Piece number `which` of a block's work. False: no more.
  __device__ bool segment(int block, int which, Segment& s) const {
    s = {block + which * blocks, 0, rounds};
    if (s.tile < whole) return true;
    const int from = begin(block), to = begin(block + 1), part = which - (whole - block + blocks - 1) / blocks;
    const int tile = rounds > 0 ? from / rounds + part : 0;
    s = {whole + tile, part == 0 ? from - tile * rounds : 0, min(to - tile * rounds, rounds)};
    return s.first < s.end;
  }
  // Where a tile of C begins.
  template <class S>
  __device__ void place(int tile, int& row, int& col) const {
    gemm::place_in_bands<16>(tile, tiles_m, tiles_n, row, col);
    row *= S::TILE_M, col *= S::TILE_N;
  }
};

enum class Share { where_it_pays, always, never };

template <class S>
Plan make_plan(const gemm::HgemmProblem& p, Share share) {
  Plan plan{gemm::ceil_div(p.m, S::TILE_M), gemm::ceil_div(p.n, S::TILE_N), gemm::ceil_div(p.depth(), S::TILE_K)};
  const std::int64_t tiles = std::int64_t{plan.tiles_m} * plan.tiles_n;
  const int places = gemm::device_limits().multiprocessors * S::BLOCKS, rest = static_cast<int>(tiles % places);
  plan.whole = static_cast<int>(tiles);
  plan.blocks = static_cast<int>(std::min<std::int64_t>(tiles, places));
  const std::int64_t rounds = std::int64_t{rest} * plan.rounds;  // to share
  const std::int64_t saved = plan.rounds - (rounds + places - 1) / places;
  // Parts are stored, and read again by another kernel: on an H200 about as long as 6 rounds, and 1 for 8 tiles.
  const bool pays = saved >= 6 + rest / 8;
  if (share == Share::never || (share == Share::where_it_pays && !pays)) return plan;
  if (rounds == 0 || rounds >= 1ll << 31 || (tiles > places && rounds < places)) return plan;  // all share, or none
  plan.whole -= rest;
  plan.blocks = static_cast<int>(plan.whole > 0 ? places : std::min<std::int64_t>(places, rounds));
  const gemm::Shares shares = gemm::Shares::of(rounds, plan.blocks);
  plan.each = shares.each;
  plan.extra = shares.extra;
  return plan;
}

}  // namespace pipeline
