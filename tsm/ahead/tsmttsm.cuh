// TSMTTSM for any M and N up to 64, compiled ahead of time: as stage 13b's kernel (tsm/13b_tensor_cores.cu), but only the
// number of a warp's fragments is a constant. Fragments that C fills in part need no exact sizes: what lies behind C's
// edges is computed and not stored.
#pragma once

#include <algorithm>
#include <climits>
#include <span>

#include "tsm/ahead/ahead.hpp"
#include "tsm/ahead/rows.cuh"
#include "tsm/generated/combine.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::ahead {

constexpr int most_warps = 8, stages = 4;

/// How a block works: warps that have all of C together are a slice, each with a tile of it.
template <class T>
struct TsmttsmShape {
  int m, n, slices, turns;
  bool conjugate, gram;
  int places = 0;
  signed char tile_m[most_warps] = {}, tile_n[most_warps] = {};
  TallRows<T> a, b;
  int b_at = 0, stage_bytes = 0;  ///< of a stage: where B's rows begin, and all of it
};

/// Blocks of a multiprocessor, by a warp's fragments: as many as shared memory holds, and registers.
template <class T>
constexpr int least_blocks(int fragments) {
  if (sizeof(T) == sizeof(double2)) return fragments < 4 ? 2 : 1;
  return fragments == 1 ? 4 : fragments == 2 ? 3 : 2;
}

