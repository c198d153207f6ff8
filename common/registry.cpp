#include "common/registry.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

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

// The length of the number that starts a file's name: two digits and perhaps a letter; 0 if there is none.
std::size_t number_length(std::string_view name) {
  const auto digit = [&](std::size_t i) {
    return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i]));
  };
  if (!digit(0) || !digit(1)) return 0;
  const std::size_t length = name.size() > 2 && std::islower(static_cast<unsigned char>(name[2])) ? 3 : 2;
  return name.size() > length + 1 && name[length] == '_' ? length : 0;
}

}  // namespace

std::string stage_id_from_path(std::string_view path) {
  const auto fail = [&] {
    throw std::logic_error("a stage's file must be DIRECTORY/NN_name.cu: " + std::string(path));
  };
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos || slash == 0 || !path.ends_with(".cu")) fail();
  const std::string_view name = path.substr(slash + 1, path.size() - slash - 1 - 3);
  if (number_length(name) == 0) fail();
  std::string_view directory = path.substr(0, slash);
  directory = directory.substr(directory.find_last_of('/') + 1);  // npos + 1 is 0: the whole string
  if (directory == "stages") directory = "sgemm";
  return std::string(directory) + "/" + std::string(name);
}

Registration::Registration(const char* file, const StageInfo& info) {
  Stage stage{info, stage_id_from_path(file), {}, file};
  const std::string_view name = std::string_view(stage.id).substr(stage.id.find('/') + 1);
  stage.number = name.substr(0, number_length(name));
  auto& all = storage();
  const auto at = std::ranges::lower_bound(all, stage.id, {}, &Stage::id);
  if (at != all.end() && at->id == stage.id) throw std::logic_error("two stages are called " + stage.id);
  std::vector<Stage>& forms = variant_storage()[stage.id];
  for (const Variant& variant : info.variants) {
    Stage form = stage;
    form.idea = variant.idea;
    form.launch = variant.launch;
    form.l1_cycles = variant.l1_cycles;
    form.variants = {};
    std::string suffix(":");
    suffix += variant.name;
    form.id += suffix;
    form.number += suffix;
    if (std::ranges::find(forms, form.id, &Stage::id) != forms.end())
      throw std::logic_error("two variants are called " + form.id);
    forms.push_back(std::move(form));
  }
  all.insert(at, std::move(stage));
}

const std::vector<Stage>& variants(const Stage& stage) {
  return variant_storage()[stage.id];
}

const std::vector<Stage>& stages() {
  return storage();
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
  throw UsageError("no stage '" + std::string(name) + "'; `list` shows them all");
}

}  // namespace gemm
