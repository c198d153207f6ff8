// TSMM through the same pipeline: rows of A come to shared memory stages ahead, C lies there all the time, and rows of
// B leave from registers. A row of A is one warp's alone, so each warp has stages of its own and waits for nobody.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/complex.cuh"
#include "tsm/generated/multiply.cuh"
#include "tsm/generated/places.cuh"
#include "tsm/generated/row_stores.cuh"
#include "tsm/generated/stream.cuh"
#include "tsm/generated/warp_rows.cuh"

extern __shared__ __align__(16) unsigned char smem[];

namespace gemm::generated {

/// A launch of it.
template <class T>
using TsmmPipeline = void(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* c, std::int64_t ldc, T beta,
                          T* b, std::int64_t ldb);

/// Whether rows of B leave from registers, 16 bytes at a time; or else through shared memory.
__host__ __device__ constexpr bool stored_directly(int n, int element_bytes, Rows how) {
  return element_bytes == 16 || (n % 2 == 0 && how != Rows::any);
}
/// Rows of each thread that go through shared memory together: a warp's are then a whole number of 16-byte pieces, if
/// there are as many, and no more than 4 KB if that is possible.
__host__ __device__ constexpr int rows_together(int n, int groups, int rows_of_thread) {
  int best = 0;
  for (int together = 1; together <= rows_of_thread; ++together) {
    if (rows_of_thread % together != 0) continue;
    const int words = together * groups * n;
    if (best == 0 || (best * groups * n % 2 != 0 && words % 2 == 0) || (words % 2 == 0 && words <= 512))
      best = together;
  }
  return best;
}

/// The rest: columns of B that are left over where along_n lanes have the same number of whole units each. It is dealt
/// out by rows and terms: lane l has row l % slots of its warp's, and l / slots says which one of each `parts` units of
/// A. So neighbours read one column of A, which takes no bank twice, and the sums of `parts` lanes are added up.
struct RestLayout {
  int columns, slots, parts;  ///< slots: rows of a warp, and as many more as make a power of two
  int share;                  ///< columns whose FMAs stand beside one unit's
  int bytes;                  ///< of C's rest for a unit of A: columns one behind the other, each with all its terms
};
__host__ __device__ constexpr int share_of_rest(int columns, int units) {
  return units < 2 || ceil_div(columns, units) > 2 ? ceil_div(columns, units) : 2;
}
__host__ __device__ constexpr RestLayout rest_layout(int columns, int rows, int unit, int element_bytes) {
  if (columns == 0) return {0, 32, 1, 0, 0};
  int slots = 1;
  while (slots < rows) slots *= 2;
  const int parts = 32 / slots;
  return {columns, slots, parts, share_of_rest(columns, parts), ceil_div(columns * unit * element_bytes, 16) * 16};
}

/// Of a chunk's units the u-th one, for the rest: the first of those that go with it, a lane having one of them; how
/// many these are; and the columns from `column` to `end`, whose FMAs stand beside this unit's.
struct RestStep {
  int first, units, column, end;

