// CUDA C++ as g++ sees it: the keywords become attributes or nothing, the built-in variables become look-ups of the
// running fiber, and a barrier becomes a switch to the next fiber.
#pragma once

// nvcc has these included in every file of kernels.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#include "common/simt/language/atomics.hpp"
#include "common/simt/language/device_functions.hpp"
#include "common/simt/language/dynamic_programming.hpp"
#include "common/simt/language/integers.hpp"
#include "common/simt/language/math.hpp"
#include "common/simt/language/ordered_atomics.hpp"
#include "common/simt/language/rounding.hpp"
#include "common/simt/language/simd_in_word.hpp"
#include "common/simt/language/special_functions.hpp"
#include "common/simt/language/thread.hpp"
#include "common/simt/language/types.hpp"
#include "common/simt/language/warp.hpp"
#ifndef SIMT_KEYWORDS_STAY  // for whom rewrites the text
#include "common/simt/language/keywords.hpp"
#endif

#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __grid_constant__
#define __nv_pure__
#define __align__(n) __attribute__((aligned(n)))

#define SIMT_INLINE inline __attribute__((always_inline))

SIMT_INLINE void __syncthreads() {
  ::simt::barrier();
}
SIMT_INLINE int __syncthreads_and(int predicate) {
  return ::simt::barrier_and(predicate);
}
SIMT_INLINE int __syncthreads_or(int predicate) {
  return ::simt::barrier_or(predicate);
}
SIMT_INLINE int __syncthreads_count(int predicate) {
  return ::simt::barrier_count(predicate);
}
