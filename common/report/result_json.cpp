#include "common/report/result_json.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "common/backend/device.hpp"
#include "common/measure/reference_gpu.hpp"
#include "common/measure/roofline.hpp"
#include "common/problem/names.hpp"
#include "common/report/count_json.hpp"
#include "common/report/kernel_options_json.hpp"
#include "common/report/verdict.hpp"

namespace gemm {
namespace {

Json to_json(const LaunchRecord& launch) {
  const auto triple = [](dim3 d) { return Json{d.x, d.y, d.z}; };
  Json json = {{"grid", triple(launch.shape.grid)},
               {"block", triple(launch.shape.block)},
               {"dynamic_shared_bytes", launch.shape.dynamic_shared}};
  if (const std::string name = kernel_name(launch.kernel); !name.empty()) json["kernel"] = name;
  if (const auto resources = kernel_resources(launch.kernel)) {
    json["registers"] = resources->registers;
    json["local_bytes"] = resources->spill_bytes;
    json["static_shared_bytes"] = resources->static_shared;
  }
  return json;
}

}  // namespace

Json to_json(const Samples& samples) {
  return {{"median", samples.median()},
          {"min", samples.min()},
          {"p90", samples.p90()},
          {"samples", samples.ms.size()},
          {"launches_per_sample", samples.launches_per_sample},
          {"throttled_samples", samples.throttled}};
}

Json to_json(const DeviceState& state) {
  if (!state.known) return nullptr;
  return {{"sm_mhz_min", state.sm_mhz_min},   {"sm_mhz_max", state.sm_mhz_max},
          {"memory_mhz", state.memory_mhz},   {"watts_max", state.watts_max},
          {"celsius_max", state.celsius_max}, {"throttle", throttle_text(state.throttle_reasons)}};
}

Json to_json(const ProblemSpec& spec) {
  const auto scalar = [&](double real, double imag) { return spec.type == Type::c64 ? Json{real, imag} : Json(real); };
  Json json = {{"op", operation_name(spec.op)},
               {"type", type_name(spec.type)},
               {"m", spec.m},
               {"n", spec.n},
               {"k", spec.k},
               {"batch", spec.batch},
               {"lda", spec.row_stride_a()},
               {"ldb", spec.row_stride_b()},
               {"ldc", spec.row_stride_c()},
               {"alpha", scalar(spec.alpha, spec.alpha_imag)},
               {"beta", scalar(spec.beta, spec.beta_imag)},
               {"offset", spec.offset},
               {"distribution", distribution_name(spec.distribution)},
               {"seed", spec.seed}};
  if (spec.conjugate) json["conjugate"] = true;
  return json;
}

Json to_json(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing) {
  const ProblemSpec& spec = result.spec;
  Json json;
  json["stage"] = result.id;
  json["family"] = result.id.substr(0, result.id.find('/'));
  if (!result.base.empty()) json["base"] = result.base;
  if (result.stage && result.id.find(':') != std::string::npos) json["idea"] = result.stage->idea;
  json["problem"] = to_json(spec);
  if (result.stage && result.stage->generated && spec.m > 0 && spec.n > 0) {
    const GeneratedKernels& generated = result.stage->generated;
    const bool is_complex = spec.type == Type::c64;
    if (generated.chosen) {
      const bool padded =
          spec.op == Operation::tsmm && (spec.row_stride_b() != spec.n || spec.offset * size_of(spec.type) % 16 != 0);
      const auto [stage, used] = generated.chosen(spec.m, spec.n, spec.k, padded, is_complex, spec.kernel);
      json["kernel_options"] = to_json(used);
      json["kernel_stage"] = stage;
    } else {
      json["kernel_options"] = to_json(generated.choose(spec.m, spec.n, is_complex, spec.kernel));
    }
  }
  json["device"] = open_device().name;
  json["status"] = status_of(result);
  json["reason"] = ran_incorrectly_on_purpose(result)
                       ? "the blocks' sums were not added up, and C was not written: a time to compare with, no result"
                       : result.verdict.reason;
  if (!result.verdict.policy.empty()) json["policy"] = result.verdict.policy;
  if (result.checked && result.verdict.compared) {
    json["error"] = {{"max_ratio", result.verdict.error.max_ratio},
                     {"frobenius", result.verdict.error.frobenius},
                     {"frobenius_ratio", result.verdict.error.frobenius_ratio},
                     {"max_relative", result.verdict.error.max_relative}};
  }
  if (!result.verdict.launches.empty()) {
    json["launches"] = Json::array();
    for (const LaunchRecord& launch : result.verdict.launches) json["launches"].push_back(to_json(launch));
  }
  if (!result.verdict.observation.defects.empty()) json["defects"] = result.verdict.observation.defects;
  if (!result.verdict.observation.warnings.empty()) json["warnings"] = result.verdict.observation.warnings;
  if (result.counts) {
    json["counts"] = to_json(*result.counts);
    if (!result.lines.empty()) json["counts"]["lines"] = to_json(result.lines);
  }
  if (result.stage && result.counts) {
    const CountedBound bound = result.counted_bound();
    json["predicted"] = {{bound.step == "mma" ? "cycles_per_mma" : "cycles_per_warp_fma", bound.cycles},
                         {bound.peak == "FP32"   ? "share_of_fp32_peak"
                          : bound.peak == "FP64" ? "share_of_fp64_peak"
                                                 : "share_of_tensor_peak",
                          bound.share_of_peak},
                         {"bound", bound.by}};
    for (const BusyUnit& unit : bound.units) json["predicted"]["cycles"][unit.name] = unit.cycles;
    if (result.code) {
      json["predicted"]["instructions"] = result.code->instructions;
      json["predicted"]["shared_loads_as_compiled"] = result.code->shared_loads;
    }
    if (const auto problem = reference_problem(result.id, spec)) {
      Json& reference = json["reference"] = {{"device", reference_gpu()->device},
                                             {"library", reference_gpu()->library},
                                             {"problem", {problem->m, problem->n, problem->k}}};
      if (result.predicted) {
        reference["predicted_ms"] = {result.predicted->least_ms, result.predicted->most_ms};
        reference["predicted_gflops"] = {problem->flops() / (result.predicted->most_ms * 1e6),
                                         problem->flops() / (result.predicted->least_ms * 1e6)};
        reference["bound"] = result.predicted->by;
        for (const Prediction::Part& part : result.predicted->parts) reference["parts_ms"][part.name] = part.ms;
      }
      if (const auto measured = measured_on_reference(result.id, spec)) {
        reference["measured_gflops"] = measured->gflops;
        if (measured->percent_of_library) reference["pct_cublas"] = *measured->percent_of_library;
      }
    }
  } else if (result.stage && result.stage->l1_cycles) {
    const L1Cycles l1 = l1_cycles(*result.stage, spec);
    json["predicted"] = {{"l1_cycles_per_warp_fma", {{"global", l1.global}, {"shared", l1.shared}}},
                         {"bound", bound_of(result, ceilings)}};
    if (ceilings && result.timed) {
      const double floor = stage_prediction(*result.stage, spec, *ceilings, result.blocks(), open_device().sm_count).ms;
      json["predicted"]["gflops"] = spec.flops() / (floor * 1e6);
    }
  } else if (result.stage && result.stage->waits && ceilings && result.timed) {
    const Floor floor = stage_prediction(*result.stage, spec, *ceilings, result.blocks(), open_device().sm_count);
    json["predicted"] = {{"bound", floor.by}, {"gflops", spec.flops() / (floor.ms * 1e6)}};
  }
  if (result.timed) {
    json["cache"] = timing.cold ? "cold" : "warm";
    json["time_ms"] = to_json(result.timed->own);
    json["state"] = to_json(result.timed->state);
  }
  if (result.timed && !result.incorrect_on_purpose()) {
    json["gflops"] = result.gflops();
    json["gbytes_s"] = result.gbytes_s();
    if (result.timed->yardstick) {
      json["pct_cublas"] = *result.percent_of_yardstick();
      json["cublas_time_ms"] = to_json(*result.timed->yardstick);
    }
    if (result.timed->back_to_back)
      json["back_to_back"] = {{"time_ms", to_json(*result.timed->back_to_back)},
                              {"gflops", result.back_to_back_gflops()},
                              {"state", to_json(result.timed->back_to_back_state)}};
    if (const auto percent = result.percent_of_roofline(ceilings)) json["pct_roofline"] = *percent;
    const bool with_tensor_cores = size_of(spec.type) >= 8 && ceilings && ceilings->dmma_gflops > 0;
    if (const auto percent = result.percent_of_roofline(ceilings, true); with_tensor_cores && percent)
      json["pct_tensor_roofline"] = *percent;
  }
  return json;
}

Json shortened(const Json& result) {
  const auto pick = [](const Json& from, std::initializer_list<const char*> keys) {
    Json picked = Json::object();
    for (const char* key : keys) {
      if (from.contains(key)) picked[key] = from[key];
    }
    return picked;
  };
  Json json = pick(result, {"stage", "problem", "status", "reason", "kernel_options", "kernel_stage", "error",
                            "time_ms", "gflops", "back_to_back", "pct_cublas", "cublas_time_ms", "pct_roofline"});
  json["problem"] = pick(json["problem"], {"m", "n", "k"});
  if (json["reason"] == "") json.erase("reason");
  if (json.contains("error")) json["error"] = pick(json["error"], {"max_ratio", "frobenius_ratio"});
  if (json.contains("time_ms")) json["time_ms"] = pick(json["time_ms"], {"median", "min", "p90", "samples"});
  if (json.contains("cublas_time_ms")) json["cublas_time_ms"] = pick(json["cublas_time_ms"], {"median"});
  return json;
}

std::string report_text(const Json& report) {
  std::string text = "{";
  for (const auto& [key, value] : report.items()) {
    text += (text == "{" ? "\n " : ",\n ") + Json(key).dump() + ": ";
    if (!value.is_array() || value.empty()) {
      text += value.dump();
      continue;
    }
    text += "[\n  ";
    for (std::size_t i = 0; i < value.size(); ++i) text += (i ? ",\n  " : "") + value[i].dump();
    text += "\n ]";
  }
  return text + "\n}\n";
}

}  // namespace gemm
