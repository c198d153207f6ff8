// Counts as text, one line for the whole and one for each line of source: what count_at_levels.py compares.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "common/backend/counts.hpp"

namespace gemm {

inline void print_counts(const std::string& what, const Counts& counts) {
  std::printf("counts %s", what.c_str());
  const std::pair<const char*, const AccessCounts&> kinds[] = {
      {"global_load", counts.global_load},     {"global_store", counts.global_store},
      {"shared_load", counts.shared_load},     {"shared_store", counts.shared_store},
      {"global_atomic", counts.global_atomic}, {"shared_atomic", counts.shared_atomic},
  };
  const auto print = [](const char* kind, const char* what, std::uint64_t n) {
    if (n) std::printf(" %s%s=%llu", kind, what, static_cast<unsigned long long>(n));
  };
  for (const auto& [kind, c] : kinds) {
    print(kind, ".requests", c.requests);
    print(kind, ".lanes", c.lanes);
    print(kind, ".bytes", c.bytes);
    print(kind, ".sectors", c.sectors);
    print(kind, ".lines", c.lines);
    print(kind, ".wavefronts", c.wavefronts);
    print(kind, ".conflicts", c.conflicts);
  }
  print("", "fma32", counts.fma32.value_or(0));
  print("", "fma64", counts.fma64.value_or(0));
  print("", "tensor_flops", counts.tensor_flops);
  print("", "barriers", counts.barriers);
  print("", "blocks", counts.blocks);
  print("", "threads", counts.threads);
  print("", "shared_bytes", counts.shared_bytes);
  std::printf("\n");
}

/// Nothing on a GPU.
inline void print_counts(const Observation& observation) {
  if (const auto counts = counts_of(observation)) print_counts("total", *counts);
  for (const LineCounts& line : line_counts_of(observation)) {
    print_counts(line.file + ":" + std::to_string(line.line), line.counts);
  }
}

}  // namespace gemm
