#include "common/problem/registry.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "common/problem/probe_registry.hpp"
#include "common/problem/stage_id.hpp"

namespace gemm {
namespace {

// A function-local static: registrations run before main, in no particular order among files.
std::vector<Stage>& storage() {
  static std::vector<Stage> all;
  return all;
}

std::map<std::string, std::vector<Stage>, std::less<>>& variant_storage() {
  static std::map<std::string, std::vector<Stage>, std::less<>> all;  // by the stage's id
  return all;
}

void add(const char* file, Stage stage, const std::vector<Stage>& variants) {
  stage.id = stage_id_from_path(file);
  stage.file = file;
  const std::string_view name = std::string_view(stage.id).substr(stage.id.find('/') + 1);
  stage.number = name.substr(0, name.find('_'));
  const std::string family = stage.id.substr(0, stage.id.find('/') + 1);
  if (!stage.base.empty()) stage.base = family + stage.base;  // StageInfo has the number
  auto& all = storage();
  const auto at = std::ranges::lower_bound(all, stage.id, {}, &Stage::id);
  if (at != all.end() && at->id == stage.id) throw std::logic_error("two stages are called " + stage.id);
  std::vector<Stage>& forms = variant_storage()[stage.id];
  for (Stage form : variants) {
    const std::string suffix = ":" + form.id;
    form.id = stage.id + suffix;
    form.number = stage.number + suffix;
    form.base = family + stage.number;
    form.file = file;
    if (std::ranges::find(forms, form.id, &Stage::id) != forms.end())
      throw std::logic_error("two variants are called " + form.id);
    forms.push_back(std::move(form));
  }
  all.insert(at, std::move(stage));
}

// What a stage with this launch computes.
Operation operation_of(const Launch& launch) {
  if (launch.tsmttsm_d || launch.tsmttsm_z) return Operation::tsmttsm;
  return launch.tsmm_d || launch.tsmm_z ? Operation::tsmm : Operation::gemm;
}

// Empty: double and double complex.
std::optional<Type> type_of(const Launch& launch) {
  if (launch.sgemm) return Type::f32;
  if (launch.hgemm) return Type::f16;
  return {};
}

Status launch_kind(const Launch& launch, const Problem& problem, cudaStream_t stream) {
  const auto call = [&](auto function) {
    return function ? function(problem, stream) : Status::unsupported("not for numbers of this type");
  };
  const bool is_double = problem.type == Type::f64;
  switch (problem.op) {
    case Operation::gemm:
      return problem.type == Type::f16 ? call(launch.hgemm) : call(launch.sgemm);
    case Operation::tsmttsm:
      return is_double ? call(launch.tsmttsm_d) : call(launch.tsmttsm_z);
    case Operation::tsmm:
      return is_double ? call(launch.tsmm_d) : call(launch.tsmm_z);
  }
  return Status::unsupported("not for this product");
}

std::function<Status(const Problem&, cudaStream_t)> launch_of(const Launch& launch) {
  return [launch](const Problem& problem, cudaStream_t stream) {
    if (const std::string why = foreign_options(problem.op, problem.kernel); !why.empty())
      return Status::unsupported(why);
    return launch_kind(launch, problem, stream);
  };
}

}  // namespace

Registration::Registration(const char* file, const StageInfo& info) {
  Stage stage;
  stage.idea = info.idea;
  stage.base = info.base;
  stage.op = operation_of(info.launch);
  stage.type = type_of(info.launch);
  stage.emulation = info.emulation;
  stage.batch = info.batch;
  stage.accuracy = info.accuracy;
  stage.min_compute_capability = info.min_compute_capability;
  stage.l1_cycles = info.l1_cycles;
  stage.launch = launch_of(info.launch);
  stage.workspace_bytes = info.workspace_bytes;
  stage.workspace_zeros = info.workspace_zeros;
  stage.waits = info.waits;
  stage.generated = info.generated;
  std::vector<Stage> variants;
  for (const Variant& variant : info.variants) {
    Stage form = stage;
    form.id = variant.name;
    form.idea = variant.idea;
    form.launch = launch_of(variant.launch);
    form.l1_cycles = variant.l1_cycles;
    form.accuracy = variant.accuracy.value_or(info.accuracy);
    form.emulation = variant.emulation.value_or(info.emulation);
    variants.push_back(std::move(form));
  }
  add(file, std::move(stage), variants);
}

const std::vector<Stage>& variants(const Stage& stage) {
  return variant_storage()[stage.id];
}

const std::vector<Stage>& stages() {
  return storage();
}

std::string_view family_of(const Stage& stage) {
  return std::string_view(stage.id).substr(0, stage.id.find('/'));
}

std::vector<const Stage*> stages_for(Operation op, Type type, std::string_view family) {
  if (family.empty() && op == Operation::gemm && type == Type::f32) family = "sgemm";
  std::vector<const Stage*> found;
  for (const Stage& stage : stages()) {
    const bool fits = stage.op == op && (!stage.type || stage.type == type);
    if (fits && (family.empty() || family_of(stage) == family)) found.push_back(&stage);
  }
  return found;
}

std::string foreign_options(Operation op, const KernelOptions& options) {
  if (op == Operation::tsmm && options.of_tsmttsm())
    return "tiles, order of columns, leapfrogging and reductions are options of TSMTTSM, and this is TSMM";
  if (op == Operation::tsmttsm && options.of_tsmm())
    return "the source of C and the threads of a row are options of TSMM, and this is TSMTTSM";
  return {};
}

std::string kernel_refusal(const Stage& stage, int m, int n, bool is_complex, const KernelOptions& complete) {
  const std::string foreign = foreign_options(stage.op, complete);
  return foreign.empty() ? stage.generated.refusal(m, n, is_complex, complete) : foreign;
}

const Stage& find_stage(std::string_view name) {
  const std::string wanted =
      name.find('/') == std::string_view::npos ? "sgemm/" + std::string(name) : std::string(name);
  const std::string_view base = std::string_view(wanted).substr(0, wanted.find(':'));
  const auto is = [](const Stage& stage, std::string_view id) {
    return stage.id == id || stage.id.substr(0, stage.id.find('/') + 1) + stage.number == id;
  };
  for (const Stage& stage : stages()) {
    if (!is(stage, base)) continue;
    if (base == wanted) return stage;
    for (const Stage& form : variants(stage)) {
      if (is(form, wanted) || form.id == stage.id + wanted.substr(base.size())) return form;
    }
    throw UsageError(stage.id + " has no variant '" + wanted.substr(base.size() + 1) +
                     "'; `list --variants` shows them all");
  }
  if (const Probe* probe = find_numbered_probe(base))
    throw UsageError(probe->name + " solves no GEMM: `probe " + probe->number + "` runs it");
  throw UsageError("no stage '" + std::string(name) + "'; `list` shows them all");
}

}  // namespace gemm
