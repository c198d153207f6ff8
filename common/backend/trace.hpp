// Each access of a stage's warps to memory, one by one, as the CPU executor counts them: for `trace`.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/kernel/status.hpp"

namespace gemm {

/// What lies at an address: a matrix, an array in shared memory, or other memory.
struct TraceObject {
  enum class Kind { matrix, shared, memory };
  Kind kind = Kind::memory;
  std::string name;
  std::int64_t rows = 0, cols = 0, ld = 0;  ///< of a matrix, in elements
  std::size_t element_bytes = 0;            ///< of a matrix
  std::size_t bytes = 0;                    ///< of what is no matrix
  unsigned in_line = 0;                     ///< where in a line of 128 bytes, or a row of banks, it begins
};

/// A place in the code that accesses memory in one way.
struct TraceSite {
  std::vector<std::pair<std::string, int>> lines;  ///< file and line, and from where that was called if it was inlined
  bool shared = false, store = false, atomic = false, async = false;
  unsigned bytes = 0;  ///< of one lane's access
};

/// One access of a warp.
struct TraceRequest {
  static constexpr unsigned lanes = 32;
  std::uint32_t block = 0;     ///< index in AccessTrace::blocks
  std::uint32_t warp = 0;      ///< of the block
  std::uint32_t barriers = 0;  ///< that the block has passed before
  std::uint32_t site = 0;      ///< index in AccessTrace::sites
  std::uint32_t mask = 0;
  std::array<std::uint32_t, lanes> object{};  ///< of each lane in the mask: index in AccessTrace::objects
  std::array<std::int64_t, lanes> offset{};   ///< and bytes from the object's first
  std::uint32_t sectors = 0, lines = 0, wavefronts = 0, conflicts = 0;
  /// The wavefront that serves a lane, from 0 on, and how many of its phase come before: not 0 in a bank conflict.
  std::array<std::uint8_t, lanes> wavefront{}, turn{};
  /// Of a store to shared memory: the index in AccessTrace::objects of what its words are from. Of cp.async that is
  /// exact; else it is what the warp loaded last on the same line. -1: not known, or another access.
  std::int64_t source = -1;
};

/// A block of the launch.
struct TraceBlock {
  std::uint64_t index = 0;     ///< linear, in the grid
  std::uint64_t requests = 0;  ///< all that it made; the trace has the first of them
  std::uint64_t barriers = 0;  ///< before its last request
};

struct AccessTrace {
  std::string kernel;
  int launch = 0, launches = 0;  ///< which of the stage's launches, from 1 on, and how many there are
  dim3 grid, block;
  std::size_t dynamic_shared = 0, static_shared = 0;
  std::vector<TraceObject> objects;
  std::vector<TraceSite> sites;
  std::vector<TraceBlock> blocks;
  std::vector<TraceRequest>
      requests;  ///< in the order of the executor: a block's warps one after another between barriers
  std::vector<std::string> defects, warnings;
};

struct TraceChoice {
  int launch = 0;  ///< which of the stage's, from 1 on; 0: that of the most work on Tensor Cores, else of most accesses
  bool all_blocks = false;
  std::vector<std::string> blocks;  ///< "5": linear, or "1,2" or "1,2,0": x, y, z; none: the first
  std::uint64_t requests = 20000;   ///< of a block, at most
};

/// Watches one launch of a stage with this id. Throws UsageError if the stage refuses the problem, or there is no such
/// launch or block; StageError if its host code throws, or a defect leaves nothing to show; DeviceError on a GPU.
AccessTrace trace_accesses(const std::string& id, const std::function<Status()>& launch, const TraceChoice& choice);

}  // namespace gemm
