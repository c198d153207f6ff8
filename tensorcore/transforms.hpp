// Many small FP16 matrices on the device, an orthogonal transformation for each, and the transformed matrices: made,
// and checked. For tensorcore/06a_householder.cu, tensorcore/06b_givens.cu and their tests.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "common/problem/probe_registry.hpp"
#include "tensorcore/batches.hpp"

namespace gemm::transforms {

/// Matrices A of m x m, row-major, without padding, one after the other; what makes their transformations; and room for
/// the results B, which lie as A does. Memory is allocated at the first fill() that needs more.
class Matrices {
 public:
  /// B = (I - 2 v v^T) A. A matrix has m parameters: its unit vector v.
  static Matrices householder(int m) { return {m, m, -1, -1}; }
  /// B = G(i, j, theta) A, m = 16, i != j: the rows i and j become c A_i - s A_j and s A_i + c A_j. A matrix has two
  /// parameters: c = cos(theta) and s = sin(theta).
  static Matrices givens(int i, int j) { return {16, 2, i, j}; }

  const __half* a() const { return a_.data(); }
  __half* b() const { return b_.data(); }
  const __half* parameters() const { return parameters_.data(); }
  int m() const { return m_; }
  int parameters_each() const { return each_; }

  /// A of whole numbers from -8 to 8, vectors v with four elements of 1/2 or -1/2 and else zeros, quarter turns: all
  /// that follows is exact in FP16. Or A from [-1, 1), any v and any theta, rounded to FP16. Throws OutOfDeviceMemory.
  void fill(std::int64_t count, bool whole);
  /// NaN in every B.
  void clear(std::int64_t count);
  /// Every element of these B beside one that FP64 makes of the FP16 numbers. Whole numbers: none may be off, nor rows
  /// that a rotation leaves alone. Others may be off by what rounding explains: 2^-11 of the result (it is FP16); for a
  /// reflection as much of the sum of magnitudes (H may be rounded to FP16, too); m x 2^-22 of that sum (FP32 sums, cut
  /// off). Empty if all is right.
  std::string check(std::int64_t count) const;

 private:
  Matrices(int m, int each, int i, int j) : m_(m), each_(each), i_(i), j_(j) {}

  int m_, each_, i_, j_;
  bool whole_ = false;
  DeviceArray<__half> a_, parameters_, b_;
};

/// The task of transforming `matrices`, which must outlive it, by these forms.
batches::Task task(Matrices& matrices, const std::string& name, std::vector<batches::Form> forms,
                   const std::string& base);

/// Of a probe of transformations: its own options, --most and --sass.
std::vector<ProbeOption> options(int& most, bool& with_code, std::vector<ProbeOption> own = {});
/// The batches: of 2^8 to 2^most matrices; if nothing is timed one, whose last block has warps without a matrix.
std::vector<std::int64_t> sizes(const ProbeRun& run, int most);

}  // namespace gemm::transforms
