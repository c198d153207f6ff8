#include "common/check/properties.hpp"

#include <stdexcept>
#include <utility>

#include "common/check/property_groups.hpp"

namespace gemm {
namespace {

ProblemSpec of_distribution(ProblemSpec spec, Distribution distribution) {
  spec.distribution = distribution;
  return spec;
}

void set_type(Property& property, const Stage& stage) {
  for (Trial& trial : property.trials) trial.spec.type = stage.type.value_or(trial.spec.type);
}

}  // namespace

Property distributions(const Stage& stage, const std::vector<ProblemSpec>& specs) {
  Property all{"numbers", "within its bound for small, large and mixed numbers"};
  for (const auto d : {Distribution::positive, Distribution::normal, Distribution::integers, Distribution::wide,
                       Distribution::tiny, Distribution::huge}) {
    const bool fits = stage.type != Type::f16 || (d != Distribution::tiny && d != Distribution::huge);
    if (!fits) continue;  // FP16 has no such numbers
    for (const ProblemSpec& spec : specs) add(all, stage, {of_distribution(spec, d)});
  }
  return all;
}

Property representative(const Stage& stage) {
  Property all = stage.op == Operation::gemm ? representative_gemm(stage) : representative_tall(stage);
  all.name = "representative";
  all.says = "right on a few problems that take every path";
  set_type(all, stage);
  return all;
}

std::vector<Property> properties(const Stage& stage) {
  std::vector<Property> all = stage.op == Operation::gemm ? properties_of_gemm(stage) : properties_of_tall(stage);
  for (Property& property : all) set_type(property, stage);
  return all;
}

Property property(const Stage& stage, const std::string& name) {
  for (Property& each : properties(stage)) {
    if (each.name == name) return std::move(each);
  }
  throw std::logic_error("no property " + name);
}

}  // namespace gemm
