// Options that several commands have.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/backend/timing.hpp"
#include "common/problem/spec.hpp"

namespace CLI {
class App;
}

namespace gemm {

/// --type s|h|d|z. Throws UsageError for others.
void add_type_option(CLI::App& app, std::optional<Type>& type);

/// Makes it a problem of this operation and type; without a type, of the first that the operation has here. Throws
/// UsageError if it does not have this one.
void set_kind(ProblemSpec& spec, Operation op, std::optional<Type> type);

/// --timeout: seconds that a stage may take for a launch, 60 by default; for set_stages_apart().
void add_timeout_option(CLI::App& app, double& seconds);

/// --cache --seconds --back-to-back
void add_timing_options(CLI::App& app, TimingOptions& timing);

/// --tile-m --tile-n --transposed --leapfrog --unroll --reduction --c-source --threads-per-row --threads, for stages
/// that generate their kernels, and --kernel-cache.
void add_kernel_options(CLI::App& app, KernelOptions& options);

/// --type d, z or dz: double, double complex, or both (the default).
void add_types_option(CLI::App& app, std::vector<Type>& types);

/// Widths of tall & skinny matrices: "16" is 16 x 16, "16x8" M x N, "1-64" each of 1 x 1 to 64 x 64. Throws UsageError.
std::vector<std::pair<int, int>> parse_sizes(const std::vector<std::string>& texts);

}  // namespace gemm
