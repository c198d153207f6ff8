// Part of reduce.h and scan.h: the operators. Not a header of CUDA's.
#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_OPERATOR(name, expression)                             \
  template <class T>                                                \
  struct name {                                                     \
    SIMT_INLINE T operator()(T a, T b) const { return expression; } \
  };
SIMT_OPERATOR(plus, a + b)
SIMT_OPERATOR(less, b < a ? b : a)
SIMT_OPERATOR(greater, a < b ? b : a)
SIMT_OPERATOR(bit_and, (a & b))
SIMT_OPERATOR(bit_or, (a | b))
SIMT_OPERATOR(bit_xor, (a ^ b))
#undef SIMT_OPERATOR

}  // namespace cooperative_groups