  __host__ __device__ constexpr RestStep(int u, int of_chunk, int parts, int columns) {
    const int fewer = of_chunk % parts;
    first = u < fewer ? 0 : u - (u - fewer) % parts;
    units = u < fewer ? fewer : parts;
    const int share = share_of_rest(columns, units);
    column = smaller((u - first) * share, columns);
    end = smaller(column + share, columns);
  }
};

/// Bytes of a row of C in shared memory, with zeros behind its columns. For three products the sums of real and
/// imaginary parts lie behind the units, those of a lane's units j and j + 1 side by side (j even): they are the same
/// for all rows of A, and a load of two costs less than two additions.
__host__ __device__ constexpr int bytes_of_c_row(int along_n, int units, int products) {
  return along_n * (units + (products == 3 ? ceil_div(units, 2) : 0)) * 16;
}

/// Stores 16 bytes.
__device__ inline void store_unit(double* to, const double* from) {
  *reinterpret_cast<double2*>(to) = make_double2(from[0], from[1]);
}
__device__ inline void store_unit(double2* to, const double2* from) {
  *to = *from;
}

__device__ inline double of_lane_xor(double x, int lanes) {
  return __shfl_xor_sync(0xffffffff, x, lanes);
}
__device__ inline double2 of_lane_xor(double2 x, int lanes) {
  return make_double2(of_lane_xor(x.x, lanes), of_lane_xor(x.y, lanes));
}

/// B = alpha * A * C + beta * B. A warp has rows of B for PR rows of each of its threads at a time, and takes its turn
/// with all other warps. along_n lanes have a row between them, each of them every so-manieth unit, PN at most, and
/// every so-manieth row. products: of real numbers for one of T. chunk: units of a row of A in a stage.
/// rows_a, rows_b: how A and B lie in memory. has_rest: these lanes have the same number of whole units, and what is
/// left over is the rest.
template <class T, int M, int N, int PR, int along_n, int products, Rows rows_a, Rows rows_b, int threads, int chunk,
          int stages, int resident, bool has_rest = false>
__global__ void __launch_bounds__(threads, resident)
    tsmm_pipeline(std::int64_t k, T alpha, const T* __restrict__ a, std::int64_t lda, const T* __restrict__ c,
                  std::int64_t ldc, T beta, T* __restrict__ b, std::int64_t ldb) {
  constexpr int element = sizeof(T), unit_n = 16 / element, units_n = ceil_div(N, unit_n),
                PN = has_rest ? N / unit_n / along_n : ceil_div(units_n, along_n), TN = PN * unit_n,
                row_c = bytes_of_c_row(along_n, PN, products);
  constexpr Places places = places_of_warp(along_n);
  constexpr int groups = places.along_m, rows = groups * PR, warps = threads / 32;
  constexpr StageLayout A = stage_layout(M, element, rows_a, rows, chunk);
  constexpr RestLayout rest = rest_layout(has_rest ? N - along_n * TN : 0, rows, A.unit, element);
  static_assert(!has_rest || (PN >= 1 && rest.columns >= 1 && rest.parts >= 1));
  constexpr int unit = A.unit, fmas = M * PR * TN * products;
  constexpr bool direct = stored_directly(N, element, rows_b);
  constexpr int together = direct ? 1 : rows_together(N, groups, PR), kept_words = together * groups * N;
  constexpr int kept_bytes = direct ? 0 : ceil_div(kept_words, 2) * 16;
  static_assert(along_n <= 32 && along_n <= units_n && (A.chunks == 1 || A.chunk % 2 == 0));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Lanes that are left over do what others do, but for storing: that costs nothing, a branch would.
  const bool stores = places.count == 32 || lane < places.count;
  const int place = smaller(lane, places.count - 1), group = places.row(place), at_n = places.col(place);
  const ptx::SharedAddress shared = ptx::kept_shared_address(smem), y_begin = shared + at_n * 16,
                           rest_begin = shared + M * row_c,
                           mine_begin = rest_begin + A.units * rest.bytes + warp * (stages * A.bytes + kept_bytes);

  // alpha C
  for (int i = threadIdx.x; i < M * along_n * TN; i += threads) {
    const int row = i / (along_n * TN), col = i % (along_n * TN);
    const T word = col < N ? multiply_add(alpha, c[row * ldc + col], T{}) : T{};
    if constexpr (products == 3) {
      unsigned char* const to = smem + row * row_c;
      const int j = col / along_n, at = col % along_n;
      reinterpret_cast<T*>(to)[col] = word;
      reinterpret_cast<double*>(to + along_n * PN * 16)[(j / 2 * along_n + at) * 2 + j % 2] = word.x + word.y;
    } else {
      reinterpret_cast<T*>(smem)[i] = word;
    }
  }
  if constexpr (has_rest) {
    for (int i = threadIdx.x; i < M * rest.columns; i += threads) {
      const int row = i / rest.columns, col = i % rest.columns;
      reinterpret_cast<T*>(smem + M * row_c + row / unit * rest.bytes)[col * unit + row % unit] =
          multiply_add(alpha, c[row * ldc + along_n * TN + col], T{});
    }
  }
  __syncthreads();

  // Rows go round robin to all warps, one of each block first: where some are left over, all SMs have their
  // share. All rows exist but of the last turn.
  const int first = (warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)) * rows,
            step = static_cast<int>(gridDim.x) * (warps * rows);
  if (first >= k) return;
  const int mine = static_cast<int>((k - first - 1) / step) + 1,
            whole = first + rows <= k ? static_cast<int>((k - first - rows) / step) + 1 : 0;
  WarpCopies<T, M, rows_a, rows, chunk> copies(a, lda, first, step, lane);
  int next = 0, next_chunk = 0;  // to be copied
  const auto copy = [&](ptx::SharedAddress to) {
    const bool last = A.chunks == 1 || next_chunk == A.chunks - 1;
    if (next < whole) [[likely]]
      copies.start(to, last);
    else if (next <= mine)  // zeros behind the last one: they are read before a warp sees that it is done
      copies.start_part(to, last,
                        next < mine ? static_cast<int>(k - first - static_cast<std::int64_t>(next) * step) : 0, a);
    ptx::cp_async_commit();
    copies.next(last);
    next += last;
    next_chunk = last ? 0 : next_chunk + 1;
  };
#pragma unroll 1
  for (int s = 0; s < stages; ++s) copy(mine_begin + s * A.bytes);

