// What tests/executor/test_tensor.cpp runs on the device: Tensor Core products, ldmatrix and cp.async. Numbers go in and out as
// double, or as bits.
#pragma once

#include <cstdint>
#include <vector>

namespace gemm::tensor_test {

enum class WmmaType { half_float, half_half, half_mixed, bf16_float, tf32_float, f64 };  // of A and B, of C and D

struct WmmaCase {
  WmmaType type;
  int m, n, k;
  bool a_by_rows, b_by_rows, c_by_rows;
  bool in_shared;  // else in global memory
};

/// Elements of D = A B + C, row-major without padding, and x[] of each lane's fragments after loading.
struct WmmaResult {
  std::vector<double> d;
  std::vector<double> a_x, b_x, c_x;
};

/// A, B and C row-major without padding; the kernel puts them into padded arrays of the case's layout.
WmmaResult wmma_product(const WmmaCase& which, const std::vector<double>& a, const std::vector<double>& b,
                        const std::vector<double>& c);

enum class MmaType {
  m16n8k16_f32_f16,
  m16n8k16_f16_f16,
  m16n8k16_f32_bf16,
  m16n8k8_f32_f16,
  m16n8k8_f16_f16,
  m16n8k8_f32_tf32,
  m8n8k4_f64,
  m16n8k4_f64
};

/// D = A B + C by one instruction; all row-major.
std::vector<double> mma_product(MmaType type, const std::vector<double>& a, const std::vector<double>& b,
                                const std::vector<double>& c);

/// 1, 2 or 4 matrices of 8 x 8 whose elements are numbered 0, 1, ... through ldmatrix: d[] of lane 0, of lane 1, ...
std::vector<std::uint32_t> ldmatrix(int matrices, bool transposed);

/// 64 copies of `bytes` bytes from `from` to shared memory filled with 0xee, of which only source_bytes are read; what
/// is in shared memory then. `around_l1`: .cg.
std::vector<std::uint8_t> copy_async(int bytes, bool around_l1, int source_bytes,
                                     const std::vector<std::uint8_t>& from);

/// Takes `tiles` tiles of 128 floats through three buffers, two groups ahead, and back to memory. Each thread reads
/// what another one copied.
std::vector<float> copy_in_stages(int tiles, const std::vector<float>& from);

}  // namespace gemm::tensor_test
