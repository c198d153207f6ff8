#include "common/report/count_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace gemm {
namespace {

Json to_json(const AccessCounts& a) {
  return {{"requests", a.requests},       {"lanes", a.lanes}, {"bytes", a.bytes},
          {"sectors", a.sectors},         {"lines", a.lines}, {"wavefronts", a.wavefronts},
          {"bank_conflicts", a.conflicts}};
}

// JSON has no infinity.
Json finite(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}

}  // namespace

Json to_json(const Counts& c) {
  Json json = {{"global_load", to_json(c.global_load)},     {"global_store", to_json(c.global_store)},
               {"shared_load", to_json(c.shared_load)},     {"shared_store", to_json(c.shared_store)},
               {"global_atomic", to_json(c.global_atomic)}, {"shared_atomic", to_json(c.shared_atomic)}};
  json["fma32"] = c.fma32 ? Json(*c.fma32) : Json(nullptr);
  json["fma64"] = c.fma64 ? Json(*c.fma64) : Json(nullptr);
  json["tensor_flops"] = c.tensor_flops;
  json["barriers"] = c.barriers;
  json["blocks"] = c.blocks;
  json["threads"] = c.threads;
  json["shared_bytes_per_block"] = c.shared_bytes;
  json["flop_per_byte"] = {{"global", finite(c.intensity_global())},
                           {"shared", finite(c.intensity_shared())},
                           {"register", finite(c.intensity_register())}};
  return json;
}

Json to_json(const std::vector<LineCounts>& lines) {
  Json json = Json::array();
  for (const LineCounts& line : lines) {
    Json entry = {{"file", line.file}, {"line", line.line}};
    const std::pair<const char*, const AccessCounts*> kinds[] = {
        {"global_load", &line.counts.global_load},     {"global_store", &line.counts.global_store},
        {"shared_load", &line.counts.shared_load},     {"shared_store", &line.counts.shared_store},
        {"global_atomic", &line.counts.global_atomic}, {"shared_atomic", &line.counts.shared_atomic}};
    for (const auto& [name, counts] : kinds) {
      if (counts->requests) entry[name] = to_json(*counts);
    }
    if (line.counts.fma32) entry["fma32"] = *line.counts.fma32;
    if (line.counts.fma64) entry["fma64"] = *line.counts.fma64;
    json.push_back(entry);
  }
  return json;
}

}  // namespace gemm
