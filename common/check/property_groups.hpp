// The properties of each family of stages (properties.hpp).
#pragma once

#include <initializer_list>
#include <vector>

#include "common/backend/device.hpp"
#include "common/check/properties.hpp"

namespace gemm {

inline bool on_gpu() {
  return open_device().gpu;
}

inline void add(Property& property, const Stage& form, std::initializer_list<ProblemSpec> specs) {
  for (const ProblemSpec& spec : specs) property.trials.push_back({&form, spec});
}

Property distributions(const Stage& stage, const std::vector<ProblemSpec>& specs);

// Each without a name: a few problems that together take every path.
Property representative_gemm(const Stage& stage);
Property representative_tall(const Stage& stage);

std::vector<Property> properties_of_gemm(const Stage& stage);
std::vector<Property> properties_of_tall(const Stage& stage);

}  // namespace gemm
