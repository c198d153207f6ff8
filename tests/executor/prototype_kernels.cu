#include <cstdint>

#include "common/kernel/launch.cuh"
#include "tests/executor/prototype_kernels.hpp"

namespace gemm {
namespace {

constexpr int TILE = 32;

// All matrices are dense but for their leading dimensions; sizes are multiples of every tile, so nothing is guarded.
struct Operands {
  const float* a;
  const float* b;
  float* c;
  int lda, ldb, ldc;
  int k;
  float alpha, beta;
};

// x, which differs within a warp, goes down a column (uncoalesced) or along a row.
template <bool coalesced>
__global__ void __launch_bounds__(TILE* TILE) naive(Operands p) {
  const int row = blockIdx.y * TILE + (coalesced ? threadIdx.y : threadIdx.x);
  const int col = blockIdx.x * TILE + (coalesced ? threadIdx.x : threadIdx.y);
  float sum = 0.0f;
  for (int i = 0; i < p.k; ++i) sum += p.a[row * p.lda + i] * p.b[i * p.ldb + col];
  float* const out = p.c + row * p.ldc + col;
  *out = p.alpha * sum + p.beta * *out;
}

__global__ void __launch_bounds__(TILE* TILE) shared_tile(Operands p) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < p.k; k0 += TILE) {
    as[ty][tx] = p.a[row * p.lda + k0 + tx];
    bs[ty][tx] = p.b[(k0 + ty) * p.ldb + col];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  float* const out = p.c + row * p.ldc + col;
  *out = p.alpha * sum + p.beta * *out;
}

// A's tile as as[k][row]: the lanes of a warp store down a column of it, `width` words apart. With width 32 that is 32
// times the same bank, with 33 each bank once.
template <int width>
__global__ void __launch_bounds__(TILE* TILE) shared_tile_transposed(Operands p) {
  __shared__ float as[TILE][width], bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < p.k; k0 += TILE) {
    as[tx][ty] = p.a[row * p.lda + k0 + tx];
    bs[ty][tx] = p.b[(k0 + ty) * p.ldb + col];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[i][ty] * bs[i][tx];
    __syncthreads();
  }
  float* const out = p.c + row * p.ldc + col;
  *out = p.alpha * sum + p.beta * *out;
}

