#include "common/simt/language/tensor.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "common/simt/language/access.hpp"
#include "common/simt/language/collective.hpp"

namespace simt {
namespace {

constexpr int warp = 32;

// Element i of a fragment, as a double.
template <class T>
double element(const void* fragment, int i) {
  return static_cast<const T*>(fragment)[i];
}
template <>
double element<__half>(const void* fragment, int i) {
  return __half2float(static_cast<const __half*>(fragment)[i]);
}
template <>
double element<__nv_bfloat16>(const void* fragment, int i) {
  return __bfloat162float(static_cast<const __nv_bfloat16*>(fragment)[i]);
}

// Marks operands of which the hardware reads only the upper 19 bits.
struct Tf32 {};
template <>
double element<Tf32>(const void* fragment, int i) {
  return std::bit_cast<float>(static_cast<const std::uint32_t*>(fragment)[i] & ~0x1fffu);
}

using PlaceFunction = Place (*)(int lane, int i);

// x = s * 2^exponent with 1 <= |s| < 2; far below all others for zero.
constexpr int no_exponent = -100000;
int exponent_of(double x) {
  const int biased = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff);
  return x == 0 ? no_exponent : biased - 1023;
}

// The float next to x towards zero. What is too large is infinite.
float cut_off(double x) {
  const float nearest = static_cast<float>(x);
  return std::fabs(nearest) > std::fabs(x) && !std::isinf(nearest) ? std::nextafter(nearest, 0.0f) : nearest;
}

template <class T>
T rounded(double x) {
  return x;
}
template <>
float rounded<float>(double x) {
  return cut_off(x);
}
template <>
__half rounded<__half>(double x) {
  return __double2half(x);
}

// 2^exponent, for those that float's products have.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// K numbers, a row of A or a column of B, and their exponents: each is needed for several elements of the product.
template <int K>
struct Factors {
  double number[K];
  int exponent[K];
  int largest;  // of the exponents

