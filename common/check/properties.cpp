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

ProblemSpec box(int m, int n, int k) {
  ProblemSpec spec;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

ProblemSpec tall(Operation op, Type type, int m, int n, std::int64_t k) {
  ProblemSpec spec;
  spec.op = op;
  spec.type = type;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  return spec;
}

ProblemSpec scaled(ProblemSpec spec, double alpha, double beta) {
  spec.alpha = alpha;
  spec.beta = beta;
  return spec;
}

ProblemSpec awkward(ProblemSpec spec) {
  spec.lda = spec.row_a() + 3;
  spec.ldb = spec.n + 5;
  spec.ldc = spec.n + 1;
  spec.offset = 1;
  spec.alpha = 1.5;
  spec.beta = -0.5;
  if (spec.type == Type::c64) {
    spec.alpha_imag = 0.25;
    spec.beta_imag = 0.75;
    spec.conjugate = spec.op == Operation::tsmttsm;
  }
  return spec;
}

ProblemSpec awkward(int m, int n, int k) {
  return awkward(box(m, n, k));
}

ProblemSpec ragged(const Stage& stage, Type type) {
  const bool gemm = stage.op == Operation::gemm;
  // A generating stage has the kernel for these widths already (./lab run), and another one takes seconds to compile.
  const int wide = stage.generated ? 16 : 13;
  ProblemSpec spec = gemm ? box(131, 71, 67) : tall(stage.op, type, stage.generated ? 16 : 7, wide, 301);
  spec.type = type;
  spec = awkward(spec);
  constexpr int widest = 256;  // of all tiles
  spec.lda = spec.row_a() + widest + 3;
  spec.ldb = spec.n + widest + 5;
  spec.ldc = spec.n + widest + 1;
  return spec;
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
