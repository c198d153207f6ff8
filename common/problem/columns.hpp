// Operands that lie in columns, for the variants of the course's assignments: the harness has rows only, so a contract
// copies them into the workspace before it launches a kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/problem/columns_record.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

/// Which operands. A submission's macro may stand for a number, but not behind `InColumns::`.
enum class InColumns { a, b, a_and_b };

constexpr std::size_t COLUMNS_ALIGNMENT = 256;  // of both copies, but for what the matrix itself is off

/// Bytes of a copy of rows x cols elements, in columns that are padded as the rows were.
constexpr std::size_t bytes_in_columns(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::size_t element) {
  const std::size_t bytes = static_cast<std::size_t>((rows + ld - cols) * cols) * element;
  return (bytes / COLUMNS_ALIGNMENT + 2) * COLUMNS_ALIGNMENT;
}

/// StageInfo::workspace_bytes of a launch that calls lay_out(): enough for A and B.
inline std::size_t columns_bytes(const Problem& p) {
  const bool transposed = p.op == Operation::tsmttsm;
  return bytes_in_columns(transposed ? p.k : p.m, transposed ? p.m : p.k, p.ldx, size_of(p.type)) +
         bytes_in_columns(p.k, p.n, p.ldy, size_of(p.type));
}

/// Copies rows x cols elements into columns: element (i, j) to place j * ld + i, with the new ld. Not the padding. The
/// copy is off a multiple of COLUMNS_ALIGNMENT by as much as the matrix.
template <class T>
Status copy_to_columns(const T*& matrix, std::int64_t rows, std::int64_t cols, std::int64_t& ld, std::byte* to,
                       cudaStream_t stream) {
  const std::int64_t column = rows + ld - cols;
  T* const copy = reinterpret_cast<T*>(to + reinterpret_cast<std::uintptr_t>(matrix) % COLUMNS_ALIGNMENT);
  const ColumnsRecord record{matrix, copy, rows, cols, ld, column, sizeof(T)};
  if (columns_log)
    columns_log->push_back(record);
  else if (const cudaError_t error = copy_columns(record, stream); error != cudaSuccess)
    return status_of(error);
  matrix = copy;
  ld = column;
  return Status::ok();
}

/// Copies the chosen operands into p.workspace, and lets p point at the copies. P is the problem of a GEMM or TSMTTSM.
template <class P>
Status lay_out(P& p, InColumns chosen, cudaStream_t stream) {
  const bool transposed = Problem(p).op == Operation::tsmttsm;  // its A is k x m
  const std::int64_t m = p.m, k = p.k, rows = transposed ? k : m, cols = transposed ? m : k;
  auto* const to_a = static_cast<std::byte*>(static_cast<void*>(p.workspace));
  std::byte* const to_b = to_a + bytes_in_columns(rows, cols, p.lda, sizeof(*p.a));
  if (p.depth() == 0) return Status::ok();  // then A and B may hold NaN, and nobody reads them
  Status status = chosen != InColumns::b ? copy_to_columns(p.a, rows, cols, p.lda, to_a, stream) : Status::ok();
  if (status && chosen != InColumns::a) status = copy_to_columns(p.b, k, p.n, p.ldb, to_b, stream);
  return status;
}

}  // namespace gemm