  // While a column of x and a row of y are multiplied, the next ones are in flight to the other halves, also where
  // these belong to another stage.
  alignas(16) T x[2][PR][unit], y[2][TN];
  alignas(16) double y_both[2][TN];  // of three products
  Tile<T, PR, TN, false, products> tile;
  const int x_offset = group * A.stride;
  ptx::SharedAddress x_at = mine_begin + x_offset;
  const ptx::SharedAddress x_end = x_at + stages * A.bytes;
  const auto read_x = [&](int half, int u) {
#pragma unroll
    for (int r = 0; r < PR; ++r)
      load_unit<unit>(&x[half][r][0], x_at + (r * (groups * A.stride) + u * (unit * element)));
  };
  const auto read_y = [&](int half, ptx::SharedAddress at) {
#pragma unroll
    for (int j = 0; j < PN; ++j) load_unit<unit_n>(&y[half][j * unit_n], at + j * (along_n * 16));
  };
  const auto read_both = [&](int half, ptx::SharedAddress at) {
    if constexpr (products == 3) {
#pragma unroll
      for (int j = 0; j < PN; j += 2) {
        const ptx::SharedAddress its = at + (PN + j / 2) * (along_n * 16);
        if (j + 1 < PN)
          load_unit<2>(&y_both[half][j], its);
        else
          load_unit<1>(&y_both[half][j], its);
      }
    }
  };
  // The rest. Of complex numbers four products: three would take more loads than they save FMAs. Of each `parts` units
  // of a chunk, and first of those that are left over, a lane has one; a share of its columns stands beside each unit's
  // FMAs. What is loaded ahead of these is wanted behind them, so one set of it is enough. Of three products it is
  // loaded behind most FMAs, when registers are free.
  constexpr int rest_columns = has_rest ? rest.columns : 1;
  const int rest_row = lane % rest.slots, rest_part = lane / rest.slots,
            rest_offset = smaller(rest_row, rows - 1) * A.stride + rest_part * (unit * element) - x_offset;
  const ptx::SharedAddress rest_y_begin = rest_begin + rest_part * rest.bytes;
  alignas(16) T rest_x[unit], rest_y[rest_columns * unit];
  T rest_sum[rest_columns][1][1];
  const auto begin = [&](double zero) {
    tile.begin(zero);
#pragma unroll
    for (int col = 0; col < rest.columns; ++col) set(rest_sum[col][0][0], zero);
  };
  constexpr bool rest_late = products == 3 && rest.parts > 1;
  const auto rest_step = [&](int u, int units) { return RestStep(u, units, rest.parts, rest.columns); };
  const auto read_rest = [&](int u, int units, ptx::SharedAddress x_first, ptx::SharedAddress y_first) {
    const RestStep its = rest_step(u, units);
    if (its.units < rest.parts && rest_part >= its.units) return;
    if (u == its.first) load_unit<unit>(rest_x, x_first + u * (unit * element));
    constexpr int together = 16 / element;
    const int begin = its.column * unit, end = its.end * unit;
#pragma unroll
    for (int i = begin; i < end; ++i) {
      const ptx::SharedAddress from = y_first + (its.first * rest.bytes + i * element);
      if (i % together == 0 && i + together <= end)
        load_unit<together>(&rest_y[i], from);
      else if (i % together == 0 || i == begin)
        load_unit<1>(&rest_y[i], from);
    }
  };
  const auto multiply_rest = [&](int u, int units) {
    const RestStep its = rest_step(u, units);
    if (its.units < rest.parts && rest_part >= its.units) return;
#pragma unroll
    for (int col = its.column; col < its.end; ++col) {
#pragma unroll
      for (int v = 0; v < unit; ++v) {
        const T x_one[1] = {rest_x[v]}, y_one[1] = {rest_y[col * unit + v]};
        multiply_tile<false>(x_one, y_one, rest_sum[col]);
      }
    }
  };
  // The FMAs of a chunk of so many units; y_at, y_next: this one's and the next one's first row of C; its rest.
  const auto multiply_chunk = [&](int units, ptx::SharedAddress y_at, ptx::SharedAddress y_next,
                                  ptx::SharedAddress rest_y_at) {
    const ptx::SharedAddress rest_x_at = x_at + rest_offset;
#pragma unroll
    for (int u = 0; u < units; ++u) {
      const bool last = u == units - 1;
      const bool rest_later = rest_late && units > 1;  // or else this stage is filled again before
      if constexpr (has_rest) {
        if (!rest_later) read_rest(u, units, rest_x_at, rest_y_at);
      }
      if (!last) {
        read_x((u + 1) % 2, u + 1);
      } else {
        ptx::cp_async_wait<stages - 2>();
        __syncwarp();  // the next stage is complete, and nobody reads this one any more
        const ptx::SharedAddress free = x_at - x_offset;
        x_at = x_at + A.bytes == x_end ? x_end - stages * A.bytes : x_at + A.bytes;
        read_x((u + 1) % 2, 0);  // also after the last one: a condition would take moves between registers
        copy(free);
      }
#pragma unroll
      for (int v = 0; v < unit; ++v) {
        const int row = u * unit + v;
        read_y((row + 1) % 2, last && v == unit - 1 ? y_next : y_at + (row + 1) * row_c);
        if constexpr (has_rest)
          read_both(0, y_at + row * row_c);
        else
          read_both((row + 1) % 2, last && v == unit - 1 ? y_next : y_at + (row + 1) * row_c);
        T column[PR];
#pragma unroll
        for (int r = 0; r < PR; ++r) column[r] = x[u % 2][r][v];
        if constexpr (products == 3 && has_rest)
          tile.template add<true>(
              column, y[row % 2], [&](int j) { return y_both[has_rest ? 0 : row % 2][j]; },
              [&] {
                if (rest_later) read_rest(u, units, rest_x_at, rest_y_at);
              });
        else if constexpr (products == 3)
          tile.add(column, y[row % 2], [&](int j) { return y_both[has_rest ? 0 : row % 2][j]; });
        else
          tile.add(column, y[row % 2]);
      }
      if constexpr (has_rest) multiply_rest(u, units);
    }
    if (units % 2 != 0) {
#pragma unroll
      for (int r = 0; r < PR; ++r) {
#pragma unroll
        for (int v = 0; v < unit; ++v) x[0][r][v] = x[1][r][v];
      }
    }
    if (units * unit % 2 != 0) {
#pragma unroll
      for (int j = 0; j < TN; ++j) y[0][j] = y[1][j];
      if constexpr (products == 3 && !has_rest) {
#pragma unroll
        for (int j = 0; j < TN; ++j) y_both[0][j] = y_both[1][j];
      }
    }
  };

