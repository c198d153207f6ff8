#include "common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/build_info.hpp"
#include "common/count_report.hpp"
#include "common/device.hpp"
#include "common/options.hpp"

namespace gemm {
namespace {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass:
      return "pass";
    case Outcome::fail:
      return "fail";
    case Outcome::skip:
      return "skip";
  }
  return "?";
}

Json to_json(const LaunchRecord& launch) {
  const auto triple = [](dim3 d) { return Json{d.x, d.y, d.z}; };
  Json json = {{"grid", triple(launch.shape.grid)},
               {"block", triple(launch.shape.block)},
               {"dynamic_shared_bytes", launch.shape.dynamic_shared}};
  if (const auto resources = kernel_resources(launch.kernel)) {
    json["registers"] = resources->registers;
    json["local_bytes"] = resources->spill_bytes;
    json["static_shared_bytes"] = resources->static_shared;
  }
  return json;
}

std::string bound_of(const Result& result, const std::optional<Ceilings>& ceilings) {
  if (!result.bound.empty()) return result.bound;
  if (result.accuracy == Accuracy::tf32) return "Tensor Cores";
  if (!result.stage) return ceilings ? problem_floor(result.spec, *ceilings).by : "";
  if (!ceilings) return predicted_bound(*result.stage, result.spec);
  return stage_prediction(*result.stage, result.spec, *ceilings, result.blocks(), open_device().sm_count).by;
}

bool ran_incorrectly_on_purpose(const Result& result) {
  return result.incorrect_on_purpose() && result.verdict.outcome == Outcome::pass;
}

