// Many problems and kernels in one process, from a file: what the autotuner and the experiments measure with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/evaluate.hpp"

namespace gemm {

struct BatchOptions {
  std::string cases;  ///< a file of JSON lines, - for standard input (docs/concepts/batch.md)
  std::string out;    ///< JSON lines, too; what is in there already is not run again
  EvaluateOptions evaluate;
  bool compile_only = false;
  std::string target;     ///< to compile for
  std::string part = "";  ///< "2/4": to compile, the second fourth of all cases
};

/// Runs the cases, in their order; those with the same problem, one after another, share its data and its reference.
/// Each result is written before the next case begins. Returns the exit status. Throws UsageError and DeviceError.
int run_batch(const BatchOptions& options, const std::string& command);

struct CandidateOptions {
  std::vector<const Stage*> stages;  ///< of one operation, all generate their kernels
  std::vector<std::pair<int, int>> sizes;
  std::vector<Type> types;
  KernelOptions kernel;  ///< what is settled
  Search search = Search::promising;
  int most = 0;        ///< of a stage for each size; 0: all
  double mib = 1024;   ///< of A, which says what K is
  std::int64_t k = 0;  ///< or K itself
};

/// Prints cases for run_batch: the kernels that there can be, best first by their stages' models, whose cycles are in
/// the tag; sorted by problem.
void print_candidates(const CandidateOptions& options);

}  // namespace gemm
