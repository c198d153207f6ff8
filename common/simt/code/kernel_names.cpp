#include "common/simt/code/kernel_names.hpp"

#include <set>
#include <string>

#include "common/simt/code/names.hpp"

namespace simt {
namespace {

struct Known {
  std::set<std::string> kernels, others;
};
// Filled before main().
Known& known_functions() {
  static auto& names = *new Known;  // workers may outlive main()
  return names;
}

bool is_only_kernels(const std::string& name) {
  return known_functions().kernels.contains(name) && !known_functions().others.contains(name);
}

// Without its namespace and template arguments.
std::string own_name(std::string_view mangled) {
  std::string name = short_name(mangled);
  name.resize(std::min(name.size(), name.find('<')));
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

}  // namespace

KernelNames::KernelNames(std::initializer_list<const char*> kernels, std::initializer_list<const char*> others) {
  known_functions().kernels.insert(kernels.begin(), kernels.end());
  known_functions().others.insert(others.begin(), others.end());
}

bool is_of_another_kernel(std::string_view variable, std::string_view kernel) {
  // _ZZ <function, without its _Z> E <variable>: the demangled function has its parameters behind it.
  if (!variable.starts_with("_ZZ") || variable.starts_with("_ZZZ")) return false;
  const std::string mine = own_name(kernel), its = own_name(variable);
  return mine != its && is_only_kernels(mine) && is_only_kernels(its);
}

}  // namespace simt