std::string speed(double gflops) {
  return gflops >= 100 ? fmt::format("{:.0f}", gflops) : fmt::format("{:.3g}", gflops);
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

std::string status_of(const Result& result) {
  if (ran_incorrectly_on_purpose(result)) return "incorrect on purpose";
  const bool unchecked = !result.checked && result.verdict.outcome == Outcome::pass;
  return unchecked ? "unchecked" : name_of(result.verdict.outcome);
}

std::string describe(const ProblemSpec& spec) {
  const auto scalar = [&](double real, double imag) {
    return spec.type == Type::c64 ? fmt::format("{:g}{:+g}i", real, imag) : fmt::format("{:g}", real);
  };
  std::string text;
  if (spec.op != Operation::gemm || spec.type != Type::f32)
    text += fmt::format("{} in {}{}, ", operation_name(spec.op), type_name(spec.type), spec.conjugate ? ", A^H" : "");
  if (spec.batch != 1) text += fmt::format("{} times ", spec.batch);
  text += fmt::format("M x N x K = {} x {} x {}, alpha {}, beta {}", spec.m, spec.n, spec.k,
                      scalar(spec.alpha, spec.alpha_imag), scalar(spec.beta, spec.beta_imag));
  if (spec.lda || spec.ldb || spec.ldc) {
    text += fmt::format(", ld {}/{}/{}", spec.row_stride_a(), spec.row_stride_b(), spec.row_stride_c());
  }
  if (spec.offset) text += fmt::format(", offset {}", spec.offset);
  return text + ", " + distribution_name(spec.distribution);
}

Json to_json(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing) {
  const ProblemSpec& spec = result.spec;
  const auto scalar = [&](double real, double imag) { return spec.type == Type::c64 ? Json{real, imag} : Json(real); };
  Json json;
  json["stage"] = result.id;
  json["family"] = result.id.substr(0, result.id.find('/'));
  if (result.stage && result.id.find(':') != std::string::npos) json["idea"] = result.stage->idea;
  json["problem"] = {{"op", operation_name(spec.op)},
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
  if (spec.conjugate) json["problem"]["conjugate"] = true;
  if (result.stage && result.stage->generated && spec.m > 0 && spec.n > 0) {
    const KernelOptions used = result.stage->generated.choose(spec.m, spec.n, spec.type == Type::c64, spec.kernel);
    json["kernel_options"] = to_json(used);
    if (result.stage->generated.stage) {
      json["kernel_stage"] = result.stage->generated.stage(spec.m, spec.n, spec.type == Type::c64, spec.kernel);
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
                     {"frobenius_ratio", result.verdict.error.frobenius_ratio}};
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
    const CountedBound bound = counted_bound(*result.counts);
    json["predicted"] = {{bound.step == "mma" ? "cycles_per_mma" : "cycles_per_warp_fma", bound.cycles},
                         {bound.peak == "FP32"   ? "share_of_fp32_peak"
                          : bound.peak == "FP64" ? "share_of_fp64_peak"
                                                 : "share_of_tensor_peak",
                          bound.share_of_peak},
                         {"bound", bound.by}};
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
                            "time_ms", "gflops", "pct_cublas", "cublas_time_ms", "pct_roofline"});
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

Json provenance(const std::string& command, const std::optional<Ceilings>& ceilings) {
  const DeviceInfo& device = open_device();
  Json json = {{"device", device.name},
               {"compute_capability", device.compute_capability},
               {"sm_count", device.sm_count},
               {"l2_bytes", device.l2_bytes},
               {"driver", device.driver},
               {"cuda", device.cuda},
               {"cublas", device.cublas},
               {"cublas_compute_type", device.gpu ? "CUBLAS_COMPUTE_32F_PEDANTIC" : ""},
               {"architectures", GEMM_CUDA_ARCHITECTURES},
               {"build_type", GEMM_BUILD_TYPE},
               {"compiler", GEMM_COMPILER},
               {"commit", build_commit()},
               {"command", command}};
  if (ceilings) {
    json["ceilings"] = {{"read_gbs", ceilings->read_gbs},       {"copy_gbs", ceilings->copy_gbs},
                        {"scale_gbs", ceilings->scale_gbs},     {"ffma_gflops", ceilings->ffma_gflops},
                        {"dfma_gflops", ceilings->dfma_gflops}, {"dmma_gflops", ceilings->dmma_gflops},
                        {"hmma_gflops", ceilings->hmma_gflops}, {"tmma_gflops", ceilings->tmma_gflops},
                        {"shared_gbs", ceilings->shared_gbs},   {"launch_us", ceilings->launch_us},
                        {"latency_ns", ceilings->latency_ns}};
  }
  return json;
}

std::string table(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings, bool colour) {
  const auto paint = [&](const Result& result, const std::string& text) {
    if (!colour) return text;
    const char* code = result.verdict.outcome == Outcome::pass   ? "32"
                       : result.verdict.outcome == Outcome::skip ? "33"
                                                                 : "31";
    return fmt::format("\033[{}m{}\033[0m", code, text);
  };
  std::size_t width = 5;
  for (const Result& result : results) width = std::max(width, result.id.size());

  const bool timed = std::ranges::any_of(results, [](const Result& r) { return r.timed.has_value(); });
  std::string text = timed
                         ? fmt::format("{:<{}}  {:>9}  {:>9}  {:>8}  {:>10}  {:>9}  {:<4}  {}\n", "stage", width, "ms",
                                       "GFLOP/s", "% cuBLAS", "% roofline", "max error", "", "bound by, as written")
                         : fmt::format("{:<{}}  {:<9}  {:>9}  {:>10}  {:>8}  {}\n", "stage", width, "correct",
                                       "max error", "blocks", "threads", "predicted bound, at most");
  for (const Result& result : results) {
    const std::string status = paint(result, fmt::format("{:<4}", status_of(result)));
    if (result.verdict.outcome != Outcome::pass) {
      text += fmt::format("{:<{}}  {}  {}\n", result.id, width, status, result.verdict.reason);
      continue;
    }
    const std::string error =
        result.checked
            ? fmt::format("{:.3f}", std::max(result.verdict.error.max_ratio, result.verdict.error.frobenius_ratio))
            : "-";
    if (timed && result.timed) {
      const auto percent = result.percent_of_yardstick();
      const auto roofline = result.percent_of_roofline(ceilings);
      text += fmt::format("{:<{}}  {:>9.4f}  {:>9}  {:>8}  {:>10}  {:>9}  {}  {}{}\n", result.id, width,
                          result.timed->own.median(), speed(result.gflops()),
                          percent ? fmt::format("{:.1f}", *percent) : "100",
                          roofline ? fmt::format("{:.1f}", *roofline) : "-", error, status, bound_of(result, ceilings),
                          result.timed->own.throttled ? " [throttled]" : "");
    } else {
      unsigned threads = 0;
      for (const LaunchRecord& l : result.verdict.launches)
        threads = std::max(threads, l.shape.block.x * l.shape.block.y * l.shape.block.z);
      std::string bound;
      if (result.counts) {
        const CountedBound counted = counted_bound(*result.counts);
        bound = fmt::format("{}: {:.3g} cycles/{}, {:.3g} % of {} peak", counted.by, counted.cycles, counted.step,
                            100 * counted.share_of_peak, counted.peak);
      }
      text += fmt::format("{:<{}}  {}       {:>9}  {:>10}  {:>8}  {}\n", result.id, width, status, error,
                          result.blocks(), threads, bound);
    }
  }
  return text;
}

std::string implausible(const Result& result, const std::optional<Ceilings>& ceilings, const TimingOptions& timing) {
  // 3 %: what the ceilings themselves move from run to run.
  const auto percent = result.percent_of_roofline(ceilings, true);
  if (!timing.cold || !percent || *percent <= 103.0) return {};
  return fmt::format("{} reaches {:.0f} % of the roofline with a cold cache: the harness is wrong", result.id,
                     *percent);
}

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw UsageError(fmt::format("can't write {}: {}", path, std::strerror(errno)));
}

// Where a symbolic link leads: the temporary file belongs beside its target.
std::string target_of(const std::string& path) {
  std::error_code ignored;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : target.string();
}

bool is_special(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

bool write_and_close(std::FILE* file, const std::string& text) {
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return file && std::fclose(file) == 0 && written;
}

}  // namespace

void tell(const std::string& json_path, const std::string& text) {
  if (json_path == "-") return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (std::fflush(stdout) != 0 || !written) cannot_write("standard output");
    return;
  }
  if (is_special(path)) {
    if (!write_and_close(std::fopen(path.c_str(), "w"), text)) cannot_write(path);
    return;
  }
  const std::string target = target_of(path);
  const std::string temporary = target + ".tmp";
  if (!write_and_close(std::fopen(temporary.c_str(), "w"), text) ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int why = errno;
    std::remove(temporary.c_str());
    errno = why;
    cannot_write(path);
  }
}

void require_writable(const std::string& path) {
  if (path.empty() || path == "-") return;
  if (std::filesystem::is_directory(path)) {
    errno = EISDIR;
    cannot_write(path);
  }
  if (is_special(path)) return;
  const std::string temporary = target_of(path) + ".tmp";
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (!file) cannot_write(path);
  std::fclose(file);
  std::remove(temporary.c_str());
}

int exit_status(const std::vector<Result>& results, const std::optional<Ceilings>& ceilings,
                const TimingOptions& timing) {
  int status = 0;
  for (const Result& result : results) {
    const std::string complaint = implausible(result, ceilings, timing);
    if (!complaint.empty()) fmt::print(stderr, "error: {}\n", complaint);
    if (!complaint.empty() || result.verdict.outcome == Outcome::fail) status = 1;
  }
  return status;
}

}  // namespace gemm