  const bool adds = !is_zero(beta);
  const bool has_last = stores && (has_rest || at_n + (PN - 1) * along_n < units_n);
  const std::int64_t ld = rows_b == Rows::flat ? N : ldb;
  // This thread's first unit of its first row; or its lane's first 16 bytes, if all its warp's rows are one range.
  T* out = b + first * ld + (direct ? group * ld + at_n * unit_n : rows_b == Rows::flat ? lane * unit_n : 0);
  // From there to a lane's words of the rest, if it has a row.
  const auto rest_to = [&](std::int64_t ld) { return (rest_row - group) * ld + (along_n * TN - at_n * unit_n); };
  const auto store = [&](int turn) {
    T sum[PR][TN];
    tile.get(sum);
    if constexpr (has_rest) {
#pragma unroll
      for (int col = 0; col < rest.columns; ++col) {
        T& its = rest_sum[col][0][0];
#pragma unroll
        for (int lanes = rest.slots; lanes < 32; lanes *= 2) its = add(its, of_lane_xor(its, lanes));
      }
    }
    if constexpr (direct) {
      if (turn < whole && !adds) [[likely]] {
#pragma unroll
        for (int r = 0; r < PR; ++r) {
          T* const to = out + r * groups * ld;
#pragma unroll
          for (int j = 0; j < PN; ++j) {
            if (j < PN - 1 ? stores : has_last) store_unit(to + j * along_n * unit_n, &sum[r][j * unit_n]);
          }
        }
        if constexpr (has_rest) {
          T* const to = out + rest_to(ld);
#pragma unroll
          for (int col = 0; col < rest.columns; col += unit_n) {
            if (lane < rows) store_unit(to + col, &rest_sum[col][0][0]);
          }
        }
      } else {
#pragma unroll
        for (int r = 0; r < PR; ++r) {
          T* const to = out + r * groups * ld;
          const bool exists = first + static_cast<std::int64_t>(turn) * step + r * groups + group < k;
#pragma unroll
          for (int j = 0; j < PN; ++j) {
            // No break: nvcc would not write the loop out, and have the sums in memory.
            if (exists && (j < PN - 1 ? stores : has_last)) {
#pragma unroll
              for (int v = 0; v < unit_n; ++v) {
                T& result = sum[r][j * unit_n + v];
                if (adds) result = multiply_add(beta, to[j * along_n * unit_n + v], result);
              }
              store_unit(to + j * along_n * unit_n, &sum[r][j * unit_n]);
            }
          }
        }
        if constexpr (has_rest) {
          T* const to = out + rest_to(ld);
          const bool exists = lane < rows && first + static_cast<std::int64_t>(turn) * step + lane < k;
#pragma unroll
          for (int col = 0; col < rest.columns; col += unit_n) {
            if (exists) {
#pragma unroll
              for (int v = 0; v < unit_n; ++v) {
                T& result = rest_sum[col + v][0][0];
                if (adds) result = multiply_add(beta, to[col + v], result);
              }
              store_unit(to + col, &rest_sum[col][0][0]);
            }
          }
        }
      }
    } else {
      // Lanes side by side store words side by side.
      const ptx::SharedAddress kept = mine_begin + stages * A.bytes, to = kept + (group * N + at_n * unit_n) * element;
      const bool has_last_word = has_last && (at_n + (PN - 1) * along_n) * unit_n + unit_n <= N;
#pragma unroll
      for (int begin = 0; begin < PR; begin += together) {
        __syncwarp();  // nobody reads what was there before any more
#pragma unroll
        for (int r = 0; r < together; ++r) {
#pragma unroll
          for (int j = 0; j < TN; ++j) {
            const bool has = j < TN - unit_n ? stores : j < TN - 1 ? has_last : has_last_word;
            if (has)
              ptx::store_shared(to + (r * groups * N + j / unit_n * along_n * unit_n + j % unit_n) * element,
                                sum[begin + r][j]);
          }
        }
        if constexpr (has_rest) {
          const int row = lane - begin * groups;
          if (lane < rows && row >= 0 && row < together * groups) {
#pragma unroll
            for (int col = 0; col < rest.columns; ++col)
              ptx::store_shared(kept + (row * N + along_n * TN + col) * element, rest_sum[col][0][0]);
          }
        }
        __syncwarp();
        if (rows_b == Rows::flat && kept_words % 2 == 0 && turn < whole && !adds) [[likely]] {
          constexpr int pieces = kept_words / 2, count = ceil_div(pieces, 32);
          T piece[count][2];
#pragma unroll
          for (int i = 0; i < count; ++i) {
            if (i < pieces / 32 || lane + i * 32 < pieces) load_unit<2>(piece[i], kept + lane * 16 + i * 32 * 16);
          }
#pragma unroll
          for (int i = 0; i < count; ++i) {
            if (i < pieces / 32 || lane + i * 32 < pieces) store_unit(out + begin * groups * N + i * 64, piece[i]);
          }
        } else {
          const std::int64_t row = first + static_cast<std::int64_t>(turn) * step + begin * groups;  // the first one
          constexpr int all = together * groups;
          store_rows<T, N, all>(b + row * ld, ld, k - row < all ? static_cast<int>(k - row) : all, lane, beta, adds,
                                [&](int its) { return kept + its * (N * element); });
        }
      }
    }
    out += step * ld;
  };

