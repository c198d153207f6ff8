// What a kernel's code asks the executor: where its thread stands, and to wait for the others. Implemented in run/.
#pragma once

#include "common/simt/language/types.hpp"

namespace simt {

/// threadIdx, blockIdx, blockDim and gridDim of the running fiber. They never change within a fiber, hence `const`: g++
/// may look them up once per kernel. By value and in registers, which a uint3 would not be, so that reading them is no
/// access to memory.
struct Index3 {
  unsigned x, y, z;
};
[[gnu::const]] Index3 thread_place() noexcept;
[[gnu::const]] Index3 block_place() noexcept;
[[gnu::const]] dim3 block_size() noexcept;
[[gnu::const]] dim3 grid_size() noexcept;

[[gnu::always_inline]] inline uint3 thread_index() noexcept {
  const Index3 place = thread_place();
  return {place.x, place.y, place.z};
}
[[gnu::always_inline]] inline uint3 block_index() noexcept {
  const Index3 place = block_place();
  return {place.x, place.y, place.z};
}

/// Whether the calling code runs in a kernel.
bool on_device() noexcept;

/// __syncthreads(): lets every other thread of the block run until it waits too, or has ended.
void barrier();
/// __syncthreads_and(), _or() and _count(): the same, and what all threads' predicates come to.
int barrier_and(int predicate);
int barrier_or(int predicate);
int barrier_count(int predicate);

/// The barrier of a tile of `size` threads of the block, which may be several warps. `offer` is the calling thread's to
/// give: the others can fetch bytes from there, until it offers something else; it must stay until they have.
void tile_barrier(unsigned size, const void* offer = nullptr);
/// What the thread of this number in the block offers.
void fetch_offer(unsigned thread, void* to, unsigned bytes);

/// grid_group::sync(): the same for all blocks of a cooperative launch; in any other, a mistake that ends the launch.
void grid_barrier();
bool is_cooperative() noexcept;
/// The thread has nothing to do at present, as in __nanosleep(): others go first.
void give_way();

}  // namespace simt
