// Part of cooperative_groups.h: all threads of a launch. Not a header of CUDA's.
#pragma once

#include "common/simt/language/language.hpp"

namespace cooperative_groups {

/// All threads of the grid. To synchronize they must all be resident, which only a cooperative launch sees to.
class grid_group {
 public:
  static bool is_valid() { return simt::is_cooperative(); }
  SIMT_INLINE static void sync() { simt::grid_barrier(); }
  /// Here nobody is counted before the wait, so who writes in between what others read after it is not found out.
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  SIMT_INLINE static void barrier_wait(arrival_token&&) { simt::grid_barrier(); }

  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_threads() { return num_blocks() * threads_of_block(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    return block_rank() * threads_of_block() + in_block;
  }

 private:
  static unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
};

inline grid_group this_grid() {
  return {};
}

}  // namespace cooperative_groups