  ptx::cp_async_wait<stages - 1>();
  __syncwarp();
  read_x(0, 0);
  read_y(0, y_begin);
  if constexpr (!has_rest) read_both(0, y_begin);
#pragma unroll 1
  for (int turn = 0; turn < mine; ++turn) {
    if constexpr (rows_b != Rows::flat) {
      const std::int64_t its = first + static_cast<std::int64_t>(turn) * step;
      for (int row = lane; ld > N && row < rows && its + row < k; row += 32)
        prefetch_ends<T, N>(b + (its + row) * ld, ld, row > 0);
    }
    constexpr int chunk_c = A.chunk * unit * row_c, rest_chunk = A.chunk * rest.bytes;  // bytes of C
    if constexpr (A.chunks == 1 || fmas <= 2048) {
      begin(-0.0);
#pragma unroll
      for (int part = 0; part < A.chunks; ++part) {
        const bool last = part == A.chunks - 1;
        multiply_chunk(last ? A.last : A.chunk, y_begin + part * chunk_c,
                       last ? y_begin : y_begin + (part + 1) * chunk_c, rest_y_begin + part * rest_chunk);
      }
    } else {
      begin(0.0);
      constexpr int full = A.last == A.chunk ? A.chunks : A.chunks - 1;
      ptx::SharedAddress y_at = y_begin, rest_y_at = rest_y_begin;
#pragma unroll 1
      for (int part = 0; part < full; ++part) {
        const ptx::SharedAddress y_next = full == A.chunks && part == full - 1 ? y_begin : y_at + chunk_c;
        multiply_chunk(A.chunk, y_at, y_next, rest_y_at);
        y_at = y_next;
        rest_y_at += rest_chunk;
      }
      if constexpr (full < A.chunks)
        multiply_chunk(A.last, y_begin + full * chunk_c, y_begin, rest_y_begin + full * rest_chunk);
    }
    store(turn);
  }
}

}  // namespace gemm::generated
