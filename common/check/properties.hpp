// What must hold of a stage, and the problems on which each property is tried: `check` and the tests go through the same lists.
#pragma once

#include <string>
#include <vector>

#include "common/check/property.hpp"

namespace gemm {

/// Few trials that together take every path, as ./lab mutate measures. The first ones are those whose failures
/// say most.
Property representative(const Stage& stage);

/// Everything: sizes around those of tiles, rectangles, thin shapes, rows that are padded and misaligned, alpha, beta, kinds of
/// numbers, batches, variants; for each type that the stage takes. On the executor smaller than on a GPU.
std::vector<Property> properties(const Stage& stage);

/// The one of them with this name. Throws std::logic_error.
Property property(const Stage& stage, const std::string& name);

}  // namespace gemm
