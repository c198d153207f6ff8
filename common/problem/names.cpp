#include "common/problem/names.hpp"

#include <map>
#include <utility>

#include "common/kernel/status.hpp"

namespace gemm {
namespace {

const std::map<std::string, Distribution>& distributions() {
  static const std::map<std::string, Distribution> all = {
      {"uniform", Distribution::uniform},   {"positive", Distribution::positive}, {"normal", Distribution::normal},
      {"integers", Distribution::integers}, {"wide", Distribution::wide},         {"tiny", Distribution::tiny},
      {"huge", Distribution::huge}};
  return all;
}

}  // namespace

const char* distribution_name(Distribution distribution) {
  for (const auto& [name, value] : distributions()) {
    if (value == distribution) return name.c_str();
  }
  return "?";
}

Distribution distribution_of(const std::string& name) {
  const auto found = distributions().find(name);
  if (found == distributions().end()) throw UsageError("no distribution '" + name + "'");
  return found->second;
}

const char* operation_name(Operation op) {
  return op == Operation::gemm ? "gemm" : op == Operation::tsmttsm ? "tsmttsm" : "tsmm";
}
const char* result_name(Operation op) {
  return op == Operation::tsmm ? "B" : "C";
}

const char* type_name(Type type) {
  return type == Type::f16 ? "half" : type == Type::f32 ? "float" : type == Type::f64 ? "double" : "double complex";
}

Operation operation_of(const std::string& name) {
  for (const Operation op : {Operation::gemm, Operation::tsmttsm, Operation::tsmm}) {
    if (name == operation_name(op)) return op;
  }
  throw UsageError("no operation '" + name + "'");
}

Type type_of(const std::string& letter) {
  for (const auto& [name, type] : {std::pair("s", Type::f32), {"h", Type::f16}, {"d", Type::f64}, {"z", Type::c64}}) {
    if (letter == name) return type;
  }
  throw UsageError("no type '" + letter + "'");
}

}  // namespace gemm
