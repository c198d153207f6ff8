#include "common/simt/code/dynamic_names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/simt/code/source_lines.hpp"

namespace simt {
namespace {

// By file, as source_lines.hpp names it. Filled before main().
std::map<std::string, std::vector<DynamicName>>& known() {
  static auto& names = *new std::map<std::string, std::vector<DynamicName>>;  // workers may outlive main()
  return names;
}

std::string name_in(const SourceLine& line) {
  const auto names = known().find(line.file);
  if (names == known().end()) return "";
  for (const DynamicName& name : names->second) {
    if (line.line >= name.first && line.line <= name.last) return name.name;
  }
  return "";
}

}  // namespace

DynamicNames::DynamicNames(const char* file, std::initializer_list<DynamicName> names) {
  known()[relative_to_repository(file)] = names;
}

std::string dynamic_name(std::uintptr_t return_address, const void* kernel) {
  if (known().empty()) return "";
  const SourceLine start = source_line(reinterpret_cast<std::uintptr_t>(kernel) + 1);
  for (const SourceLine& line : {source_line(return_address), start}) {
    if (const std::string name = name_in(line); !name.empty()) return name;
  }
  const auto names = known().find(start.file);
  if (names == known().end()) return "";
  std::set<std::string> all;
  for (const DynamicName& name : names->second) all.insert(name.name);
  return all.size() == 1 ? *all.begin() : "dynamic shared memory";
}

}  // namespace simt
