// Kinds of fragments, as tensorcore/04_fragment_map.cu has found their maps: compared, shown, and as JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/report/probe_report.hpp"

namespace gemm::fragments {

/// An element's row and column in the matrix.
struct Place {
  int row = 0, col = 0;

  bool operator==(const Place&) const = default;
};

/// Lists of places: of all elements of x[] of lane 0, then of lane 1 ...
struct Kind {
  std::string description;  ///< as wmma_ext has it: "wmma matrix_a 16x16x16 f16 row_major"
  int rows = 0, cols = 0;   ///< of the matrix
  int held = 0;             ///< elements of the matrix in a lane
  int elements = 0;         ///< of x[], which may hold each of them more than once
  int registers = 0;        ///< of 32 bits a lane, for x[]
  int needs = 75;           ///< compute capability, times 10
  std::vector<Place> table, documented;
  std::function<std::vector<Place>()> discover;  ///< throws DeviceError

  /// Short, for options and JSON: a_f16_16x16x16_row; for mma.sync, where the order says nothing, a_f16_16x8x16.
  std::string name() const;
};

std::vector<std::string> names(const std::vector<Kind>& kinds);

/// The first place that was found elsewhere than `whose` list says; empty if there is none.
std::string difference(const std::vector<Place>& found, const std::vector<Place>& expected, int elements,
                       const std::string& whose);

/// Discovers all kinds that this device has, and compares them with both lists; runs check_tiles (empty: right);
/// compares registers of wmma and mma.sync. The text shows the map of the kind `shown`.
ProbeReport report(const std::vector<Kind>& kinds, std::string (*check_tiles)(), const std::string& shown);

}  // namespace gemm::fragments
