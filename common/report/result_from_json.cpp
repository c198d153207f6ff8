#include "common/report/result_from_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/problem/names.hpp"

namespace gemm {
namespace {

ProblemSpec problem_of(const Json& json) {
  ProblemSpec spec;
  const std::string op = json.at("op"), type = json.at("type");
  for (const Operation each : {Operation::gemm, Operation::tsmttsm, Operation::tsmm}) {
    if (op == operation_name(each)) spec.op = each;
  }
  for (const Type each : {Type::f16, Type::f32, Type::f64, Type::c64}) {
    if (type == type_name(each)) spec.type = each;
  }
  spec.m = json.at("m");
  spec.n = json.at("n");
  spec.k = json.at("k");
  spec.batch = json.at("batch");
  // Strides that are the rows' lengths are what a problem has by itself.
  const auto stride = [&](const char* name, std::int64_t usual) {
    const std::int64_t told = json.at(name);
    return told == usual ? 0 : told;
  };
  spec.lda = stride("lda", spec.row_stride_a());
  spec.ldb = stride("ldb", spec.row_stride_b());
  spec.ldc = stride("ldc", spec.row_stride_c());
  const auto scalar = [](const Json& value, double& real, double& imag) {
    real = value.is_array() ? value[0].get<double>() : value.get<double>();
    imag = value.is_array() ? value[1].get<double>() : 0;
  };
  scalar(json.at("alpha"), spec.alpha, spec.alpha_imag);
  scalar(json.at("beta"), spec.beta, spec.beta_imag);
  spec.offset = json.at("offset");
  spec.distribution = distribution_of(json.at("distribution"));
  spec.seed = json.at("seed");
  spec.conjugate = json.value("conjugate", false);
  return spec;
}

AccessCounts accesses_of(const Json& json) {
  AccessCounts a;
  a.requests = json.at("requests");
  a.lanes = json.at("lanes");
  a.bytes = json.at("bytes");
  a.sectors = json.at("sectors");
  a.lines = json.at("lines");
  a.wavefronts = json.at("wavefronts");
  a.conflicts = json.at("bank_conflicts");
  return a;
}

Counts counts_of(const Json& json, const ProblemSpec& spec) {
  Counts c;
  c.global_load = accesses_of(json.at("global_load"));
  c.global_store = accesses_of(json.at("global_store"));
  c.shared_load = accesses_of(json.at("shared_load"));
  c.shared_store = accesses_of(json.at("shared_store"));
  c.global_atomic = accesses_of(json.at("global_atomic"));
  c.shared_atomic = accesses_of(json.at("shared_atomic"));
  if (!json.at("fma32").is_null()) c.fma32 = json.at("fma32");
  if (!json.at("fma64").is_null()) c.fma64 = json.at("fma64");
  c.assumed_fmas = static_cast<std::uint64_t>(spec.flops() / 2);
  c.is_double = size_of(spec.type) >= 8;
  c.tensor_flops = json.at("tensor_flops");
  c.barriers = json.at("barriers");
  c.blocks = json.at("blocks");
  c.threads = json.at("threads");
  c.shared_bytes = json.at("shared_bytes_per_block");
  return c;
}

}  // namespace

Result result_from_json(const Json& json) {
  Result result;
  result.id = json.at("stage");
  result.base = json.value("base", "");
  result.spec = problem_of(json.at("problem"));
  const std::string status = json.at("status");
  result.verdict.outcome = status == "fail" ? Outcome::fail : status == "skip" ? Outcome::skip : Outcome::pass;
  result.verdict.reason = json.at("reason");
  result.checked = status != "unchecked";
  if (json.contains("error")) {
    result.verdict.compared = true;
    // JSON has no infinity and no NaN: such an error is null there.
    const auto ratio = [&](const char* name) {
      const Json& value = json["error"].at(name);
      return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
    };
    result.verdict.error.max_ratio = ratio("max_ratio");
    result.verdict.error.frobenius_ratio = ratio("frobenius_ratio");
  }
  if (json.contains("counts")) result.counts = counts_of(json["counts"], result.spec);
  if (json.contains("predicted")) {
    result.bound = json["predicted"].value("bound", "");
    if (const Json& predicted = json["predicted"]; predicted.contains("instructions"))
      result.code = RecordedCode{predicted["instructions"], predicted["shared_loads_as_compiled"]};
  }
  if (json.contains("reference") && json["reference"].contains("predicted_ms"))
    result.predicted = Prediction{
        {}, json["reference"]["predicted_ms"][0], json["reference"]["predicted_ms"][1], json["reference"]["bound"]};
  if (json.contains("time_ms")) {
    // Of the samples a table shows the median alone.
    const auto median = [](const Json& times) {
      Samples samples;
      samples.ms = {times.at("median").get<double>()};
      samples.throttled = times.value("throttled_samples", 0);
      return samples;
    };
    TimedResult timed;
    timed.own = median(json["time_ms"]);
    if (json.contains("cublas_time_ms")) timed.yardstick = median(json["cublas_time_ms"]);
    if (json.contains("back_to_back")) timed.back_to_back = median(json["back_to_back"]["time_ms"]);
    result.timed = std::move(timed);
    if (json.contains("pct_roofline")) result.told_percent_of_roofline = json["pct_roofline"].get<double>();
  }
  return result;
}

}  // namespace gemm
