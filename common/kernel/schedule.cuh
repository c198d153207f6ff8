// Which block computes what, where a tile of C can be cut along k: bands of tiles (stage 17a), and equal shares of
// k-tiles, stream-K (stage 17b).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace gemm {

/// A tile's row and column among the tiles: bands of HEIGHT rows of tiles, each column by column; the last band may be
/// lower.
template <int HEIGHT>
__device__ void place_in_bands(int tile, int tiles_m, int tiles_n, int& row, int& col) {
  const int band = tile / (HEIGHT * tiles_n), in = tile % (HEIGHT * tiles_n);
  const int height = min(HEIGHT, tiles_m - band * HEIGHT);
  row = band * HEIGHT + in % height;
  col = in / height;
}

/// Rounds (k-tiles), numbered from 0, that are partitioned among `workers` blocks: each + extra / workers for each block.
struct Shares {
  int workers, each, extra;

  /// Of `rounds` rounds, for at most so many workers. A round is a worker's at least.
  static Shares of(std::int64_t rounds, std::int64_t most) {
    const int workers = static_cast<int>(std::min(most, rounds));
    return {workers, static_cast<int>(rounds / workers), static_cast<int>(rounds % workers)};
  }
  __host__ __device__ int begin(int worker) const {  // of its rounds
    return worker * each + static_cast<int>(static_cast<std::int64_t>(worker) * extra / workers);
  }
  /// The worker that has a round: the last one whose share begins there or before it.
  __host__ __device__ int worker_of(int round) const {
    const std::int64_t all = static_cast<std::int64_t>(workers) * each + extra;
    return static_cast<int>(((round + std::int64_t{1}) * workers - 1) / all);
  }
};

/// The partition of a product. A tile takes `rounds` rounds of TILE_K steps. Those of the first `shared` tiles, one tile
/// after the other, are partitioned among workers; other tiles have one block each.
struct StreamK {
  int tiles_m, tiles_n, rounds, shared, workers, each, extra;

  __host__ __device__ Shares shares() const { return {workers, each, extra}; }

  __host__ unsigned blocks() const { return workers + static_cast<unsigned>(tiles_m) * tiles_n - shared; }

  /// The part-th tile that a block works on, and its rounds from `first` to before `end`. False: there are no more.
  /// SHARED: some blocks are workers.
  template <bool SHARED>
  __device__ bool segment(int block, int part, int& tile, int& first, int& end) const {
    if (!SHARED || block >= workers) {
      tile = block - workers + shared;
      first = 0;
      end = rounds;
      return part == 0;
    }
    const int from = shares().begin(block), to = shares().begin(block + 1);
    tile = from / rounds + part;
    first = part == 0 ? from - tile * rounds : 0;
    end = min(to - tile * rounds, rounds);
    return first < end;
  }
  __device__ void place(int tile, int& tile_m, int& tile_n) const {
    place_in_bands<8>(tile, tiles_m, tiles_n, tile_m, tile_n);
  }
};

enum class Share { rest, two_waves, split_k, nothing };  // what is shared: see stream_k()

/// Shared are the tiles after the last whole wave of `places` blocks (rest), unless they fill nine tenths of one; or the
/// wave before, too (two_waves). split_k: each of them by the same number of workers, if two or more can be resident.
inline StreamK stream_k(int tiles_m, int tiles_n, int rounds, int places, Share share = Share::rest) {
  StreamK plan{tiles_m, tiles_n, rounds, 0, 0, 0, 0};
  const std::int64_t tiles = static_cast<std::int64_t>(tiles_m) * tiles_n;
  int rest = static_cast<int>(tiles % places), split = 0;
  if (share == Share::nothing || rest == 0 || 10 * rest >= 9 * places || rounds == 0) return plan;
  if (share == Share::split_k) split = places / rest;
  if (share == Share::two_waves && tiles > places) rest += places;
  const std::int64_t all = static_cast<std::int64_t>(rest) * rounds;
  if (split == 1 || all >= 1ll << 31) return plan;
  const Shares shares = Shares::of(all, split ? split * rest : places);
  return {tiles_m, tiles_n, rounds, rest, shares.workers, shares.each, shares.extra};
}

/// Where a worker's part of a tile begins in the workspace, in parts: it has at most two, of the tile that it starts in,
/// and of the one that it ends in.
__device__ inline std::size_t part_at(int worker, bool second) {
  return static_cast<std::size_t>(2 * worker + second);
}

}  // namespace gemm
