// A row-major FP32 matrix in device memory with traps around it: guard words before and after, poison in the padding.
#pragma once

#include <cstdint>

#include "common/device_memory.hpp"
#include "common/random.cuh"

namespace gemm {

/// A signalling NaN: arithmetic on it gives a quiet one, so a word that nobody wrote can be told from a NaN that
/// somebody computed, from poison even.
inline constexpr std::uint32_t poison_word = 0x7fa0dead;

class Matrix {
 public:
  /// rows x cols, leading dimension ld >= cols (elements), the first element `offset` elements past a 256-byte
  /// boundary.
  Matrix(int rows, int cols, std::int64_t ld, int offset);

  float* data() const { return words_.data() + first_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  std::int64_t ld() const { return ld_; }

  /// Writes generated elements; all that is not an element becomes poison.
  void fill(const Generator& generator);
  /// Makes everything poison, elements included.
  void poison();
  /// Copies all words, traps included. The other matrix must have the same shape, ld and offset.
  void copy_from(const Matrix& other);

  /// How many words outside the elements are no longer poison.
  std::int64_t damaged_words() const;
  /// A 64-bit hash of every word and its place: two calls differ if anything changed in between.
  std::uint64_t fingerprint() const;

 private:
  static constexpr std::int64_t guard = 1024;  // elements on either side: 4 KiB, a multiple of every alignment in use

  int rows_, cols_;
  std::int64_t ld_;
  std::int64_t first_;
  DeviceArray<float> words_;
};

}  // namespace gemm
