// The GPU that the documents measure on: how fast each stage is there, as it was measured, and what the counts of the CPU
// executor predict for it. All of it is from docs/measurements/reference.json, which ./lab pages makes of the measurements.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/measure/roofline.hpp"

namespace gemm {

struct ReferenceGpu {
  std::string device;   ///< "NVIDIA H200"
  std::string library;  ///< "cuBLAS 13.1.0"
  int sm_count = 0;
  Ceilings ceilings;  ///< as probes measured them there
  /// With so many bytes of loads in flight, of an SM, a probe had so many GB/s; fewest bytes first. Of one that reads, and
  /// of one that writes as much as it reads: GB/s of both.
  using InFlight = std::vector<std::pair<double, double>>;
  InFlight reading, scaling;

  /// A straight line between two of these, and beyond the last one no more.
  static double gbs_with(const InFlight& points, double bytes);
};

/// Null if the file is not there.
const ReferenceGpu* reference_gpu();

/// The problem of this kind that is compared: large enough to fill the GPU. Nothing if none was measured; of tall & skinny
/// products there is one for each of some widths.
std::optional<ProblemSpec> reference_problem(const std::string& stage, const ProblemSpec& spec);

struct ReferenceSpeed {
  double gflops = 0;
  std::optional<double> percent_of_library;
};
/// Of a stage on the reference problem. Nothing for a problem that differs from it in more than its sizes, such as one
/// with padded rows.
std::optional<ReferenceSpeed> measured_on_reference(const std::string& stage, const ProblemSpec& spec);

/// Of the machine code that nvcc makes of a stage, for one of Counts::steps() on the reference problem.
struct RecordedCode {
  double instructions = 0;  ///< that a warp is issued
  double shared_loads = 0;  ///< of these; fewer than the source has where nvcc merges some
};
/// Nothing where there is no record, or the stage's file has changed since.
std::optional<RecordedCode> recorded_code(const Stage& stage, const ProblemSpec& spec);

/// The time of the reference problem, from the counts of another one.
struct Prediction {
  struct Part {
    std::string name;  ///< of a unit, "device memory", "latency" or "launch"
    double ms;
  };
  std::vector<Part> parts;  ///< how long each takes alone
  double least_ms = 0;      ///< if all is hidden behind what takes longest
  double most_ms =
      0;  ///< if operands come first and then they are multiplied: the data banks and the schedulers take turns
  std::string by;  ///< the part that most of most_ms is
};
std::optional<Prediction> predicted_on_reference(const Stage& stage, const ProblemSpec& spec, const Counts& counts);

}  // namespace gemm
