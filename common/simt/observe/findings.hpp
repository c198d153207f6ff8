// What an inspection has found: what each place of a kernel did to memory, and its mistakes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/language/types.hpp"

namespace simt {

enum class DefectKind {
  shared_race,
  global_race,
  out_of_bounds,
  misaligned,
  host_memory,
  uninitialised_shared,
  uninitialised_global,
  divergent_barrier,
  deadlock,
  bad_mask,
  launch_limit,
  host_access,         ///< the host's code reads or writes device memory
  not_waited,          ///< the host uses memory that queued work uses, too, before it has waited for that work
  stream_race,         ///< two pieces of work that nothing orders, in two streams, use the same memory
  default_stream,      ///< a stage works in a default stream, and was given another
  copy_direction,      ///< the kind of a copy does not fit its pointers
  bad_copy,            ///< a copy or fill beyond its memory, or of memory that is freed
  bad_free,            ///< of what can't be freed, or has been
  ignored_error,       ///< a call has failed, and the program never asked
  leak,                ///< a warning: device memory that nobody has freed
  half_block_barrier,  ///< a warning: not all threads of the block that are still running wait at the same barrier
  unwritten_update,    ///< a warning: an atomic operation on global memory that nobody has written
  wide_shift,          ///< a warning: a shift by as many bits as the number has, or more; a GPU and a CPU differ
  barrier_after_exit,  ///< a warning: some threads of a warp have ended when the others wait at a barrier
};
/// What a report calls it.
const char* title(DefectKind kind);
/// Warnings don't make a kernel wrong.
bool is_warning(DefectKind kind);

/// One of the (at most two) threads that a defect involves.
struct Party {
  bool known = false;
  uint3 block{}, thread{};
  std::uintptr_t pc = 0;  ///< the return address of the access: source_lines.hpp turns it into file and line
  std::string action;     ///< "reads 4 bytes", "wrote", "waits"
  std::string who = {};   ///< "the host", "the kernel add"; empty: a thread of a block
};

struct Defect {
  DefectKind kind;
  std::string kernel;  ///< empty: the host's own
  std::string where;   ///< the memory concerned: "as + 132 (of 4096 bytes)"
  Party one, other;
  std::string text() const;  ///< all of it on one line, with files and lines
};

/// What one place in a kernel did to memory, summed over all warps of a launch.
struct SiteCounts {
  std::uintptr_t pc = 0;
  bool shared = false, store = false, atomic = false;
  unsigned bytes = 0;            ///< of one lane's access
  std::uint64_t requests = 0;    ///< warp-wide accesses
  std::uint64_t lanes = 0;       ///< single accesses, summed over the lanes of all requests
  std::uint64_t sectors = 0;     ///< global: 32-byte sectors
  std::uint64_t lines = 0;       ///< global: 128-byte lines
  std::uint64_t wavefronts = 0;  ///< data banks: shared memory, and L1 if everything hits
  std::uint64_t conflicts = 0;   ///< wavefronts that other addresses would have saved
};

/// One launch of one kernel; or all its launches with the same grid, block and dynamic shared memory, in sum.
struct KernelObservation {
  std::string kernel;
  dim3 grid, block;
  std::size_t dynamic_shared = 0, static_shared = 0;
  std::vector<SiteCounts> sites;
  std::uint64_t barriers = 0;  ///< block-wide, summed over blocks
  /// How often each basic block of the kernel's machine code ran: fma_count.hpp makes FMAs of it.
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> block_runs;
  std::uint64_t tensor_flops = 0;
  std::uint64_t launches = 1;
  /// How many blocks of each launch ran, if only a sample did: the numbers are extrapolated from them. 0: all ran.
  std::uint64_t sampled_blocks = 0;
};

struct InspectionResult {
  std::vector<KernelObservation> kernels;  ///< in order of launch
  std::vector<Defect> defects;             ///< each kind and place once, in the order found
};

}  // namespace simt
