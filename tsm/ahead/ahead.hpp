// Tall & skinny kernels that are compiled with the library, for any m and n up to 64: so no first product waits for a
// compiler. Kernels for exact sizes (tsm/choice.hpp) are for who prepares them.
#pragma once

#include <cuda_runtime.h>

#include <compare>
#include <cstddef>
#include <cstdint>

#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"

namespace gemm::ahead {

constexpr int most_columns = 64;

/// Whether the current device can run one of them for it.
bool covers(const Problem& problem);

/// For a problem that covers() has agreed to. Not for several threads at a time.
std::size_t workspace_bytes(const Problem& problem);
Status launch(const Problem& problem, cudaStream_t stream);

/// What kernels for exact sizes are compiled for: besides the sizes, how rows of both tall matrices lie.
struct Exact {
  int device = 0;
  Operation op = Operation::tsmttsm;
  Type type = Type::f64;
  std::int64_t m = 0, n = 0;
  bool conjugate = false;
  int rows_x = 0, rows_tall = 0;
  bool gram = false, in_place = false;

  auto operator<=>(const Exact&) const = default;
};
Exact exact_of(const Problem& problem);

constexpr int most_blocks = 4;

/// A tall matrix whose columns lie in several places, one block of them behind another: [X R P].
template <class T>
struct TallMatrix {
  struct Block {
    const T* data = nullptr;
    std::int64_t ld = 0;
    int columns = 0;

    bool operator==(const Block&) const = default;
  };
  int count = 0;
  Block block[most_blocks] = {};

  TallMatrix() = default;
  TallMatrix(const T* data, std::int64_t ld, int columns) { add({data, ld, columns}); }
  /// A block without columns is none.
  void add(const Block& its) {
    if (its.columns > 0) block[count++] = its;
  }
  int columns() const {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += block[i].columns;
    return sum;
  }
  bool operator==(const TallMatrix&) const = default;
};
/// Products of such matrices, of which none has more than 64 columns; the problem's own A and B are not looked at. If A
/// and B are the same, C is a Gram matrix, and they are read once. Workspace as for a problem of this size.
Status launch(const TsmttsmProblem<double>& problem, const TallMatrix<double>& a, const TallMatrix<double>& b,
              cudaStream_t stream);
Status launch(const TsmttsmProblem<double2>& problem, const TallMatrix<double2>& a, const TallMatrix<double2>& b,
              cudaStream_t stream);
Status launch(const TsmmProblem<double>& problem, const TallMatrix<double>& a, cudaStream_t stream);
Status launch(const TsmmProblem<double2>& problem, const TallMatrix<double2>& a, cudaStream_t stream);

/// Where the blocks of a Gram matrix end, its rows' and its columns'.
struct BlockEnds {
  int count = 0, end[most_blocks] = {};
};
/// Blocks below C's diagonal become those above it, transposed, and conjugated if so.
Status mirror_blocks(const BlockEnds& ends, bool conjugate, double* c, std::int64_t ldc, cudaStream_t stream);
Status mirror_blocks(const BlockEnds& ends, bool conjugate, double2* c, std::int64_t ldc, cudaStream_t stream);

// ---- for the files with the kernels

constexpr int most_kept = 4;  ///< blocks of a multiprocessor that leave partial sums

/// How many blocks of a kernel a multiprocessor holds at a time; at least 1.
int blocks_that_fit(const void* kernel, int threads, int shared_bytes);

}  // namespace gemm::ahead
