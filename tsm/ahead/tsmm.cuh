// TSMM for any M and N up to 64, compiled ahead of time: as stage 13c's kernel (tsm/13c_tsmm_tensor_cores.cu), but only the
// number of fragments across N is a constant. Rows of B leave through shared memory, where rows of A have been.
#pragma once

#include <algorithm>
#include <span>

#include "tsm/ahead/ahead.hpp"
#include "tsm/ahead/rows.cuh"
#include "tsm/generated/scale_rows.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::ahead {

constexpr int most_stages = 8;

/// How a warp works. Its rows of B leave by 16 bytes, if that is how they lie; where they have no padding, as one range.
template <class T>
struct TsmmShape {
  int m, n, steps, stages, stage_bytes, c_bytes;
  bool flat_b, by_16_bytes;
  int pieces;  ///< of 16 bytes, of a row of B
  Divisor by_pieces, by_n;
  TallRows<T> a;
};

/// What registers allow: the sums of a thread are 8 PR FN of them, of complex numbers twice as many.
constexpr int most_threads(int pr, int fn, int parts) {
  return pr * fn * parts <= 4 ? 256 : 128;
}
constexpr int least_blocks(int pr, int fn, int parts) {
  const int sums = pr * fn * parts;
  return sums <= 4 || sums > 6 ? 2 : 3;
}

/// B = alpha * A * C + beta * B. A warp has 16 PR rows of B at a time, all n <= 8 FN columns of them.
template <class T, int FN, int PR>
__global__ void __launch_bounds__(most_threads(PR, FN, generated::parts_of<T>),
                                  least_blocks(PR, FN, generated::parts_of<T>))
    tsmm(const __grid_constant__ TsmmShape<T> shape, std::int64_t k, T alpha, const T* __restrict__ c, std::int64_t ldc,
         T beta, T* __restrict__ b, std::int64_t ldb) {
  constexpr int element = sizeof(T), parts = generated::parts_of<T>, rows = 16 * PR;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, warps = blockDim.x / 32;
  const int steps = shape.steps, stage = shape.stage_bytes, n = shape.n;
  // Which columns of C are 2t and 2t + 1 of a fragment is free: t and t + 4, so that lanes side by side have results so.
  const auto column = [](int j, int its) { return j * 8 + its / 2 + its % 2 * 4; };

  // alpha C, and zeros behind it
  for (int i = threadIdx.x; i < steps * FN * 32; i += blockDim.x) {
    const int row = i / (FN * 32) * 4 + i % 4, col = column(i / 32 % FN, i % 32 / 4);
    reinterpret_cast<T*>(smem)[i] = row < shape.m && col < n ? multiply_add(alpha, c[row * ldc + col], T{}) : T{};
  }
  __syncthreads();

  // Rows go round robin to all warps, one of each block first. All rows exist but of the last turn.
  const std::int64_t first = (warp * static_cast<std::int64_t>(gridDim.x) + blockIdx.x) * rows,
                     step = static_cast<std::int64_t>(gridDim.x) * (warps * rows);
  if (first >= k) return;
  const int mine = static_cast<int>((k - first - 1) / step) + 1;
  const ptx::SharedAddress shared = ptx::kept_shared_address(smem),
                           begin = shared + shape.c_bytes + warp * (shape.stages * stage),
                           end = begin + shape.stages * stage;
  int next = 0;  // stage to be copied
  const auto existing_of = [&](int turn) {
    const std::int64_t left = k - first - turn * step;
    return left < rows ? static_cast<int>(left) : rows;
  };
  const auto copy = [&](ptx::SharedAddress to) {
    if (next < mine) {
      shape.a.copy(to, first + next * step, existing_of(next), lane, 32);
      ++next;
    }
    ptx::cp_async_commit();
  };
#pragma unroll 1
  for (int s = 0; s < shape.stages; ++s) copy(begin + s * stage);

  // Row g of 8: row g / 4 of chunk g % 4.
  const int x_at = g % 4 * shape.a.layout.chunk_stride + g / 4 * shape.a.layout.row_bytes + t * element;
  const ptx::SharedAddress y_at = shared + lane * element;
  const bool has_last = shape.m % 4 == 0 || t < shape.m % 4;  // of the last four columns of A
  const bool adds = !is_zero(beta);
  ptx::SharedAddress at = begin;
#pragma unroll 1
  for (int turn = 0; turn < mine; ++turn) {
    wait_for_all_but(shape.stages - 1);
    __syncwarp();
    generated::Operand<T> x[2][2 * PR] = {}, y[2][FN] = {};  // or g++ takes the second halves for uninitialised
    double sum[parts * PR * FN][4] = {};
    const auto read = [&](int half, int s) {
      // Zeros behind the last column: what lies there may be infinite.
      const bool exists = s < steps - 1 || has_last;
#pragma unroll
      for (int i = 0; i < 2 * PR; ++i) {
        if (exists)
          x[half][i].load(at + x_at + i * (2 * shape.a.layout.row_bytes) + s * (4 * element));
        else
          x[half][i] = {};
      }
#pragma unroll
      for (int j = 0; j < FN; ++j) y[half][j].load(y_at + (s * FN + j) * (32 * element));
    };
    read(0, 0);
#pragma unroll 1
    for (int s = 0; s < steps; s += 2) {
      if (s + 1 < steps) read(1, s + 1);
      generated::multiply_fragments<false, PR, FN>(x[0], y[0], sum);
      if (s + 1 == steps) break;
      if (s + 2 < steps) read(0, s + 2);
      generated::multiply_fragments<false, PR, FN>(x[1], y[1], sum);
    }
    __syncwarp();  // nobody reads this stage any more

    // Through where A's rows were, and from there lanes side by side store words side by side.
#pragma unroll
    for (int i = 0; i < PR; ++i) {
#pragma unroll
      for (int j = 0; j < FN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          // Of the fragment's element e in the i-th 16 rows: its row among the warp's, and its column.
          const int row = g % 4 * (rows / 4) + i * 4 + e / 2 * 2 + g / 4, col = column(j, 2 * t + e % 2);
          const ptx::SharedAddress to = at + (row * n + col) * element;
          if (col >= n) continue;
          if constexpr (parts == 2)
            ptx::store_shared(to, make_double2(sum[i * FN + j][e], sum[PR * FN + i * FN + j][e]));
          else
            ptx::store_shared(to, sum[i * FN + j][e]);
        }
      }
    }
    __syncwarp();
    const int existing = existing_of(turn);
    T* const out = b + (first + turn * step) * ldb;
    if (shape.by_16_bytes && !adds) {
      const int all = existing * n * element / 16;
#pragma unroll 4
      for (int i = lane; i < all; i += 32) {
        double2 piece;
        ptx::load_shared(piece.x, piece.y, at + i * 16);
        const int row = shape.flat_b ? 0 : shape.by_pieces.divide(i);
        reinterpret_cast<double2*>(out + row * ldb)[i - row * shape.pieces] = piece;
      }
      if (parts == 1 && lane == 0 && existing * n % 2 != 0)  // an odd row of an odd width, the last of all
        generated::load_unit<1>(&out[existing * n - 1], at + (existing * n - 1) * element);
    } else {
      const int all = existing * n;
#pragma unroll 4
      for (int i = lane; i < all; i += 32) {
        T result;
        generated::load_unit<1>(&result, at + i * element);
        const int row = shape.by_n.divide(i);
        T* const to = out + row * ldb + (i - row * n);
        if (adds) result = multiply_add(beta, *to, result);
        *to = result;
      }
    }
    __syncwarp();  // before rows of A come here
    copy(at);
    at = at + stage == end ? begin : at + stage;
  }
}

