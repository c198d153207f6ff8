#include "common/registry.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace gemm {
namespace {

// A function-local static: registrations run before main, in no particular order among files.
std::vector<Stage>& storage() {
  static std::vector<Stage> all;
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
  all.insert(at, std::move(stage));
}

const std::vector<Stage>& stages() {
  return storage();
}

const Stage& find_stage(std::string_view name) {
  const std::string wanted =
      name.find('/') == std::string_view::npos ? "sgemm/" + std::string(name) : std::string(name);
  for (const Stage& stage : stages()) {
    const std::string by_number = stage.id.substr(0, stage.id.find('/') + 1) + stage.number;
    if (stage.id == wanted || by_number == wanted) return stage;
  }
  throw UsageError("no stage '" + std::string(name) + "'; `list` shows them all");
}

}  // namespace gemm
