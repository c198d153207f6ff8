// Kernels that use CUDA's intrinsics (intrinsic_kernels.cu), as functions that launch them on this build's device and
// hand back what each thread got. tests/executor/test_intrinsics.cpp knows what they must return.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace intrinsics {

/// Lanes in `mask` call the intrinsic with it, all others, in another branch, with ~mask; so up to match() and
/// reduce().
enum class Shuffle { index, up, down, exclusive };
constexpr int index_stride = 7;  ///< by index, lane l asks for lane l * index_stride + argument
struct ShuffleCall {
  Shuffle kind;
  int argument, width;
  unsigned mask;
};
/// A block for each call, of a thread for each value; what call c gave thread i is at [c * values.size() + i]. All in
/// one launch: a thousand of them take minutes under compute-sanitizer.
template <class T>
std::vector<T> shuffle(const std::vector<ShuffleCall>& calls, const std::vector<T>& values);

struct Vote {
  unsigned ballot;
  int all, any;
};
std::vector<Vote> vote(unsigned mask, const std::vector<int>& predicates);

struct Match {
  unsigned any, all;
  int predicate;
};
template <class T>
std::vector<Match> match(unsigned mask, const std::vector<T>& values);

template <class T>
struct Reduction {
  T add, min, max;
  unsigned bit_and, bit_or, bit_xor;
};
/// Empty if the device lacks these (before sm_80).
template <class T>
std::vector<Reduction<T>> reduce(unsigned mask, const std::vector<T>& values);

/// Each lane writes to shared memory, passes __syncwarp(), and reads its neighbour's word; the odd lanes end before.
std::vector<int> neighbours_after_syncwarp();
std::vector<unsigned> active_masks(int threads);

/// AMD's quad_perm by a shuffle, as the exercise of docs/stages/11a_share_b.md has it: lane i of each four lanes gets the
/// word of lane permutation[i] of the four. A word for each of 32 lanes.
std::vector<float> quad_perm(const std::vector<float>& words, const std::array<int, 4>& permutation);

struct Bits {
  int popc, popcll, clz, clzll, ffs, ffsll;
  unsigned long long brev, brevll;  // no padding, which would be copied without having been written
};
std::vector<Bits> bits(const std::vector<unsigned long long>& values);

enum class Atomic { add, sub, exchange, min, max, increment, decrement, compare_exchange, bit_and, bit_or, bit_xor };
enum class Scope { device, block, system };
template <class T>
struct AtomicResult {
  T global;               ///< the cell that all blocks worked on (Scope::block: one block is launched)
  std::vector<T> shared;  ///< that of each block
  std::vector<T> old;     ///< what each thread was answered for the global cell
};
/// Every thread t of `blocks` * 96 does the operation with operands[t] on a global and on a shared cell, which are
/// `initial` before. compare_exchange: adds, in a loop.
template <class T>
AtomicResult<T> atomic(Atomic operation, Scope scope, int blocks, T initial, const std::vector<T>& operands);

/// Every block writes one number, a fence, and takes a ticket; the last one adds all up.
int sum_by_last_block(int blocks);

/// What each function gave for (a, b, c), in the order of the kernel.
std::vector<float> float_functions(float a, float b, float c);
std::vector<double> double_functions(double a, double b, double c);
std::vector<long long> conversions(float x, double y);
std::vector<long long> integer_functions(int a, int b, long long c, long long d);
std::vector<double> min_max(int a, unsigned b, float c, double d, long long e, unsigned long long f);

/// Sends values of each vector type through global and shared memory, by each kind of load and store, and names the
/// types that did not arrive.
std::vector<std::string> damaged_vector_types();

struct Member {
  unsigned rank, size, meta_rank, meta_size, ballot, match_any, match_all;
  int any, all, shfl, up, down, exclusive;
  int sum, least, greatest, bit_or;
  float product;
};
/// Tiles of `size` threads of a block of 96; values[rank in the block]; odd values vote yes. from_tile: the tiles are
/// cut from tiles of 32.
std::vector<Member> tiles(int size, bool from_tile, const std::vector<int>& values);
/// The coalesced threads of a block of `threads`.
std::vector<Member> coalesced(int threads, const std::vector<int>& values);
/// thread_rank, size, group_index, thread_index and dim_threads of each thread, and its neighbour's rank after sync().
std::vector<unsigned> block_group();

}  // namespace intrinsics
