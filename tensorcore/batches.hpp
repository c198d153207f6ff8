// Many small problems of one kind at once, solved in several ways: each result checked, and speeds over the size of the
// batch. For probes (tensorcore/05_scan.cu and later).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/kernel/status.hpp"
#include "common/report/probe_report.hpp"

namespace gemm::batches {

/// One way of solving them.
struct Form {
  std::string name;
  std::function<Status(std::int64_t count)> launch;  ///< enqueues it for so many; empty: it can't be had here
  std::string reason;                                ///< why not
  const void* kernel = nullptr;                      ///< whose registers are reported
};

/// Problems of one kind, `count` being how many of them.
struct Task {
  std::string name;             ///< "rows of 16"
  double bytes = 0, flops = 0;  ///< of one problem: read and written at least; flops of the Tensor Cores
  std::vector<Form> forms;
  std::string base;  ///< the form that the others' speeds are compared with
  /// New inputs, all whole numbers or all from [-1, 1). Throws OutOfDeviceMemory.
  std::function<void(std::int64_t count, bool whole)> fill;
  std::function<void(std::int64_t count)> clear;         ///< fills the results with NaN
  std::function<std::string(std::int64_t count)> check;  ///< empty if every result is right, else what is wrong
};

/// Runs each form of each task on batches of these sizes, on whole numbers and on others, and checks every result; on a
/// GPU times them in turns, too, with a warm cache, and checks again. A result for each task, size and form, with part
/// "batch": task, form, batch, bytes, flops, predicted_ms (of reading and writing at the copy's speed, or of a launch),
/// registers, status, reason; timed: time_ms, state, gbs, pct_copy, speedup (over `base`); on the executor: counts.
void measure(const ProbeRun& run, const std::vector<Task>& tasks, const std::vector<std::int64_t>& sizes,
             ProbeReport& report);

/// What nvcc makes of the kernels in a file whose names begin with `prefix`: a result for each with part "code", kernel,
/// registers, spilled (bytes), local (bytes of a thread: arrays and spilled registers), shared (bytes of a block),
/// instructions (of the kernel), loop_instructions (of the loop that multiplies, 0 if none does) and accesses: shared
/// and global memory instructions by class. Throws UsageError where there is no nvcc or no nvdisasm.
void add_code(const std::string& file, const std::string& prefix, ProbeReport& report);

}  // namespace gemm::batches
