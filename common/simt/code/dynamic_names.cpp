#include "common/simt/code/dynamic_names.hpp"

#include <array>
#include <map>
#include <set>
#include <vector>

#include "common/simt/code/source_lines.hpp"

namespace simt {
namespace {

// By file, as source_lines.hpp names it. Filled before main().
std::map<std::string, std::vector<DynamicName>>& known_names() {
  static auto& names = *new std::map<std::string, std::vector<DynamicName>>;  // workers may outlive main()
  return names;
}

std::string name_in(const SourceLine& line) {
  const auto names = known_names().find(line.file);
  if (names == known_names().end()) return "";
  for (const DynamicName& name : names->second) {
    if (line.line >= name.first && line.line <= name.last) return name.name;
  }
  return "";
}

}  // namespace

DynamicNames::DynamicNames(const char* file, std::initializer_list<DynamicName> names) {
  known_names()[relative_to_repository(file)] = names;
}

std::string dynamic_name(std::uintptr_t return_address, const void* kernel) {
  if (known_names().empty()) return "";
  const std::array lines = {source_line(return_address), source_line(reinterpret_cast<std::uintptr_t>(kernel) + 1)};
  for (const SourceLine& line : lines) {
    if (const std::string name = name_in(line); !name.empty()) return name;
  }
  std::set<std::string> anywhere, in_functions;
  for (const SourceLine& line : lines) {
    const auto names = known_names().find(line.file);
    if (names == known_names().end()) continue;
    for (const DynamicName& name : names->second) (name.first == 0 ? anywhere : in_functions).insert(name.name);
  }
  const std::set<std::string>& possible = anywhere.empty() ? in_functions : anywhere;
  if (possible.size() > 1) return "dynamic shared memory";
  return possible.empty() ? "" : *possible.begin();
}

}  // namespace simt
