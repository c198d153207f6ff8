#include "common/report/trace_json.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <vector>

namespace gemm {
namespace {

Json to_json(const TraceObject& object) {
  if (object.kind == TraceObject::Kind::matrix) {
    return {{"kind", "matrix"},  {"name", object.name}, {"rows", object.rows},
            {"cols", object.cols}, {"ld", object.ld},     {"element_bytes", object.element_bytes},
            {"in_line", object.in_line}};
  }
  return {{"kind", object.kind == TraceObject::Kind::shared ? "shared" : "memory"},
          {"name", object.name},
          {"bytes", object.bytes},
          {"in_line", object.in_line}};
}

Json to_json(const TraceSite& site) {
  Json json = {{"space", site.shared ? "shared" : "global"},
               {"access", site.atomic ? "atomic" : site.store ? "store" : "load"},
               {"bytes", site.bytes}};
  if (site.async) json["async"] = true;
  json["lines"] = Json::array();
  for (const auto& [file, line] : site.lines) json["lines"].push_back({{"file", file}, {"line", line}});
  return json;
}

// A value for each lane of the mask; one, if it is the same for all.
template <class Value>
Json by_lane(const std::array<Value, TraceRequest::lanes>& values, std::uint32_t mask) {
  std::vector<Value> of_mask;
  for (; mask; mask &= mask - 1) of_mask.push_back(values[static_cast<std::size_t>(std::countr_zero(mask))]);
  if (std::ranges::all_of(of_mask, [&](Value value) { return value == of_mask.front(); })) return of_mask.front();
  return of_mask;
}

// Most are a constant step apart: a sixth of the text.
void put_offsets(Json& json, const TraceRequest& request) {
  const auto& offset = request.offset;
  const std::int64_t step = offset[1] - offset[0];
  bool regular = request.mask == ~std::uint32_t{0};
  for (std::size_t l = 1; regular && l < offset.size(); ++l) regular = offset[l] - offset[l - 1] == step;
  json["offset"] = regular ? Json(offset[0]) : by_lane(offset, request.mask);
  if (regular && step != 0) json["step"] = step;
}

Json to_json(const TraceRequest& request, bool shared) {
  Json json = {
      {"block", request.block}, {"warp", request.warp}, {"barriers", request.barriers}, {"site", request.site}};
  if (request.mask != ~std::uint32_t{0}) json["mask"] = request.mask;
  json["object"] = by_lane(request.object, request.mask);
  put_offsets(json, request);
  if (!shared) {
    json["sectors"] = request.sectors;
    json["lines"] = request.lines;
  }
  json["wavefronts"] = request.wavefronts;
  if (request.conflicts) json["conflicts"] = request.conflicts;
  if (request.wavefronts > 1) json["wavefront"] = by_lane(request.wavefront, request.mask);
  return json;
}

}  // namespace

Json to_json(const AccessTrace& trace) {
  const auto triple = [](dim3 d) { return Json{d.x, d.y, d.z}; };
  Json json = {{"launches", trace.launches},
               {"kernel", trace.kernel},
               {"grid", triple(trace.grid)},
               {"block", triple(trace.block)},
               {"static_shared_bytes", trace.static_shared},
               {"dynamic_shared_bytes", trace.dynamic_shared}};
  if (!trace.defects.empty()) json["defects"] = trace.defects;
  if (!trace.warnings.empty()) json["warnings"] = trace.warnings;
  for (const char* name : {"objects", "sites", "blocks", "requests"}) json[name] = Json::array();
  for (const TraceObject& object : trace.objects) json["objects"].push_back(to_json(object));
  for (const TraceSite& site : trace.sites) json["sites"].push_back(to_json(site));
  for (const TraceBlock& block : trace.blocks)
    json["blocks"].push_back({{"index", block.index}, {"requests", block.requests}, {"barriers", block.barriers}});
  for (const TraceRequest& request : trace.requests)
    json["requests"].push_back(to_json(request, trace.sites[request.site].shared));
  return json;
}

}  // namespace gemm
