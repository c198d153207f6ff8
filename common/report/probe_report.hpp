// What probes (common/problem/probe_registry.hpp) are given and give back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/backend/timing.hpp"
#include "common/problem/probe_registry.hpp"
#include "common/report/json.hpp"
#include "common/toolchain/sass.hpp"

namespace gemm {

/// What predictions are made from: this device as measured in this run; without one an H200, as measured for the
/// documents (docs/measurements/nvidia-h200/tsm_d.json).
struct Machine {
  std::string name = "an H200, as measured before";
  int sm_count = 132;
  double read_gbs = 4557, latency_ns = 336.5, dfma_gflops = 33160;
  double copy_gbs = 4201, launch_us = 4.04;
  double scale_gbs = 4225;  ///< an array read and one written, by short-lived blocks; measured before there was a probe

  /// Where an SM has 64 FP64 lanes: the clock at which they would give dfma_gflops.
  double ghz() const { return dfma_gflops / (2.0 * 64 * sm_count); }
};

struct ProbeRun {
  Machine machine;
  bool time = false;  ///< else run little, and only check what was computed
  int sm_count = 4;   ///< of the device that it runs on
};

struct ProbeReport {
  Json settings = Json::object();
  Json results = Json::array();                 ///< each with a "status": pass, fail, skip, or another word
  std::vector<std::vector<std::string>> table;  ///< for people, the head first
  std::string text;                             ///< sentences below it
};

/// A number as text: with so many significant digits, or so many behind the point.
std::string significant(double x, int digits = 4);
std::string decimals(double x, int digits);

/// time_ms and state, as in the results of stages.
void add_times(Json& result, const TimingRun& run);

/// About 20 ms of samples of one kernel.
TimingRun time_probe(const Work& work);

/// What nvcc makes of a probe's kernels (common/toolchain/sass.hpp). Throws UsageError if there is no nvcc or no
/// nvdisasm, and std::runtime_error if it fails.
std::vector<CompiledKernel> compile_probe(const std::string& file);

}  // namespace gemm
