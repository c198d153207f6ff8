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
  auto& all = storage();
  const auto at = std::ranges::lower_bound(all, stage.id, {}, &Stage::id);
  if (at != all.end() && at->id == stage.id) throw std::logic_error("two stages are called " + stage.id);
  std::vector<Stage>& forms = variant_storage()[stage.id];
  for (Stage form : variants) {
    const std::string suffix = ":" + form.id;
    form.id = stage.id + suffix;
    form.number = stage.number + suffix;
    form.file = file;
    if (std::ranges::find(forms, form.id, &Stage::id) != forms.end())
      throw std::logic_error("two variants are called " + form.id);
    forms.push_back(std::move(form));
  }
  all.insert(at, std::move(stage));
}

// Either type of a tall & skinny problem.
template <template <class> class P, class Info>
auto launch_of(const Info& info) {
  return [d = info.launch_d, z = info.launch_z](const Problem& problem, cudaStream_t stream) {
    if (const std::string why = foreign_options(problem.op, problem.kernel); !why.empty())
      return Status::unsupported(why);
    if (problem.type == Type::f64) return d ? d(problem, stream) : Status::unsupported("not for real numbers");
    return z ? z(problem, stream) : Status::unsupported("not for complex numbers");
  };
}

// Adds a stage and its variants. set_own(form, says) sets what each of them says for itself besides its idea; the rest
// of `stage` is set already.
template <class Info, class SetOwn>
void add(const char* file, Stage stage, const Info& info, SetOwn set_own) {
  stage.min_compute_capability = info.min_compute_capability;
  std::vector<Stage> variants;
  for (const auto& variant : info.variants) {
    Stage form = stage;
    form.id = variant.name;
    form.idea = variant.idea;
    set_own(form, variant);
    variants.push_back(std::move(form));
  }
  stage.idea = info.idea;
  set_own(stage, info);
  add(file, std::move(stage), variants);
}

template <template <class> class P>
void add_tsm(const char* file, Operation op, const TsmInfo<P>& info) {
  Stage stage;
  stage.op = op;
  stage.accuracy = Accuracy::fp64;
  if (info.workspace_bytes) {
    stage.workspace_bytes = [bytes = info.workspace_bytes](const Problem& p) {
      return bytes(static_cast<int>(p.m), static_cast<int>(p.n), p.k, size_of(p.type));
    };
  }
  stage.workspace_zeros = info.workspace_zeros;
  stage.waits = info.waits;
  stage.generated = info.generated;
  add(file, stage, info, [](Stage& form, const auto& says) { form.launch = launch_of<P>(says); });
}

}  // namespace

Registration::Registration(const char* file, const StageInfo& info) {
  Stage stage;
  stage.type = Type::f32;
  stage.accuracy = info.accuracy;
  if (info.workspace_floats) {
    stage.workspace_bytes = [floats = info.workspace_floats](const Problem& p) { return 4 * floats(p); };
  }
  stage.workspace_zeros = 4 * info.workspace_zeros;
  add(file, stage, info, [](Stage& form, const auto& says) {
    form.launch = says.launch;
    form.l1_cycles = says.l1_cycles;
  });
}

Registration::Registration(const char* file, const HgemmInfo& info) {
  Stage stage;
  stage.type = Type::f16;
  stage.accuracy = info.accuracy;
  if (info.workspace_bytes) stage.workspace_bytes = info.workspace_bytes;
  add(file, stage, info, [](Stage& form, const auto& says) { form.launch = says.launch; });
}

Registration::Registration(const char* file, const TcecInfo& info) {
  Stage stage;
  stage.type = Type::f32;
  if (info.workspace_bytes) stage.workspace_bytes = info.workspace_bytes;
  stage.batch = info.batch;
  add(file, stage, info, [](Stage& form, const auto& says) {
    form.launch = says.launch;
    form.accuracy = says.accuracy;
    form.fp16_products = says.fp16_products;
    form.fp16_range = says.fp16_range;
    form.policy = nullptr;
    if (says.policy) form.policy = says.policy;
  });
}

Registration::Registration(const char* file, const TsmttsmInfo& info) {
  add_tsm(file, Operation::tsmttsm, info);
}
Registration::Registration(const char* file, const TsmmInfo& info) {
  add_tsm(file, Operation::tsmm, info);
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
