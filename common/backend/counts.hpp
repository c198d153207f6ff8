// What a kernel does, in numbers that don't depend on a clock: requests, sectors, wavefronts, FMAs. The CPU executor
// counts them; a GPU build leaves that to Nsight Compute.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gemm {

/// Accesses of one kind, summed over all warps. docs/concepts/counts.md explains each with an example.
struct AccessCounts {
  std::uint64_t requests = 0;    ///< warp-wide instructions
  std::uint64_t lanes = 0;       ///< single threads' accesses
  std::uint64_t bytes = 0;       ///< that threads asked for: what a register receives or gives
  std::uint64_t sectors = 0;     ///< global memory: 32-byte sectors, before any cache
  std::uint64_t lines = 0;       ///< global memory: 128-byte lines, a look-up in L1's tags each
  std::uint64_t wavefronts = 0;  ///< cycles of the 32 data banks, of shared memory or of an L1 that always hits
  std::uint64_t conflicts = 0;   ///< wavefronts that other addresses would have saved

  AccessCounts& operator+=(const AccessCounts& other);
};

struct Counts {
  AccessCounts global_load, global_store, shared_load, shared_store, global_atomic, shared_atomic;
  std::optional<std::uint64_t> fma32, fma64;  ///< by lanes; nothing where the build can't count them
  std::uint64_t assumed_fmas = 0;             ///< what the problem takes (M N K), for where FMAs can't be counted
  std::uint64_t tensor_flops = 0;
  bool is_double = false;      ///< the problem is: its Tensor Cores have another peak
  std::uint64_t barriers = 0;  ///< of a block, summed over blocks
  std::uint64_t blocks = 0, threads = 0;
  std::uint64_t shared_bytes = 0;  ///< of a block, static and dynamic

  Counts& operator+=(const Counts& other);

  /// Counted if possible, else assumed. By lanes.
  double fmas() const;
  /// Whether Tensor Cores did most of the work.
  bool on_tensor_cores() const;
  /// What costs are shared out among: warp-wide FMAs; on Tensor Cores products of 16 x 8 x 16, one mma.sync of FP16
  /// each. In double warp-wide FMAs there, too, as plain cores do them: stages of both kinds stand side by side.
  double steps() const;
  /// Floating-point operations that were counted: two for each FMA, and the Tensor Cores'.
  double flops() const;
  /// Floating-point operations per byte between global memory and L1 (sectors), shared memory and registers
  /// (wavefronts, 128 bytes each), and any memory and registers (what threads asked for). Zero bytes give infinity.
  double intensity_global() const;
  double intensity_shared() const;
  double intensity_register() const;

  /// Cycles for which an SM's L1 and shared memory are busy: their data banks give one wavefront a cycle, and four
  /// lines can be looked up (measured: docs/stages/01_naive.md). Atomics are left out.
  double data_cycles() const;
  double tag_cycles() const;
};

/// The counts of one line of source.
struct LineCounts {
  std::string file;
  int line = 0;
  Counts counts;
};

/// What counts_of() and line_counts_of() answer.
struct Account {
  std::optional<Counts> counts;
  std::vector<LineCounts> lines;
};

/// What the back end saw while something ran.
struct Observation {
  std::vector<std::string> defects;   ///< mistakes of the kernels: each makes the run a failure
  std::vector<std::string> warnings;  ///< legal, but worth a look
  double seconds = 0;                 ///< wall time of the run
  /// Different sectors of global memory that a block touched, of the block with the most; 0 where nobody asked.
  std::uint64_t most_sectors_of_a_block = 0;
  std::shared_ptr<const void> detail;  ///< the back end's own, for the functions below
  /// In its place, of kernels that were compiled in another process, and that nobody knows here.
  std::shared_ptr<const Account> account;
};

struct Looking {
  bool in_order = false;  ///< one block after the other, so that of several mistakes the same is always the first
  bool sectors_of_blocks = false;  ///< for Observation::most_sectors_of_a_block; takes time
  bool counts = true;              ///< for counts_of() and line_counts_of(), else only defects are of interest
};

/// Runs something that launches kernels, and looks on.
Observation observe(const std::function<void()>& run, Looking looking = {});

/// Of `count` rows in device memory, each of `bytes` bytes and `stride` bytes behind the one before: the offset of the
/// first byte that no kernel wrote in the last observation, or that the host has written since. Nothing if there is none,
/// and on a GPU, which does not record it.
std::optional<std::int64_t> first_not_by_kernel(const void* rows, std::int64_t count, std::size_t bytes,
                                                std::size_t stride);

/// The stream that a stage is given, while it lives: on the executor another than the default ones, which it must not use
/// then. On a GPU the default stream.
class StageStream {
 public:
  StageStream();
  ~StageStream();
  StageStream(const StageStream&) = delete;
  StageStream& operator=(const StageStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// In a run that is observed, of such rows: as if they were read by what comes next in the stage's stream. What nothing puts
/// in order with that is a defect. Nothing on a GPU.
void read_in_order(const void* rows, std::int64_t count, std::size_t bytes, std::size_t stride);

/// Nothing on a GPU, which has a profiler for this.
std::optional<Counts> counts_of(const Observation& observation);
/// In the order of files and lines.
std::vector<LineCounts> line_counts_of(const Observation& observation);

}  // namespace gemm
