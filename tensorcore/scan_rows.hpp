// Rows of FP16 numbers on the device, and of their inclusive prefix sums in FP32: made, and checked. For
// tensorcore/05_scan.cu and its test.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "common/backend/device_memory.hpp"
#include "tensorcore/batches.hpp"

namespace gemm::scan {

/// Row-major, without padding; memory is allocated at the first fill() that needs more.
class Rows {
 public:
  explicit Rows(int width) : width_(width) {}

  const __half* in() const { return in_.data(); }
  float* out() const { return out_.data(); }
  int width() const { return width_; }

  /// Whole numbers from -8 to 8, or numbers from [-1, 1). Throws OutOfDeviceMemory.
  void fill(std::int64_t rows, bool whole);
  /// NaN in every sum.
  void clear(std::int64_t rows);
  /// Every sum of these rows beside one in FP64. Whole numbers: none may be off. Others: by 16 x 2^-23 of the sum of
  /// magnitudes, once for each product that adds to a sum: as far as a Tensor Core that cuts off may be. Empty if all
  /// is right.
  std::string check(std::int64_t rows) const;

 private:
  int width_;
  bool whole_ = false;
  DeviceArray<__half> in_;
  DeviceArray<float> out_;
};

/// The task of scanning `rows`, which must outlive it, by these forms.
batches::Task task(Rows& rows, std::vector<batches::Form> forms, const std::string& base);

}  // namespace gemm::scan
