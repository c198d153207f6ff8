// Stages 03 and 03b: operands that 16-byte copies cannot read are packed into the workspace first.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/problem/problem.hpp"
#include "tensorcore/pipeline/shape.cuh"

namespace pipeline {

constexpr int PACKED = 32 * CHUNK, PACKING_WARPS = 8;  // elements that a warp packs; warps of a block

// Rows of `cols` elements, any alignment, to rows of whole chunks, zeros behind the last. A warp takes a row's next PACKED
// elements, through shared memory: two bytes a lane in, side by side, and 16 out.
static __global__ void pack_chunks(const __half* __restrict__ from, std::int64_t ld, std::int64_t rows, int cols,
                                   std::int64_t warps_a_row, __half* to, std::int64_t packed_ld) {
  __shared__ __align__(16) __half staged[PACKING_WARPS][PACKED];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t which = static_cast<std::int64_t>(blockIdx.x) * PACKING_WARPS + warp;
  const std::int64_t row = which / warps_a_row, first = which % warps_a_row * PACKED;
  if (row >= rows) return;
#pragma unroll
  for (int i = lane; i < PACKED; i += 32)
    staged[warp][i] = first + i < cols ? from[row * ld + first + i] : __float2half(0.0f);
  __syncwarp();
  if (first + lane * CHUNK < packed_ld)
    *reinterpret_cast<uint4*>(to + row * packed_ld + first + lane * CHUNK) =
        *reinterpret_cast<const uint4*>(staged[warp] + lane * CHUNK);
}

inline std::int64_t whole_chunks(int cols) {
  return gemm::ceil_div(cols, CHUNK) * static_cast<std::int64_t>(CHUNK);
}
inline bool in_chunks(const __half* p, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && ld % CHUNK == 0;
}
// Whether two floats of C side by side can be stored at once.
inline bool in_pairs(const gemm::HgemmProblem& p) {
  return reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0 && p.ldc % 2 == 0;
}

// Copies an operand to the workspace, which moves on; that is the operand now.
inline gemm::Status pack(const __half*& x, std::int64_t& ld, std::int64_t rows, int cols, __half*& workspace,
                         cudaStream_t stream) {
  const std::int64_t packed_ld = whole_chunks(cols), warps_a_row = (packed_ld + PACKED - 1) / PACKED;
  const gemm::Status status =
      gemm::launch(pack_chunks,
                   {.grid = static_cast<unsigned>((rows * warps_a_row + PACKING_WARPS - 1) / PACKING_WARPS),
                    .block = 32 * PACKING_WARPS,
                    .stream = stream},
                   x, ld, rows, cols, warps_a_row, workspace, packed_ld);
  x = workspace;
  ld = packed_ld;
  workspace += rows * ld;
  return status;
}

inline std::size_t packed_bytes(const gemm::HgemmProblem& p) {
  return sizeof(__half) * (p.m * whole_chunks(p.depth()) + p.depth() * whole_chunks(p.n));
}

// Both operands in chunks: as they are, or packed. The workspace moves on.
inline gemm::Status pack_operands(gemm::HgemmProblem& p, __half*& workspace, cudaStream_t stream) {
  gemm::Status status = gemm::Status::ok();
  if (!in_chunks(p.a, p.lda)) status = pack(p.a, p.lda, p.m, p.depth(), workspace, stream);
  // B's last chunks are read whole, so they must exist.
  if (status && (!in_chunks(p.b, p.ldb) || p.n % CHUNK != 0))
    status = pack(p.b, p.ldb, p.depth(), p.n, workspace, stream);
  if (status && (p.lda >= 1ll << 32 || p.ldb >= 1ll << 32))
    return gemm::Status::unsupported("a leading dimension of 2^32 or more");
  return status;
}

}  // namespace pipeline