// Each thread fetches one float4 of A and one of B a tile: 256 threads, 128 x 8 and 8 x 128 elements.
__global__ void __launch_bounds__(256) block_128_float4(Operands p) {
  constexpr int block = 128, depth = 8, own = 8;  // rows and columns of C per block; steps of k; own x own per thread
  __shared__ __align__(16) float as[depth][block], bs[depth][block];
  const int t = threadIdx.x;
  const int row0 = blockIdx.y * block, col0 = blockIdx.x * block;
  const int a_row = t / 2, a_k = t % 2 * 4;
  const int b_k = t / 32, b_col = t % 32 * 4;
  const int tx = t % 16 * own, ty = t / 16 * own;

  float sum[own][own] = {};
  for (int k0 = 0; k0 < p.k; k0 += depth) {
    const float4 a = *reinterpret_cast<const float4*>(p.a + (row0 + a_row) * p.lda + k0 + a_k);
    as[a_k + 0][a_row] = a.x;
    as[a_k + 1][a_row] = a.y;
    as[a_k + 2][a_row] = a.z;
    as[a_k + 3][a_row] = a.w;
    *reinterpret_cast<float4*>(&bs[b_k][b_col]) =
        *reinterpret_cast<const float4*>(p.b + (k0 + b_k) * p.ldb + col0 + b_col);
    __syncthreads();
    for (int i = 0; i < depth; ++i) {
      const float4 a0 = *reinterpret_cast<const float4*>(&as[i][ty]);
      const float4 a1 = *reinterpret_cast<const float4*>(&as[i][ty + 4]);
      const float4 b0 = *reinterpret_cast<const float4*>(&bs[i][tx]);
      const float4 b1 = *reinterpret_cast<const float4*>(&bs[i][tx + 4]);
      const float a_own[own] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b_own[own] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int r = 0; r < own; ++r) {
#pragma unroll
        for (int s = 0; s < own; ++s) sum[r][s] += a_own[r] * b_own[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < own; ++r) {
#pragma unroll
    for (int s = 0; s < own; s += 4) {
      float4* const out = reinterpret_cast<float4*>(p.c + (row0 + ty + r) * p.ldc + col0 + tx + s);
      float4 c = *out;
      c.x = p.alpha * sum[r][s + 0] + p.beta * c.x;
      c.y = p.alpha * sum[r][s + 1] + p.beta * c.y;
      c.z = p.alpha * sum[r][s + 2] + p.beta * c.z;
      c.w = p.alpha * sum[r][s + 3] + p.beta * c.w;
      *out = c;
    }
  }
}

// Tiles as they come: as[row][k]. Threads of a warp hold four bands of eight rows, 64 words apart: conflicts of the
// loads.
__global__ void __launch_bounds__(64) block_64_scalar(Operands p) {
  constexpr int block = 64, depth = 8, own = 8, threads = 64;
  __shared__ float as[block][depth], bs[depth][block];
  const int t = threadIdx.x;
  const int row0 = blockIdx.y * block, col0 = blockIdx.x * block;
  const int tx = t % 8 * own, ty = t / 8 * own;

  float sum[own][own] = {};
  for (int k0 = 0; k0 < p.k; k0 += depth) {
    for (int i = t; i < block * depth; i += threads) {
      as[i / depth][i % depth] = p.a[(row0 + i / depth) * p.lda + k0 + i % depth];
      bs[i / block][i % block] = p.b[(k0 + i / block) * p.ldb + col0 + i % block];
    }
    __syncthreads();
    // Not unrolled: nvcc would read several steps of A with one load.
#pragma unroll 1
    for (int i = 0; i < depth; ++i) {
      float a_own[own], b_own[own];
#pragma unroll
      for (int r = 0; r < own; ++r) a_own[r] = as[ty + r][i];
#pragma unroll
      for (int s = 0; s < own; ++s) b_own[s] = bs[i][tx + s];
#pragma unroll
      for (int r = 0; r < own; ++r) {
#pragma unroll
        for (int s = 0; s < own; ++s) sum[r][s] += a_own[r] * b_own[s];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < own; ++r) {
#pragma unroll
    for (int s = 0; s < own; ++s) {
      float* const out = p.c + (row0 + ty + r) * p.ldc + col0 + tx + s;
      *out = p.alpha * sum[r][s] + p.beta * *out;
    }
  }
}

struct Entry {
  const char* name;
  void (*kernel)(Operands);
  int tile;
  dim3 block;
};

const Entry& entry(int which) {
  static const Entry entries[prototype_count] = {
      {"naive, uncoalesced", naive<false>, TILE, {TILE, TILE}},
      {"naive, coalesced", naive<true>, TILE, {TILE, TILE}},
      {"32x32 tile", shared_tile, TILE, {TILE, TILE}},
      {"32x32 tile, A transposed", shared_tile_transposed<TILE>, TILE, {TILE, TILE}},
      {"32x32 tile, A transposed and padded", shared_tile_transposed<TILE + 1>, TILE, {TILE, TILE}},
      {"128x128x8, float4", block_128_float4, 128, 256},
      {"64x64x8, scalar", block_64_scalar, 64, 64},
  };
  return entries[which];
}

}  // namespace

const char* prototype_name(int which) {
  return entry(which).name;
}

Status launch_prototype(int which, const SgemmProblem& p, cudaStream_t stream) {
  const auto rows_aligned = [](const float* data, std::int64_t ld) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0;
  };
  if (p.m % 128 || p.n % 128 || p.k % 128) return Status::unsupported("sizes must be multiples of 128");
  if (!rows_aligned(p.a, p.lda) || !rows_aligned(p.b, p.ldb) || !rows_aligned(p.c, p.ldc)) {
    return Status::unsupported("rows must be aligned to 16 bytes");
  }
  const Entry& e = entry(which);
  const Operands operands{
      p.a,       p.b,     p.c,   static_cast<int>(p.lda), static_cast<int>(p.ldb), static_cast<int>(p.ldc),
      p.depth(), p.alpha, p.beta};
  return launch(e.kernel,
                {.grid = {static_cast<unsigned>(p.n / e.tile), static_cast<unsigned>(p.m / e.tile)},
                 .block = e.block,
                 .stream = stream},
                operands);
}

}  // namespace gemm