  void find_exponents() {
    for (int k = 0; k < K; ++k) exponent[k] = exponent_of(number[k]);
    largest = *std::max_element(exponent, exponent + K);
  }
  bool is_zero() const { return largest == no_exponent; }
  bool is_finite() const { return largest <= 1023; }
};

// c + sum of a[i] * b[i] as sm_90's Tensor Cores have it (tensor.hpp).
template <int K>
double block_sum(double c, const Factors<K>& a, const Factors<K>& b) {
  constexpr int fraction = 23, extra_bits = 2;
  // Many tiles are mostly zeros: those behind a matrix's edges. -0 keeps its sign only if all products are -0, too.
  if ((a.is_zero() && b.is_finite()) || (b.is_zero() && a.is_finite())) {
    if (!std::signbit(c)) return c;
  }
  double products[K];
  double exact = c;
  int largest = exponent_of(c);
  for (int k = 0; k < K; ++k) {
    products[k] = a.number[k] * b.number[k];
    exact += products[k];
    // The hardware doesn't look whether the product of the significands is 2 or more.
    largest = std::max(largest, a.exponent[k] + b.exponent[k]);
  }
  if (largest < no_exponent / 2 || !std::isfinite(exact)) return exact;
  const double units = power_of_two(fraction + extra_bits - largest);
  // No term is 2^27 or more, which fits into 32 bits.
  std::int64_t sum = static_cast<std::int32_t>(c * units);
  for (const double product : products) sum += static_cast<std::int32_t>(product * units);
  return static_cast<double>(sum) / units;
}

// One product of the whole warp, with K of A and B, and so on, elements a lane.
template <int M, int N, int K, class Operand, class Result, PlaceFunction place_a, PlaceFunction place_b>
void multiply(const MmaRegisters* const (&lanes)[warp]) {
  note_tensor_flops(2 * M * N * K);
  Factors<K> a[M], b[N];
  for (int lane = 0; lane < warp; ++lane) {
    for (int i = 0; i < M * K / warp; ++i) {
      const Place p = place_a(lane, i);
      a[p.row].number[p.col] = element<Operand>(lanes[lane]->a, i);
    }
    for (int i = 0; i < K * N / warp; ++i) {
      const Place p = place_b(lane, i);
      b[p.col].number[p.row] = element<Operand>(lanes[lane]->b, i);
    }
  }
  if constexpr (!std::is_same_v<Result, double>) {
    for (Factors<K>& row : a) row.find_exponents();
    for (Factors<K>& column : b) column.find_exponents();
  }
  for (int lane = 0; lane < warp; ++lane) {
    for (int i = 0; i < M * N / warp; ++i) {
      const Place p = place_in_c(lane, i);
      double sum = element<Result>(lanes[lane]->c, i);
      if constexpr (std::is_same_v<Result, double>) {
        for (int k = 0; k < K; ++k) sum = std::fma(a[p.row].number[k], b[p.col].number[k], sum);
      } else {
        sum = block_sum(sum, a[p.row], b[p.col]);
      }
      static_cast<Result*>(lanes[lane]->d)[i] = rounded<Result>(sum);
    }
  }
}

void multiply(Mma instruction, const MmaRegisters* const (&lanes)[warp]) {
  switch (instruction) {
    case Mma::m16n8k16_f32_f16:
      return multiply<16, 8, 16, __half, float, place_in_a16, place_in_b16>(lanes);
    case Mma::m16n8k16_f16_f16:
      return multiply<16, 8, 16, __half, __half, place_in_a16, place_in_b16>(lanes);
    case Mma::m16n8k16_f32_bf16:
      return multiply<16, 8, 16, __nv_bfloat16, float, place_in_a16, place_in_b16>(lanes);
    case Mma::m16n8k8_f32_f16:
      return multiply<16, 8, 8, __half, float, place_in_a16, place_in_b16>(lanes);
    case Mma::m16n8k8_f16_f16:
      return multiply<16, 8, 8, __half, __half, place_in_a16, place_in_b16>(lanes);
    case Mma::m16n8k8_f32_tf32:
      return multiply<16, 8, 8, Tf32, float, place_in_a32, place_in_b32>(lanes);
    case Mma::m8n8k4_f64:
      return multiply<8, 8, 4, double, double, place_in_a64, place_in_b64>(lanes);
    case Mma::m16n8k4_f64:
      return multiply<16, 8, 4, double, double, place_in_a32, place_in_b64>(lanes);
  }
}

struct MmaCall {
  Mma instruction;
  const MmaRegisters* registers;
  int count;
};

void combine_mma(void* const* lanes, LaneMask) {
  const auto call = [&](int lane) { return static_cast<const MmaCall*>(lanes[lane]); };
  for (int i = 0; i < call(0)->count; ++i) {
    const MmaRegisters* registers[warp];
    for (int lane = 0; lane < warp; ++lane) registers[lane] = call(lane)->registers + i;
    multiply(call(0)->instruction, registers);
  }
}

struct Rows {
  std::uint32_t* registers;
  int matrices;
  bool transposed;
  const std::uint32_t* row;
};

void combine_rows(void* const* lanes, LaneMask) {
  const auto call = [&](int lane) { return static_cast<const Rows*>(lanes[lane]); };
  for (int i = 0; i < call(0)->matrices; ++i) {
    std::uint16_t matrix[8][8];
    for (int r = 0; r < 8; ++r) std::memcpy(matrix[r], call(8 * i + r)->row, sizeof matrix[r]);
    for (int lane = 0; lane < warp; ++lane) {
      const int major = lane / 4, minor = lane % 4 * 2;
      const bool transposed = call(0)->transposed;
      const std::uint32_t low = transposed ? matrix[minor][major] : matrix[major][minor];
      const std::uint32_t high = transposed ? matrix[minor + 1][major] : matrix[major][minor + 1];
      call(lane)->registers[i] = low | high << 16;
    }
  }
}

struct Registers {
  std::uint32_t* registers;
  int matrices;
};

void combine_transposition(void* const* lanes, LaneMask) {
  const auto registers = [&](int lane) { return static_cast<const Registers*>(lanes[lane])->registers; };
  for (int i = 0; i < static_cast<const Registers*>(lanes[0])->matrices; ++i) {
    std::uint16_t matrix[8][8];
    for (int lane = 0; lane < warp; ++lane) std::memcpy(&matrix[lane / 4][lane % 4 * 2], registers(lane) + i, 4);
    for (int lane = 0; lane < warp; ++lane) {
      const std::uint32_t low = matrix[lane % 4 * 2][lane / 4], high = matrix[lane % 4 * 2 + 1][lane / 4];
      registers(lane)[i] = low | high << 16;
    }
  }
}

}  // namespace

void mma(Mma instruction, const char* operation, const MmaRegisters* registers, int count) {
  MmaCall call{instruction, registers, count};
  whole_warp(operation, &call, combine_mma, __builtin_return_address(0));
}

void distribute_rows(std::uint32_t* registers, int matrices, bool transposed, const std::uint32_t* row) {
  Rows call{registers, matrices, transposed, row};
  whole_warp("ldmatrix", &call, combine_rows, __builtin_return_address(0));
}

void transpose_registers(std::uint32_t* registers, int matrices) {
  Registers call{registers, matrices};
  whole_warp("movmatrix", &call, combine_transposition, __builtin_return_address(0));
}

}  // namespace simt
