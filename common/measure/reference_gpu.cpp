#include "common/measure/reference_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/problem/names.hpp"

namespace gemm {
namespace {

using Record = nlohmann::ordered_json;

const Record& record() {
  static const Record read = [] {
    std::ifstream stream(GEMM_SOURCE_DIR "/docs/measurements/reference.json");
    return stream ? Record::parse(stream, nullptr, false) : Record();
  }();
  return read;
}

// FNV-1a, as tools/measure/machine_code.py has it: tells a changed file from the one that was compiled.
std::string fingerprint(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::uint64_t hash = 14695981039346656037u;
  for (std::istreambuf_iterator<char> byte(stream), end; byte != end; ++byte) {
    hash = (hash ^ static_cast<unsigned char>(*byte)) * 1099511628211u;
  }
  return fmt::format("{:016x}", hash);
}

// Null if there is none.
const Record* ladder_of(const std::string& stage, const ProblemSpec& spec) {
  if (!reference_gpu() || spec.batch != 1) return nullptr;
  for (const Record& ladder : record().at("ladders")) {
    if (ladder.at("op") != operation_name(spec.op) || ladder.at("type") != type_name(spec.type)) continue;
    if (spec.op != Operation::gemm && (ladder.at("m") != spec.m || ladder.at("n") != spec.n)) continue;
    if (ladder.at("stages").contains(stage)) return &ladder;
  }
  return nullptr;
}

}  // namespace

const ReferenceGpu* reference_gpu() {
  static const std::optional<ReferenceGpu> gpu = []() -> std::optional<ReferenceGpu> {
    const Record& json = record();
    if (!json.is_object()) return std::nullopt;
    ReferenceGpu found;
    found.device = json.at("device");
    found.library = json.at("library");
    found.sm_count = json.at("sm_count");
    const Record& c = json.at("ceilings");
    found.ceilings = {.read_gbs = c.at("read_gbs"),
                      .copy_gbs = c.at("copy_gbs"),
                      .scale_gbs = c.at("scale_gbs"),
                      .ffma_gflops = c.at("ffma_gflops"),
                      .dfma_gflops = c.at("dfma_gflops"),
                      .dmma_gflops = c.at("dmma_gflops"),
                      .hmma_gflops = c.at("hmma_gflops"),
                      .tmma_gflops = c.at("tmma_gflops"),
                      .shared_gbs = c.at("shared_gbs"),
                      .launch_us = c.at("launch_us"),
                      .latency_ns = c.at("latency_ns")};
    json.at("loads_in_flight").at("read").get_to(found.reading);
    json.at("loads_in_flight").at("scale").get_to(found.scaling);
    return found;
  }();
  return gpu ? &*gpu : nullptr;
}

double ReferenceGpu::gbs_with(const InFlight& points, double bytes) {
  std::pair<double, double> before{};
  for (const auto& point : points) {
    if (bytes <= point.first) {
      const double share = (bytes - before.first) / (point.first - before.first);
      return before.second + share * (point.second - before.second);
    }
    before = point;
  }
  return before.second;
}

std::optional<ProblemSpec> reference_problem(const std::string& stage, const ProblemSpec& spec) {
  const Record* const ladder = ladder_of(stage, spec);
  if (!ladder) return std::nullopt;
  ProblemSpec problem;
  problem.op = spec.op;
  problem.type = spec.type;
  problem.m = ladder->at("m");
  problem.n = ladder->at("n");
  problem.k = ladder->at("k");
  return problem;
}

std::optional<ReferenceSpeed> measured_on_reference(const std::string& stage, const ProblemSpec& spec) {
  const Record* const ladder = spec.is_plain() ? ladder_of(stage, spec) : nullptr;
  if (!ladder) return std::nullopt;
  const Record& speed = ladder->at("stages").at(stage);
  if (!speed.contains("gflops")) return std::nullopt;
  ReferenceSpeed measured{speed.at("gflops"), std::nullopt};
  if (speed.contains("pct_cublas")) measured.percent_of_library = speed.at("pct_cublas").get<double>();
  return measured;
}

std::optional<RecordedCode> recorded_code(const Stage& stage, const ProblemSpec& spec) {
  const Record* const ladder = ladder_of(stage.id, spec);
  if (!ladder) return std::nullopt;
  const Record& entry = ladder->at("stages").at(stage.id);
  if (!entry.contains("instructions") || entry.at("source") != fingerprint(stage.file)) return std::nullopt;
  return RecordedCode{entry.at("instructions"), entry.at("shared_loads")};
}

std::optional<Prediction> predicted_on_reference(const Stage& stage, const ProblemSpec& spec, const Counts& counts) {
  const auto problem = reference_problem(stage.id, spec);
  if (!problem || counts.steps() == 0) return std::nullopt;
  const ReferenceGpu& gpu = *reference_gpu();
  const auto code = recorded_code(stage, spec);
  const CountedBound bound = counted_bound(counts, code ? std::optional(code->instructions) : std::nullopt);
  Prediction prediction;
  const auto consider = [&](double least, double most, const std::string& by) {
    prediction.least_ms = std::max(prediction.least_ms, least);
    if (most <= prediction.most_ms) return;
    prediction.most_ms = most;
    prediction.by = by;
  };
  const auto alone = [&](double ms, const std::string& by) {
    prediction.parts.push_back({by, ms});
    consider(ms, ms, by);
  };

  alone(problem->compulsory_bytes() /
            ((spec.op == Operation::tsmm ? gpu.ceilings.scale_gbs : gpu.ceilings.read_gbs) * 1e6),
        "device memory");
  // The cores' ceiling is what a kernel of nothing else reached; of Tensor Cores by mma.sync, as stages have it.
  const double cores = bound.peak == "FP64 Tensor Core" ? gpu.ceilings.dmma_gflops
                       : bound.peak == "Tensor Core"    ? gpu.ceilings.hmma_gflops
                       : bound.peak == "FP64"           ? gpu.ceilings.dfma_gflops
                                                        : gpu.ceilings.ffma_gflops;
  const double products = stage.emulation.fp16_products;  // in which an emulating stage counts TF32's as two
  alone(problem->flops() * (products > 0 ? products : 1) / (cores * 1e6), bound.units.front().name);
  // The data banks give 128 bytes a cycle, so their ceiling also tells how many cycles all SMs have in a millisecond.
  const double steps = counts.steps() * problem->flops() / spec.flops();
  const double cycles_per_ms = gpu.ceilings.shared_gbs * 1e6 / 128;
  Prediction::Part data{}, issue{};
  for (std::size_t i = 1; i < bound.units.size(); ++i) {
    const Prediction::Part part = {bound.units[i].name, bound.units[i].cycles * steps / cycles_per_ms};
    prediction.parts.push_back(part);
    Prediction::Part& kind = part.name == "issue slots" ? issue : data;
    if (part.ms > kind.ms) kind = part;
  }
  consider(std::max(data.ms, issue.ms), data.ms + issue.ms, data.ms > issue.ms ? data.name : issue.name);
  if (stage.waits) {
    // What is read between two waits is in flight at a time. How long a wait is depends on that: Little's law. TSMM writes
    // meanwhile, about as much as it reads.
    const bool writes = spec.op == Operation::tsmm;
    const double columns = writes ? problem->m : 1.0 * problem->m + problem->n;
    const double bytes = static_cast<double>(size_of(spec.type)) * static_cast<double>(problem->k) * columns;
    const double waits = stage.waits(problem->m, problem->n, problem->k, gpu.sm_count);
    const double gbs = ReferenceGpu::gbs_with(writes ? gpu.scaling : gpu.reading, bytes / waits / gpu.sm_count);
    alone((writes ? problem->compulsory_bytes() : bytes) / (gbs * 1e6), "latency");
  }
  alone(gpu.ceilings.launch_us * 1e-3, "launch");
  return prediction;
}

}  // namespace gemm
