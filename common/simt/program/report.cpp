#include "common/simt/program/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/observe/fma_count.hpp"

namespace simt {
namespace {

struct Access {
  std::uint64_t requests = 0, lanes = 0, bytes = 0, sectors = 0, wavefronts = 0, conflicts = 0;

  void add(const SiteCounts& site) {
    requests += site.requests;
    lanes += site.lanes;
    bytes += site.lanes * site.bytes;
    sectors += site.sectors;
    wavefronts += site.wavefronts;
    conflicts += site.conflicts;
  }
};

const char* kind_of(const SiteCounts& site) {
  if (site.atomic) return site.shared ? "shared atomic" : "global atomic";
  if (site.shared) return site.store ? "shared store" : "shared load";
  return site.store ? "global store" : "global load";
}

// All launches of one kernel with one shape.
struct Launches {
  const KernelObservation* first = nullptr;
  std::uint64_t number = 0, barriers = 0, fma32 = 0, fma64 = 0, tensor_flops = 0;
  bool knows_fmas = true;
  std::map<std::string, Access> by_kind;
  std::map<std::tuple<std::string, int, std::string>, Access> by_line;  // file, line, kind
};

std::vector<Launches> merged(const InspectionResult& result, bool lines) {
  std::vector<Launches> all;
  std::map<std::tuple<std::string, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, std::size_t>,
           std::size_t>
      known;
  for (const KernelObservation& kernel : result.kernels) {
    const dim3 g = kernel.grid, b = kernel.block;
    const auto [at, is_new] =
        known.try_emplace({kernel.kernel, g.x, g.y, g.z, b.x, b.y, b.z, kernel.dynamic_shared}, all.size());
    if (is_new) all.emplace_back().first = &kernel;
    Launches& sum = all[at->second];
    sum.number += kernel.launches;
    sum.barriers += kernel.barriers;
    sum.tensor_flops += kernel.tensor_flops;
    const FmaCount fmas = count_fmas(kernel);
    sum.knows_fmas &= fmas.known;
    sum.fma32 += fmas.total(32);
    sum.fma64 += fmas.total(64);
    std::vector<std::uintptr_t> places;
    for (const SiteCounts& site : kernel.sites) places.push_back(site.pc);
    const std::vector<SourceLine> where = lines ? source_lines(places) : std::vector<SourceLine>(places.size());
    for (std::size_t i = 0; i < kernel.sites.size(); ++i) {
      sum.by_kind[kind_of(kernel.sites[i])].add(kernel.sites[i]);
      if (lines) sum.by_line[{where[i].file, where[i].line, kind_of(kernel.sites[i])}].add(kernel.sites[i]);
    }
  }
  return all;
}

std::string shape(dim3 d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  return d.y != 1 ? fmt::format("{} x {}", d.x, d.y) : fmt::format("{}", d.x);
}

std::string sampled(const KernelObservation& kernel) {
  if (kernel.sampled_blocks == 0) return "";
  return fmt::format("; numbers extrapolated from {} blocks", kernel.sampled_blocks);
}

nlohmann::ordered_json json_of(const Access& access) {
  return {{"requests", access.requests}, {"accesses", access.lanes},        {"bytes", access.bytes},
          {"sectors", access.sectors},   {"wavefronts", access.wavefronts}, {"conflicts", access.conflicts}};
}

std::string row(const std::string& name, const Access& access) {
  return fmt::format("  {:<30} {:>12} {:>14} {:>12} {:>12} {:>12}\n", name, access.requests, access.bytes,
                     access.sectors, access.wavefronts, access.conflicts);
}

}  // namespace

bool has_mistakes(const InspectionResult& result) {
  return std::ranges::any_of(result.defects, [](const Defect& defect) { return !is_warning(defect.kind); });
}

std::string counts_text(const InspectionResult& result, bool lines) {
  std::string text;
  for (const Launches& each : merged(result, lines)) {
    text += fmt::format("\n{}: {} of {} blocks of {} threads{}\n", each.first->kernel,
                        each.number == 1 ? "a launch" : fmt::format("{} launches", each.number),
                        shape(each.first->grid), shape(each.first->block), sampled(*each.first));
    text += fmt::format("  {:<30} {:>12} {:>14} {:>12} {:>12} {:>12}\n", "", "requests", "bytes", "sectors",
                        "wavefronts", "conflicts");
    for (const auto& [kind, access] : each.by_kind) text += row(kind, access);
    for (const auto& [where, access] : each.by_line) {
      const auto& [file, line, kind] = where;
      text += row(fmt::format("{}:{} {}", file, line, kind), access);
    }
    text += fmt::format("  barriers {}", each.barriers);
    if (each.knows_fmas) text += fmt::format(", FMAs {} of 32 bits, {} of 64 bits", each.fma32, each.fma64);
    if (each.tensor_flops) text += fmt::format(", Tensor Core flops {}", each.tensor_flops);
    text += "\n";
  }
  return text;
}

std::string report_json(const InspectionResult& result, int status) {
  nlohmann::ordered_json report = {{"status", status}};
  auto& defects = report["defects"] = nlohmann::ordered_json::array();
  for (const Defect& defect : result.defects) {
    nlohmann::ordered_json entry = {
        {"kind", title(defect.kind)}, {"warning", is_warning(defect.kind)}, {"text", defect.text()}};
    auto& places = entry["places"] = nlohmann::ordered_json::array();
    for (const Party& party : {defect.one, defect.other}) {
      if (!party.known) continue;
      const SourceLine line = source_line(party.pc);
      places.push_back({{"file", line.file}, {"line", line.line}, {"action", party.action}});
    }
    defects.push_back(std::move(entry));
  }
  auto& kernels = report["kernels"] = nlohmann::ordered_json::array();
  for (const Launches& each : merged(result, true)) {
    const KernelObservation& k = *each.first;
    nlohmann::ordered_json entry = {{"kernel", k.kernel},
                                    {"grid", {k.grid.x, k.grid.y, k.grid.z}},
                                    {"block", {k.block.x, k.block.y, k.block.z}},
                                    {"dynamic_shared", k.dynamic_shared},
                                    {"static_shared", k.static_shared},
                                    {"launches", each.number},
                                    {"barriers", each.barriers}};
    if (k.sampled_blocks) entry["extrapolated_from_blocks"] = k.sampled_blocks;
    if (each.knows_fmas) entry["fma32"] = each.fma32, entry["fma64"] = each.fma64;
    if (each.tensor_flops) entry["tensor_flops"] = each.tensor_flops;
    for (const auto& [kind, access] : each.by_kind) entry["accesses"][kind] = json_of(access);
    auto& lines = entry["lines"] = nlohmann::ordered_json::array();
    for (const auto& [where, access] : each.by_line) {
      const auto& [file, line, kind] = where;
      nlohmann::ordered_json of_line = {{"file", file}, {"line", line}, {"kind", kind}};
      of_line.update(json_of(access));
      lines.push_back(std::move(of_line));
    }
    kernels.push_back(std::move(entry));
  }
  return report.dump(1) + "\n";
}

}  // namespace simt
