// What a stage declares of its inner loop against what the executor counts.
#pragma once

#include <string>

#include "common/problem/registry.hpp"
#include "common/problem/spec.hpp"

namespace gemm {

/// Compares StageInfo::l1_cycles, of a stage that has it, with the counts of this problem. Loads from shared memory are the inner
/// loop's alone, so they must agree; filling tiles, edges and the epilogue are counted on top, within a share. Empty if they
/// agree, else how they differ. Needs the CPU executor; throws DeviceError.
std::string declared_wrongly(const Stage& stage, const ProblemSpec& spec);

/// The same of Emulation::usual, of a stage that has a choice. On this problem, whose numbers are of about one size.
std::string chosen_wrongly(const Stage& stage, const ProblemSpec& spec);

}  // namespace gemm
