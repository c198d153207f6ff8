// Stage 18: which rounds of which tiles a block has. The shared rounds are those of 17b.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gemm::summit {

// The partition: a tile of C takes `rounds` rounds of TILE_K steps. The rounds of the first `shared` tiles are divided
// among `workers` blocks, in order: each + extra / workers for each of them; every other tile has a block of
// its own. The parts of a tile are added up by the last of its workers to finish, or by a second kernel, reduce().
struct Plan {
  int tiles_m, tiles_n, rounds;
  int shared, workers;
  int each, extra;
  bool reduced;  // by reduce()

  __host__ __device__ int begin(int worker) const {  // of its rounds
    return worker * each + static_cast<int>(static_cast<std::int64_t>(worker) * extra / workers);
  }
  // The owner of a round: the last worker whose rounds begin there or before it.
  __host__ __device__ int worker_of(int round) const {
    const std::int64_t all = static_cast<std::int64_t>(workers) * each + extra;
    return static_cast<int>(((round + std::int64_t{1}) * workers - 1) / all);
  }
  // The part-th tile that a block works on: which one, and its rounds from `first` to before `last`. False: no more.
  template <bool SHARED>
  __device__ bool segment(int block, int part, int& tile, int& first, int& last) const {
    if (!SHARED || block >= workers) {
      tile = block - workers + shared;
      first = 0;
      last = rounds;
      return part == 0;
    }
    const int from = begin(block), to = begin(block + 1);
    tile = from / rounds + part;
    first = part == 0 ? from - tile * rounds : 0;
    last = min(to - tile * rounds, rounds);
    return first < last;
  }
};

// Tiles in the order of 17a: eight rows of tiles at a time, column by column.
__device__ inline void place(const Plan& plan, int tile, int& tile_m, int& tile_n) {
  constexpr int HEIGHT = 8;
  const int band = tile / (HEIGHT * plan.tiles_n), in = tile % (HEIGHT * plan.tiles_n);
  const int height = min(HEIGHT, plan.tiles_m - band * HEIGHT);
  tile_m = band * HEIGHT + in % height;
  tile_n = in / height;
}

}  // namespace gemm::summit
