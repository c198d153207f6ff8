// What the grader's programs are asked: a product, and problems of it.
#pragma once

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "common/kernel/status.hpp"
#include "common/problem/names.hpp"
#include "common/problem/registry.hpp"
#include "common/problem/spec.hpp"
#include "common/report/json.hpp"

namespace course {

using gemm::Json;

inline Json read_json(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream in(file);
    if (!in) throw gemm::UsageError("can't read '" + file + "'");
    text << in.rdbuf();
  }
  return Json::parse(text.str());
}

struct Job {
  /// Reads {"operation", "type", "accuracy", ...}; - is standard input. Throws UsageError, and what the JSON library throws.
  explicit Job(const std::string& file) : json(read_json(file)) {
    op = gemm::operation_of(json.value("operation", std::string("gemm")));
    type = gemm::type_of(json.value("type", std::string("s")));
    accuracy = accuracy_of(json.value("accuracy", std::string()));
  }

  gemm::ProblemSpec spec_of(const Json& json) const {
    gemm::ProblemSpec spec;
    spec.op = op;
    spec.type = type;
    spec.m = json.at("m");
    spec.n = json.at("n");
    spec.k = json.at("k");
    spec.alpha = json.value("alpha", 1.0);
    spec.beta = json.value("beta", 0.0);
    spec.lda = json.value("lda", std::int64_t{0});
    spec.ldb = json.value("ldb", std::int64_t{0});
    spec.ldc = json.value("ldc", std::int64_t{0});
    spec.offset = json.value("offset", 0);
    spec.seed = json.value("seed", std::uint64_t{1});
    spec.distribution = gemm::distribution_of(json.value("dist", std::string("uniform")));
    spec.validate();
    return spec;
  }

  Json json;
  gemm::Operation op;
  gemm::Type type;
  gemm::Accuracy accuracy;

 private:
  gemm::Accuracy accuracy_of(const std::string& name) const {
    if (name == "fp32") return gemm::Accuracy::fp32;
    if (name == "tf32") return gemm::Accuracy::tf32;
    if (name == "fp64") return gemm::Accuracy::fp64;
    if (name == "tensor_fp32") return gemm::Accuracy::tensor_fp32;
    if (!name.empty()) throw gemm::UsageError("no accuracy '" + name + "'");
    if (type == gemm::Type::f16) return gemm::Accuracy::tensor_fp32;
    return type == gemm::Type::f32 ? gemm::Accuracy::fp32 : gemm::Accuracy::fp64;
  }
};

}  // namespace course