/// Sums of A^T B over the rows of each block, m x n of them, in `partial`. A warp has FM x FN fragments of 16 x 8.
template <class T, int FM, int FN>
__global__ void __launch_bounds__(most_warps * 32, least_blocks<T>(FM* FN))
    tsmttsm(const __grid_constant__ TsmttsmShape<T> shape, std::int64_t k, T* __restrict__ partial) {
  constexpr int element = sizeof(T), parts = generated::parts_of<T>;
  const RowLayout &of_a = shape.a.layout, &of_b = shape.b.layout;
  const int places = shape.places, slices = shape.slices, rows = of_a.rows, stage = shape.stage_bytes;
  const int warp = threadIdx.x / 32, slice = warp / places, place = warp - slice * places;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, threads = blockDim.x;

  // Stages are distributed round robin among the blocks. All rows exist but of the last one.
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * rows;
  const int mine = first < k ? static_cast<int>((k - first - 1) / step) + 1 : 0;
  const ptx::SharedAddress begin = ptx::kept_shared_address(smem), end = begin + stages * stage;
  int next = 0;  // stage to be copied
  const auto copy = [&](ptx::SharedAddress to) {
    if (next < mine) {
      const std::int64_t from = first + next * step, left = k - from;
      const int existing = left < rows ? static_cast<int>(left) : rows;
      shape.a.copy(to, from, existing, threadIdx.x, threads);
      if (!shape.gram) shape.b.copy(to + shape.b_at, from, existing, threadIdx.x, threads);
      ++next;
    }
    ptx::cp_async_commit();
  };
#pragma unroll 1
  for (int s = 0; s < stages - 1; ++s) copy(begin + s * stage);

  // A lane's columns: where one lies behind the last one it is that one.
  const int first_m = shape.tile_m[place] * (16 * FM), first_n = shape.tile_n[place] * (8 * FN);
  int column_a[2 * FM], column_b[FN];
#pragma unroll
  for (int i = 0; i < 2 * FM; ++i)
    column_a[i] =
        t * of_a.chunk_stride + slice * of_a.row_bytes + generated::smaller(first_m + i * 8 + g, shape.m - 1) * element;
#pragma unroll
  for (int j = 0; j < FN; ++j)
    column_b[j] = shape.b_at + t * of_b.chunk_stride + slice * of_b.row_bytes +
                  generated::smaller(first_n + j * 8 + g, shape.n - 1) * element;

  // While the words of four rows are multiplied, those of the next four are in flight to the other half of x and y.
  generated::Operand<T> x[2][2 * FM], y[2][FN];
  double sum[parts * FM * FN][4] = {};
  const int forward_a = slices * of_a.row_bytes, forward_b = slices * of_b.row_bytes;
  const auto read = [&](int half, ptx::SharedAddress stage_at, int turn) {
#pragma unroll
    for (int i = 0; i < 2 * FM; ++i) {
      x[half][i].load(stage_at + column_a[i] + turn * forward_a);
      if constexpr (parts == 2) x[half][i].im = shape.conjugate ? -x[half][i].im : x[half][i].im;
    }
#pragma unroll
    for (int j = 0; j < FN; ++j) y[half][j].load(stage_at + column_b[j] + turn * forward_b);
  };
  const auto wait = [] {  // until the next stage is complete, and nobody reads this one any more
    ptx::cp_async_wait<stages - 2>();
    __syncthreads();
  };
  wait();
  ptx::SharedAddress at = begin, free = end - stage;  // this stage, and the one before it
  if (mine > 0) read(0, at, 0);
#pragma unroll 1
  for (int s = 0; s < mine; ++s) {
    const ptx::SharedAddress behind = at + stage == end ? begin : at + stage;
#pragma unroll 1
    for (int turn = 0; turn < shape.turns; turn += 2) {
      read(1, at, turn + 1);
      if (turn == 0) copy(free);
      generated::multiply_fragments<false, FM, FN>(x[0], y[0], sum);
      if (turn + 2 < shape.turns) {
        read(0, at, turn + 2);
      } else {
        wait();
        read(0, s + 1 < mine ? behind : at, 0);
      }
      generated::multiply_fragments<false, FM, FN>(x[1], y[1], sum);
    }
    free = at;
    at = behind;
  }

  ptx::let_launch_behind_begin();  // the one that adds up the blocks' sums
  // The upper slices give their sums to the lower ones.
  constexpr int sums = parts * FM * FN * 4;
  const int slice_threads = places * 32, its = static_cast<int>(threadIdx.x) - slice * slice_threads;
  double* const kept = reinterpret_cast<double*>(smem) + its;
  ptx::cp_async_wait<0>();
  __syncthreads();  // nobody reads or fills stages any more
#pragma unroll 1
  for (int active = slices; active > 1;) {
    const int giving = active / 2, distance = giving * slice_threads;
    active -= giving;
    if (slice >= active && slice < active + giving) {
#pragma unroll
      for (int i = 0; i < sums; ++i) kept[i * distance + (slice - active) * slice_threads] = sum[i / 4][i % 4];
    }
    __syncthreads();
    if (slice < giving) {
#pragma unroll
      for (int i = 0; i < sums; ++i) sum[i / 4][i % 4] += kept[i * distance + slice * slice_threads];
    }
    __syncthreads();  // before they are overwritten
  }
  if (slice > 0) return;
  T* const out = partial + static_cast<std::int64_t>(blockIdx.x) * (shape.m * shape.n);
#pragma unroll
  for (int i = 0; i < FM * FN * 4; ++i) {
    const int fragment = i / 4, of_m = first_m + fragment / FN * 16 + g + i % 4 / 2 * 8,
              of_n = first_n + fragment % FN * 8 + 2 * t + i % 2;
    if (of_m >= shape.m || of_n >= shape.n || (shape.gram && of_m > of_n)) continue;
    T element_of_c;
    if constexpr (parts == 2)
      element_of_c = make_double2(sum[fragment][i % 4], sum[FM * FN + fragment][i % 4]);
    else
      element_of_c = sum[fragment][i % 4];
    out[of_m * shape.n + of_n] = element_of_c;
    if (shape.gram && of_m < of_n) out[of_n * shape.n + of_m] = conjugate_if(shape.conjugate, element_of_c);
  }
}

// ---- the launch

template <class T>
struct TsmttsmKernel {
  int fm, fn;
  void (*kernel)(TsmttsmShape<T>, std::int64_t, T*);

  /// The tiles of C that are multiplied: of a Gram matrix those that reach its diagonal or above.
  template <class Each>
  void each_tile(int m, int n, bool gram, const Each& each) const {
    for (int i = 0; i < ceil_div(m, 16 * fm); ++i) {
      for (int j = gram ? i * 16 * fm / (8 * fn) : 0; j < ceil_div(n, 8 * fn); ++j) each(i, j);
    }
  }
  int tiles(int m, int n, bool gram) const {
    int count = 0;
    each_tile(m, n, gram, [&](int, int) { ++count; });
    return count;
  }
};

