// What the probes of the FP64 units have in common: loops of DFMAs among other instructions, checked, timed in cycles,
// and set beside what four hypotheses make of them.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/kernel/launch_log.hpp"
#include "common/kernel/status.hpp"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"

namespace gemm::probes {

/// A loop, and what there is in a round of it, for a thread.
struct Loop {
  Json about;                       ///< what results say of it: its name and parameters
  int fmas = 0, others = 0;         ///< instructions in a round
  int loads_64 = 0, loads_128 = 0;  ///< those of the others that load from shared or device memory, by bits
  double other_cycles = 0;          ///< of an SM, that the others of a warp take in a round, if nothing else runs
  double operands = 2;              ///< of an FMA that the one before did not have, as the source orders them
  const void* kernel = nullptr;
  std::string kernel_name;  ///< its name and the numbers among its template arguments: "mix 1 4 1"
  /// Parameters: rounds, data, a sum for each thread, cycles for each block.
  std::function<Status(const LaunchShape&, int, const double*, double*, long long*)> launch;
  std::function<double(int thread, int rounds)> right;  ///< a thread's sum, bit for bit
};

/// Numbers in [1/2, 1), the same each time.
const std::vector<double>& loop_data();

/// Checks each loop, and times it with 4, 8 and 16 warps an SM. With the option, a result says what nvcc has made of
/// the loop, too (of `file`, the probe's).
ProbeReport run_loops(const ProbeRun& run, const std::vector<Loop>& loops, const std::string& file);
/// --sass, of probes that run loops.
ProbeOption machine_code_option();

/// A loop in machine code.
struct LoopCode {
  int fmas = 0, loads_64 = 0, loads_128 = 0, adds = 0, moves = 0, rest = 0;  ///< rest: counter, branch, addresses
  double operands = 0;  ///< 64-bit register operands of a DFMA that the DFMA before did not have, on average
  double reused = 0;    ///< operands of a DFMA that carry .reuse, on average
  /// Of a scheduler for a round, if registers give it 64 bits for each lane in a cycle. A DFMA takes two cycles, or as
  /// many as it has operands that the one before did not keep by .reuse; an addition half a cycle for each register
  /// that it reads, a load or a move one, in cycles that the DFMA leaves.
  double port_cycles = 0;
  int registers = 0, spilled = 0;
};
/// Of the instructions of a loop, as nvdisasm prints them; registers and spilled remain 0.
LoopCode read_loop(const std::vector<std::string>& code);
/// Of each kernel, by Loop::kernel_name; for sm_90a. Throws as compile_probe does.
std::map<std::string, LoopCode> machine_code(const std::string& file);

}  // namespace gemm::probes
