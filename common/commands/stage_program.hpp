// The main function of a single stage's program.
#pragma once

#include "common/problem/registry.hpp"

namespace gemm {

/// The main function of a single stage's executable: one problem, or with the word `ladder` first the stage's part of a
/// ladder, for ladder_program().
int stage_program(const Stage& stage, int argc, char** argv);

}  // namespace gemm
