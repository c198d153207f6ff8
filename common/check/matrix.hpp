// A row-major matrix in device memory with traps around it: guard words before and after, poison in the padding. Words
// are the real numbers that it consists of, two of a complex one.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "common/backend/named_matrix.hpp"
#include "common/check/random.cuh"
#include "common/problem/problem.hpp"

namespace gemm {

/// A signalling NaN: arithmetic on it gives a quiet one, so a word that nobody wrote can be told from a NaN that
/// somebody computed, from poison even.
inline constexpr std::uint32_t poison_word = 0x7fa0dead;
inline constexpr std::uint64_t poison_double = 0x7ff4dead7fa0dead;  ///< the same, as a double
inline constexpr std::uint16_t poison_half = 0x7cad;                ///< and in FP16

/// A matrix in host memory, with what lies around it. Of real numbers the imaginary parts are 0.
struct HostMatrix {
  std::int64_t first = 0, rows = 0, cols = 0, ld = 0;
  std::vector<std::complex<double>> all;

  const std::complex<double>& operator()(std::int64_t row, std::int64_t col) const {
    return all[first + row * ld + col];
  }
  /// What lies so many elements behind the first; null outside of what is known.
  const std::complex<double>* at(std::int64_t index) const {
    const std::int64_t place = first + index;
    return place < 0 || place >= static_cast<std::int64_t>(all.size()) ? nullptr : &all[place];
  }
};

class Matrix {
 public:
  struct Layout;  // for the kernels of matrix.cu

  /// rows x cols, leading dimension ld >= cols (elements), the first element `offset` elements past a 256-byte
  /// boundary.
  Matrix(std::int64_t rows, std::int64_t cols, std::int64_t ld, int offset, Type type = Type::f32);

  template <class T = float>
  T* data() const {
    return reinterpret_cast<T*>(bytes_.data() + first_ * static_cast<std::int64_t>(size_of(type_)));
  }
  std::int64_t ld() const { return ld_; }
  /// All of its device memory, with what lies around the elements.
  std::span<unsigned char> memory() const { return {bytes_.data(), bytes_.size()}; }

  /// What messages call it. From here on kernels that are observed may touch nothing around its elements.
  void name(std::string name);
  bool named() const { return !name_.empty(); }
  /// Nor may they read what lies between the rows and, with a reason, elements that they have not written before.
  void forbid_reading(const std::string& why = "") const { gemm::forbid_reading(place(), why); }

  /// Writes generated elements; all that is not an element becomes poison.
  void fill(const Generator& generator);
  /// Numbers in the place of the poison, too, so that it can be told from a result which of them a kernel has read.
  void fill_around(const Generator& generator);
  /// Makes everything poison, elements included.
  void poison();
  /// Copies all words, traps included. The other matrix must have the same shape, ld and offset.
  void copy_from(const Matrix& other);

  HostMatrix to_host() const;

  /// How many words outside the elements are no longer poison.
  std::int64_t damaged_words() const;
  /// A 64-bit hash of every word and its place: two calls differ if anything changed in between.
  std::uint64_t fingerprint() const;

 private:
  static constexpr std::int64_t guard =
      1024;  // elements on either side, at least 2 KiB: a multiple of every alignment in use

  Layout layout() const;
  NamedMatrix place() const { return {name_, data<void>(), rows_, cols_, ld_, size_of(type_)}; }

  std::string name_;
  Type type_;
  std::int64_t rows_, cols_;
  std::int64_t ld_;
  std::int64_t first_;
  DeviceArray<unsigned char> bytes_;
};

}  // namespace gemm
