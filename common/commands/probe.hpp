// Runs probes.
#pragma once

#include <string>

#include "common/problem/probe_registry.hpp"

namespace CLI {
class App;
}

namespace gemm {

struct ProbeRequest {
  std::string json;
  bool time = false;   ///< there must be a GPU
  bool check = false;  ///< no times, even where there is one
};

/// Runs a probe, and reports: its table, and its JSON in a file. Returns the exit status. Throws UsageError and
/// DeviceError.
int run_probe(const Probe& probe, const ProbeRequest& request, const std::string& command);

/// What `gemm probe NAME`, and the executable of a numbered probe, offer.
void add_probe_options(CLI::App& app, const Probe& probe, ProbeRequest& request);

}  // namespace gemm
