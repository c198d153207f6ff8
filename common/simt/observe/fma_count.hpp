// How many fused multiply-adds a kernel has executed: g++'s instrumentation counts how often each basic block ran, and
// the disassembly of the block (objdump, which comes with g++) tells how many it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simt/observe/inspection.hpp"

namespace simt {

/// One FMA instruction, and how often lanes executed it.
struct FmaSite {
  std::uintptr_t pc = 0;  ///< one byte past the instruction's start: source_lines.hpp takes it as a return address
  unsigned bits = 32;
  std::uint64_t lanes = 0;
};

struct FmaCount {
  bool known = false;  ///< false if this build or machine can't tell (no FMA instructions, no objdump)
  std::vector<FmaSite> sites;
  std::uint64_t total(unsigned bits) const;
};

FmaCount count_fmas(const KernelObservation& kernel);

}  // namespace simt
