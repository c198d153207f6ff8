#include "common/simt/code/names.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace simt {

std::string demangled(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::string(mangled);  // x is a variable's name, and a type's: long
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : std::string(mangled);
}

std::string short_name(std::string_view mangled) {
  std::string name = demangled(mangled);
  for (const std::string_view noise : {"(anonymous namespace)::", "[abi:cxx11]"}) {
    for (std::size_t at; (at = name.find(noise)) != std::string::npos;) name.erase(at, noise.size());
  }
  // Cut the parameters: the first parenthesis outside template arguments.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == '(' && depth == 0) {
      name.resize(i);
      break;
    }
  }
  // And the return type, which a template's name has in front.
  depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += (name[i] == '<') - (name[i] == '>');
    if (name[i] == ' ' && depth == 0) start = i + 1;
  }
  return name.substr(start);
}

}  // namespace simt
