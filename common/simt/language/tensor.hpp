// Tensor Core instructions for the executor: where each lane's elements lie, and the operations themselves. Shared by
// wmma (include/mma.h) and the wrappers of single instructions (common/kernel/ptx.cuh).
#pragma once

#include <cstdint>

#include "common/simt/language/access.hpp"
#include "common/simt/language/language.hpp"

namespace simt {

/// The mma.sync instructions. A is m x k, B is k x n, C and D are m x n. In the names: type of C and D, then of A, B.
enum class Mma {
  m16n8k16_f32_f16,
  m16n8k16_f16_f16,
  m16n8k16_f32_bf16,
  m16n8k8_f32_f16,
  m16n8k8_f16_f16,
  m16n8k8_f32_tf32,
  m8n8k4_f64,
  m16n8k4_f64,
};

struct Place {
  int row, col;
};

// PTX's fragment layouts: which element of the matrix is element i of a lane's fragment. Lanes form 8 groups of 4.
// Operands of 16 bits: a register holds two neighbours along k, so that the registers tile the matrix in 8 x 8.
// A: the tiles of rows 0-7 and 8-15, then (k = 16) the same for k 8-15.
__forceinline__ constexpr Place place_in_a16(int lane, int i) {
  return {lane / 4 + i / 2 % 2 * 8, lane % 4 * 2 + i % 2 + i / 4 * 8};
}
// B: the tiles of k 0-7, then of k 8-15.
__forceinline__ constexpr Place place_in_b16(int lane, int i) {
  return {lane % 4 * 2 + i % 2 + i / 2 * 8, lane / 4};
}
// C and D of every type: two neighbours along n in rows 0-7, then in rows 8-15.
__forceinline__ constexpr Place place_in_c(int lane, int i) {
  return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
}
// tf32: tiles of 8 x 4 (A) and 4 x 8 (B), one element a lane.
__forceinline__ constexpr Place place_in_a32(int lane, int i) {
  return {lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4};
}
__forceinline__ constexpr Place place_in_b32(int lane, int i) {
  return {lane % 4 + i * 4, lane / 4};
}
// double: one such tile each; m16n8k4 has the first two of place_in_a32 for A.
__forceinline__ constexpr Place place_in_a64(int lane, int) {
  return {lane / 4, lane % 4};
}
__forceinline__ constexpr Place place_in_b64(int lane, int) {
  return {lane % 4, lane / 4};
}

/// One lane's registers in one mma: fragments in the layouts above. d may be c.
struct MmaRegisters {
  const void* a;
  const void* b;
  const void* c;
  void* d;
};

/// D = A B + C, `count` times (at most 2), by all 32 lanes together, rounded as sm_90 rounds. Products are exact. They
/// and the element of C are aligned to the largest exponent among them; what lies more than two bits below the last bit
/// of a float with that exponent is cut off from each; then they are added up exactly. A float result is cut off, too, a
/// __half rounded to nearest. So sums come out too small, on average by half a unit each time; an addition by plain
/// cores makes no such mistake. The lower 13 bits of a tf32 operand are ignored. double: a chain of FMAs in order of k.
/// `operation` names it in reports. Source: M. Fasi et al., "Numerical behavior of NVIDIA tensor cores" (2021), of
/// earlier GPUs; how many bits sm_90 keeps: docs/concepts/tensor_cores.md.
void mma(Mma instruction, const char* operation, const MmaRegisters* registers, int count);

/// ldmatrix, after the loads: lane 8 i + r brings row r of the i-th 8 x 8 matrix of 16-bit elements in row[4], and each
/// lane gets one register of each matrix: its elements (lane / 4, lane % 4 * 2) and the next in the row; transposed:
/// (lane % 4 * 2, lane / 4) and the next in the column.
void distribute_rows(std::uint32_t* registers, int matrices, bool transposed, const std::uint32_t* row);

/// movmatrix: transposes `matrices` (at most 8) 8 x 8 matrices of 16-bit elements that lie in one register a lane each.
void transpose_registers(std::uint32_t* registers, int matrices);

// Accesses of a given width as one access. g++ would split the copy of a struct into its members, but not that of what
// the empty assembly makes it hold in a register.
__forceinline__ std::uint32_t load_32(const void* from) {
  using Word [[gnu::may_alias]] = std::uint32_t;
  Word word = *static_cast<const Word*>(from);
  asm("" : "+r"(word));
  return word;
}
__forceinline__ void store_32(void* to, std::uint32_t value) {
  using Word [[gnu::may_alias]] = std::uint32_t;
  asm("" : "+r"(value));
  *static_cast<Word*>(to) = value;
}
__forceinline__ std::uint64_t load_64(const void* from) {
  using Word [[gnu::may_alias]] = std::uint64_t;
  Word word = *static_cast<const Word*>(from);
  asm("" : "+r"(word));
  return word;
}
__forceinline__ void store_64(void* to, std::uint64_t value) {
  using Word [[gnu::may_alias]] = std::uint64_t;
  asm("" : "+r"(value));
  *static_cast<Word*>(to) = value;
}
using Words [[gnu::vector_size(16), gnu::may_alias]] = std::uint32_t;
__forceinline__ Words load_128(const void* from) {
  Words words = *static_cast<const Words*>(from);
#ifdef __x86_64__
  asm("" : "+x"(words));
#else
  asm("" : "+w"(words));
#endif
  return words;
}
__forceinline__ void store_128(void* to, Words value) {
#ifdef __x86_64__
  asm("" : "+x"(value));
#else
  asm("" : "+w"(value));
#endif
  *static_cast<Words*>(to) = value;
}

}  // namespace simt