// ---- the launch

template <class T>
struct TsmmKernel {
  int fn, pr;
  void (*kernel)(TsmmShape<T>, std::int64_t, T, const T*, std::int64_t, T, T*, std::int64_t);
};

/// As many warps of a multiprocessor as its shared memory lets wait for rows of A, in two blocks if these hold enough.
template <class T>
TsmmShape<T> shape_of(const TsmmKernel<T>& kernel, const TsmmProblem<T>& p, const TallMatrix<T>& matrix, int& threads) {
  constexpr int element = sizeof(T), wanted = 32 * 1024;          // bytes in flight
  const int all = device_limits().shared_bytes_per_block + 1024;  // of a multiprocessor; a block takes 1 KB for itself
  const int rows = 16 * kernel.pr, row_b = p.n * element;
  const TallRows<T> a(matrix, rows, 4 * element, 32);
  const int steps = ceil_div(p.m, 4), c_bytes = steps * kernel.fn * 32 * element,
            stage = ceil_div(std::max(a.layout.stage_bytes, rows * row_b), 128) * 128;
  const auto fits = [&](int warps, int number, int blocks) {
    return c_bytes + warps * number * stage <= all / blocks - 1024;
  };
  int warps = fits(4, 2, 1) ? 4 : fits(2, 2, 1) ? 2 : 1, blocks = 1;
  for (const int each : {8, 4}) {
    if (each * 32 > most_threads(kernel.pr, kernel.fn, generated::parts_of<T>) || !fits(each, 2, 2)) continue;
    warps = each;
    blocks = 2;
    break;
  }
  int stages = 2;
  for (const int more : {3, 4, 6, 8}) {
    if (blocks * warps * (stages - 1) * stage < wanted && fits(warps, more, blocks)) stages = more;
  }
  threads = warps * 32;
  const Rows rows_b = generated::rows_of(p.b, p.ldb, p.n);
  const bool flat = rows_b == Rows::flat;
  return {p.m,
          p.n,
          steps,
          stages,
          stage,
          c_bytes,
          flat,
          flat || (rows_b == Rows::wide && row_b % 16 == 0),
          std::max(row_b / 16, 1),
          Divisor(std::max(row_b / 16, 1)),
          Divisor(p.n),
          a};
}

template <class T>
Status launch_ahead(std::span<const TsmmKernel<T>> kernels, const TsmmProblem<T>& p, const TallMatrix<T>& a,
                    cudaStream_t stream) {
  if (p.depth() == 0) return generated::launch_scale_rows(p, stream);
  const TsmmKernel<T>& kernel = *std::ranges::find_if(kernels, [&](const auto& each) { return 8 * each.fn >= p.n; });
  int threads = 0;
  const TsmmShape<T> shape = shape_of(kernel, p, a, threads);
  const int shared = shape.c_bytes + threads / 32 * shape.stages * shape.stage_bytes;
  const std::int64_t places = static_cast<std::int64_t>(device_limits().multiprocessors) *
                              blocks_that_fit(reinterpret_cast<const void*>(kernel.kernel), threads, shared),
                     blocks = std::min((p.k + shape.a.layout.rows - 1) / shape.a.layout.rows, places);
  return gemm::launch(kernel.kernel,
                      {.grid = static_cast<unsigned>(blocks),
                       .block = static_cast<unsigned>(threads),
                       .dynamic_shared = static_cast<unsigned>(shared),
                       .stream = stream},
                      shape, p.k, p.alpha, p.c, p.ldc, p.beta, p.b, p.ldb);
}

}  // namespace gemm::ahead
