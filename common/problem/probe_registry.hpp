// Probes: small kernels that measure what the hardware does, on which predictions rest. They solve no GEMM, so they
// are no stages; a probe adds itself with one ProbeRegistration in its own file, and `gemm probe` finds it here. A probe
// may have a number among the stages (tensorcore/NN_name.cu): then it is built and named as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gemm {

struct ProbeRun;
struct ProbeReport;

/// An option of its own on the command line: a number in a range, one of some words, or a flag.
struct ProbeOption {
  std::string name, description;
  int* number = nullptr;
  int least = 0, most = 0;
  std::string* word = nullptr;
  std::vector<std::string> words = {};
  bool* flag = nullptr;
};

struct ProbeInfo {
  std::string_view idea;  ///< one line
  std::vector<ProbeOption> options = {};
  ProbeReport (*run)(const ProbeRun&) = nullptr;
};

struct Probe : ProbeInfo {
  std::string name;    ///< its file's, without .cu; of a numbered one the id, as stages have it: tensorcore/NN_name
  std::string number;  ///< tensorcore/NN, which `gemm probe` takes, too; empty without a number
  std::string file;
};

/// All registered probes, sorted by name.
const std::vector<Probe>& all_probes();

/// The numbered probe with this id, or this family and number; null if there is none.
const Probe* find_numbered_probe(std::string_view id);

struct ProbeRegistration {
  ProbeRegistration(const char* file, const ProbeInfo& info);
};

}  // namespace gemm
