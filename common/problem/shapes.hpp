// Shapes of problems by name, and the lists of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/problem/spec.hpp"

namespace gemm {

/// Parses "1024" or "333x777x1555" (M x N x K). Throws UsageError.
ProblemSpec parse_shape(const std::string& text);

/// The problems that are measured and committed for every stage (docs/measurements/).
const std::vector<std::string>& standard_shapes();

/// Those of them at which the check is shown to tell right from wrong (with the largest the tests would take too long).
const std::vector<std::string>& calibration_shapes();

/// Cubes from `step` to 4096 in such steps, then to 8192 in steps of 512. Throws UsageError for a step below 16.
std::vector<std::string> sweep_shapes(int step);

/// Ten shapes that nobody has chosen: M, N and K from 200 to 8192, by the seed.
std::vector<std::string> random_shapes(std::uint64_t seed);

}  // namespace gemm
