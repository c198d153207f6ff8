// Where the elements of fragments lie, written down once more and straight from NVIDIA's text, so that
// tensorcore/04_fragment_map.cu can compare: PTX ISA, "Matrix Fragments for mma.m16n8k16", ".m16n8k8" and ".m8n8k4".
// What nvcuda::wmma adds is not documented: which tiles of mma.sync its fragments consist of, as the hardware showed it.
#pragma once

#include "tensorcore/wmma_ext/kinds.hpp"

namespace gemm::documented {

using wmma_ext::position;

/// Element i of a lane's fragment in the instruction m16n8k16, m16n8k8 or m8n8k4 with operands of `bits`; `of` is 'a',
/// 'b' or 'c'. The names are the manual's.
constexpr position in_instruction(char of, int bits, int lane, int i) {
  const int groupID = lane >> 2, threadID_in_group = lane % 4;
  if (of == 'c')  // of every type: two neighbours in a row, and the same eight rows below
    return {i < 2 ? groupID : groupID + 8, threadID_in_group * 2 + (i & 0x1)};
  if (bits == 64) return of == 'a' ? position{groupID, threadID_in_group} : position{threadID_in_group, groupID};
  if (bits == 32) {  // .tf32
    if (of == 'a') return {i == 0 || i == 2 ? groupID : groupID + 8, i < 2 ? threadID_in_group : threadID_in_group + 4};
    return {i == 0 ? threadID_in_group : threadID_in_group + 4, groupID};
  }
  // .f16 and .bf16; with k = 8 there are a0 to a3, b0 and b1.
  if (of == 'a') {
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return {upper ? groupID : groupID + 8, threadID_in_group * 2 + (i & 0x1) + (i < 4 ? 0 : 8)};
  }
  return {threadID_in_group * 2 + (i & 0x1) + (i < 2 ? 0 : 8), groupID};
}

/// Element i of x[] of a fragment of nvcuda::wmma or wmma_ext::mma.
template <wmma_ext::any_fragment Fragment>
constexpr position place(int lane, int i) {
  using traits = wmma_ext::fragment_traits<Fragment>;
  using T = typename traits::element_type;
  constexpr int bits = std::is_same_v<T, double> ? 64 : std::is_same_v<T, wmma_ext::precision::tf32> ? 32 : 16;
  constexpr bool is_a = std::is_same_v<typename traits::use, wmma_ext::matrix_a>;
  constexpr char of = traits::is_accumulator ? 'c' : is_a ? 'a' : 'b';
  if constexpr (!wmma_ext::kinds::is_wmma<Fragment> || bits == 64) {  // wmma's 8x8x4 is one instruction
    return in_instruction(of, bits, lane, i);
  } else {
    i %= traits::held;                            // nvcuda::wmma repeats elements of FP16 operands
    constexpr bool transposed = traits::n == 32;  // 8x32: C' = B' A', so that B is the instruction's A
    constexpr char in = of == 'c' || !transposed ? of : of == 'a' ? 'b' : 'a';
    constexpr bool side_by_side = traits::m == 16;  // two instructions; else one below the other
    constexpr bool is_split = in == 'c' || in == (side_by_side ? 'b' : 'a');
    constexpr int tile = is_split ? traits::held / 2 : traits::held;  // elements of a lane in one instruction
    position p = in_instruction(in, bits, lane, i % tile);
    (side_by_side ? p.col : p.row) += i / tile * (side_by_side ? 8 : 16);
    return transposed ? position{p.col, p.row} : p;
  }
}

}  // namespace gemm::documented
