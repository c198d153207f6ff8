// How partial sums of a block vector's product become the result. Kernels that are compiled at run time read it, too.
#pragma once

namespace gemm {

/// atomics: each slice adds its sums to C, atomically. shared_atomics: to its block's copy of C in shared memory,
/// atomically, and the block adds its copy to C (the "local atomic" way of Ernst et al.). local: a block's slices are
/// added up by a tree in shared memory, and the sum to C, atomically. ordered: the same tree, and the block's sums are
/// kept and added up by another kernel in an order that never changes, which gives the same bits every time. none, to
/// measure what the others cost: blocks' sums are kept and never added up, C is not written, the result is wrong.
enum class Reduction { atomics, shared_atomics, local, ordered, none };

}  // namespace gemm
