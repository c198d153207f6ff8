// The device that the executor says it is: what a program that asks is told, and how many blocks are resident together.
#pragma once

#include <algorithm>
#include <cstddef>

namespace simt::virtual_device {

/// A small GPU, so that small problems take all the ways that large ones take on a large GPU.
inline constexpr unsigned multiprocessors = 4;
inline constexpr unsigned threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
inline constexpr unsigned warps_per_multiprocessor = threads_per_multiprocessor / 32;
/// In bytes, as on sm_90: the system takes some of each block's.
inline constexpr std::size_t shared_per_multiprocessor = 228 * 1024, shared_of_system = 1024;

/// Resident blocks per multiprocessor, given the threads and the bytes of shared memory of a block.
constexpr unsigned resident_blocks(unsigned threads, std::size_t shared_bytes) {
  const unsigned warps = std::max((threads + 31) / 32, 1u);
  const auto by_shared = static_cast<unsigned>(shared_per_multiprocessor / (shared_bytes + shared_of_system));
  return std::min({blocks_per_multiprocessor, warps_per_multiprocessor / warps, by_shared});
}

}  // namespace simt::virtual_device
