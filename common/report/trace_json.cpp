#include "common/report/trace_json.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace gemm {
namespace {

Json to_json(const TraceObject& object) {
  if (object.kind == TraceObject::Kind::matrix) {
    return {{"kind", "matrix"},         {"name", object.name}, {"rows", object.rows},
            {"cols", object.cols},      {"ld", object.ld},     {"element_bytes", object.element_bytes},
            {"in_line", object.in_line}};
  }
  return {{"kind", object.kind == TraceObject::Kind::shared ? "shared" : "memory"},
          {"name", object.name},
          {"bytes", object.bytes},
          {"in_line", object.in_line}};
}

Json to_json(const TraceSite& site) {
  Json json = {{"space", site.shared ? "shared" : "global"},
               {"access", site.atomic  ? "atomic"
                          : site.store ? "store"
                                       : "load"},
               {"bytes", site.bytes}};
  if (site.async) json["async"] = true;
  json["lines"] = Json::array();
  for (const auto& [file, line] : site.lines) json["lines"].push_back({{"file", file}, {"line", line}});
  return json;
}

// What requests have in common but for where they begin: few, and most of the text.
class Shapes {
 public:
  // Its number; `base` becomes the place from which its offsets count.
  std::size_t number_of(const TraceRequest& request, std::int64_t& base) {
    Json lanes = Json::array(), offsets = Json::array(), wavefronts = Json::array(), turns = Json::array(),
         objects = Json::array();
    base = std::numeric_limits<std::int64_t>::max();
    bool one_object = true;
    const auto first = static_cast<std::size_t>(std::countr_zero(request.mask | 1u << 31));
    for_each_lane(request, [&](std::size_t lane) {
      base = std::min(base, request.offset[lane]);
      one_object = one_object && request.object[lane] == request.object[first];
    });
    for_each_lane(request, [&](std::size_t lane) {
      offsets.push_back(request.offset[lane] - base);
      wavefronts.push_back(request.wavefront[lane]);
      turns.push_back(request.turn[lane]);
      objects.push_back(request.object[lane]);
    });
    Json shape = {{"mask", request.mask}, {"offsets", offsets}, {"wavefront", wavefronts}, {"turn", turns}};
    if (!one_object) shape["objects"] = objects;
    const auto [known, is_new] = numbers_.try_emplace(shape.dump(), list_.size());
    if (is_new) list_.push_back(shape);
    return known->second;
  }
  const Json& list() const { return list_; }

 private:
  template <class Do>
  static void for_each_lane(const TraceRequest& request, Do act) {
    for (std::uint32_t mask = request.mask; mask; mask &= mask - 1)
      act(static_cast<std::size_t>(std::countr_zero(mask)));
  }
  std::map<std::string, std::size_t> numbers_;
  Json list_ = Json::array();
};

// A row of "requests".
Json row_of(const TraceRequest& request, Shapes& shapes) {
  std::int64_t base = 0;
  const std::size_t shape = shapes.number_of(request, base);
  const auto first = static_cast<std::size_t>(std::countr_zero(request.mask | 1u << 31));
  return {request.block,         request.warp,  request.barriers, request.site,  shape,
          request.object[first], base,          request.sectors,  request.lines, request.wavefronts,
          request.conflicts,     request.source};
}
constexpr const char* fields[] = {"block", "warp",    "barriers", "site",       "shape",     "object",
                                  "base",  "sectors", "lines",    "wavefronts", "conflicts", "source"};

}  // namespace

Json to_json(const AccessTrace& trace) {
  const auto triple = [](dim3 d) { return Json{d.x, d.y, d.z}; };
  Json json = {{"launch", trace.launch},
               {"launches", trace.launches},
               {"kernel", trace.kernel},
               {"grid", triple(trace.grid)},
               {"block", triple(trace.block)},
               {"static_shared_bytes", trace.static_shared},
               {"dynamic_shared_bytes", trace.dynamic_shared}};
  if (!trace.defects.empty()) json["defects"] = trace.defects;
  if (!trace.warnings.empty()) json["warnings"] = trace.warnings;
  for (const char* name : {"objects", "sites", "blocks", "fields", "requests"}) json[name] = Json::array();
  for (const TraceObject& object : trace.objects) json["objects"].push_back(to_json(object));
  for (const TraceSite& site : trace.sites) json["sites"].push_back(to_json(site));
  for (const TraceBlock& block : trace.blocks)
    json["blocks"].push_back({{"index", block.index}, {"requests", block.requests}, {"barriers", block.barriers}});
  json["fields"] = fields;
  Shapes shapes;
  for (const TraceRequest& request : trace.requests) json["requests"].push_back(row_of(request, shapes));
  json["shapes"] = shapes.list();
  return json;
}

}  // namespace gemm
