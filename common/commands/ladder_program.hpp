// The main function of the program `ladder`, for its programs of single stages.
#pragma once

#include "common/commands/ladder_programs.hpp"

namespace gemm {

/// The main function of the ladder over programs of single stages, which run_programs() runs.
int ladder_program(int argc, char** argv, ProgramResults (*run_programs)(const LadderOptions&));

}  // namespace gemm