/// Bytes of a stage, of a block: of a complex product only one block has its registers on a multiprocessor.
template <class T>
constexpr int wanted_bytes = sizeof(T) == sizeof(double) ? 12 * 1024 : 24 * 1024;
constexpr int most_turns = 32;

template <class T>
TsmttsmShape<T> shape_of(const TsmttsmKernel<T>& kernel, const TsmttsmProblem<T>& p, const TallMatrix<T>& a,
                         const TallMatrix<T>& b) {
  const bool gram = a == b;
  const int row = (p.m + (gram ? 0 : p.n)) * static_cast<int>(sizeof(T)), most = device_limits().shared_bytes_per_block;
  const int places = kernel.tiles(p.m, p.n, gram);
  int slices = std::max(most_warps / places, 1);
  int turns = 2 * std::clamp((wanted_bytes<T> + 4 * row * slices) / (8 * row * slices), 1, most_turns / 2);
  constexpr int gaps = 8 * 128 + 32;  // between chunks, at most
  while (stages * (slices * turns * 4 * row + gaps) > most && slices * turns > 2) turns > 2 ? turns -= 2 : --slices;
  const int rows = slices * turns * 4, threads = places * slices * 32;
  TsmttsmShape<T> shape{.m = p.m,
                        .n = p.n,
                        .slices = slices,
                        .turns = turns,
                        .conjugate = p.conjugate,
                        .gram = gram,
                        .a = {a, rows, 32, threads},
                        .b = {b, rows, 32, threads}};
  kernel.each_tile(p.m, p.n, gram, [&](int i, int j) {
    shape.tile_m[shape.places] = static_cast<signed char>(i);
    shape.tile_n[shape.places++] = static_cast<signed char>(j);
  });
  shape.b_at = gram ? 0 : shape.a.layout.stage_bytes;
  shape.stage_bytes = shape.b_at + shape.b.layout.stage_bytes;
  return shape;
}

/// The kernel that computes the fewest elements behind C's edges; of equals the first.
template <class T>
const TsmttsmKernel<T>& kernel_for(std::span<const TsmttsmKernel<T>> kernels, int m, int n, bool gram) {
  const auto work = [&](const TsmttsmKernel<T>& kernel) {
    const int tiles = kernel.tiles(m, n, gram);
    return tiles > most_warps ? INT_MAX : tiles * kernel.fm * kernel.fn;
  };
  return *std::ranges::min_element(kernels, {}, work);
}

template <class T>
Status launch_ahead(std::span<const TsmttsmKernel<T>> kernels, const TsmttsmProblem<T>& p, const TallMatrix<T>& a,
                    const TallMatrix<T>& b, cudaStream_t stream) {
  const TsmttsmKernel<T>& kernel = kernel_for(kernels, p.m, p.n, a == b);
  const TsmttsmShape<T> shape = shape_of(kernel, p, a, b);
  const int threads = shape.places * shape.slices * 32, rows = shape.a.layout.rows;
  const int sums = shape.slices / 2 * shape.places * 32 * kernel.fm * kernel.fn * 4 * static_cast<int>(sizeof(T));
  const int shared = std::max(stages * shape.stage_bytes, sums);
  const int resident =
      std::min(blocks_that_fit(reinterpret_cast<const void*>(kernel.kernel), threads, shared), most_kept);
  const std::int64_t places = static_cast<std::int64_t>(device_limits().multiprocessors) * resident,
                     blocks = std::min((p.depth() + rows - 1) / rows, places);
  T* const partial = static_cast<T*>(p.workspace);
  const Status multiplied = gemm::launch(kernel.kernel,
                                         {.grid = static_cast<unsigned>(blocks),
                                          .block = static_cast<unsigned>(threads),
                                          .dynamic_shared = static_cast<unsigned>(shared),
                                          .stream = stream},
                                         shape, p.depth(), partial);
  if (!multiplied) return multiplied;
  return generated::launch_combine<T>(p, partial, static_cast<int>(blocks), stream);
}

}  // namespace gemm::ahead
