#include "common/report/kernel_options_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/kernel/status.hpp"

namespace gemm {
namespace {

struct Number {
  const char* name;
  int KernelOptions::*value;
};
struct Switch {
  const char* name;
  std::optional<bool> KernelOptions::*value;
};
constexpr Number numbers[] = {{"tile_m", &KernelOptions::tile_m},
                              {"tile_n", &KernelOptions::tile_n},
                              {"threads_per_row", &KernelOptions::threads_per_row},
                              {"unroll", &KernelOptions::unroll},
                              {"products", &KernelOptions::products},
                              {"threads", &KernelOptions::threads},
                              {"turns", &KernelOptions::turns}};
constexpr Switch switches[] = {{"transposed", &KernelOptions::transposed}, {"leapfrog", &KernelOptions::leapfrog}};

template <class Value, std::size_t count>
Value by_name(const std::string& what, const std::string& name, const Value (&all)[count],
              const char* (*name_of)(Value)) {
  for (const Value each : all) {
    if (name == name_of(each)) return each;
  }
  throw UsageError(fmt::format("no {} '{}'", what, name));
}

}  // namespace

Json to_json(const KernelOptions& options) {
  Json json = Json::object();
  const auto add_number = [&](const char* name, int number) {
    if (number) json[name] = number;
  };
  add_number("tile_m", options.tile_m);
  add_number("tile_n", options.tile_n);
  if (options.transposed) json["transposed"] = *options.transposed;
  if (options.leapfrog) json["leapfrog"] = *options.leapfrog;
  add_number("threads_per_row", options.threads_per_row);
  if (options.c_source) json["c_source"] = c_source_name(*options.c_source);
  add_number("unroll", options.unroll);
  if (options.reduction) json["reduction"] = reduction_name(*options.reduction);
  add_number("products", options.products);
  add_number("threads", options.threads);
  add_number("turns", options.turns);
  return json;
}

KernelOptions kernel_options_from_json(const Json& json) {
  static constexpr CSource sources[] = {CSource::registers, CSource::global, CSource::shared};
  if (!json.is_object()) throw UsageError("options of a kernel are an object, not " + json.dump());
  KernelOptions options;
  for (const auto& [name, value] : json.items()) {
    const auto require = [&, &name = name, &value = value](bool right, const char* what) {
      if (!right) throw UsageError(fmt::format("option {} of a kernel is {}, not {}", name, what, value.dump()));
    };
    const auto is = [&name = name](const auto& each) { return name == each.name; };
    const auto number = std::ranges::find_if(numbers, is);
    const auto flag = std::ranges::find_if(switches, is);
    if (number != std::end(numbers)) {
      require(value.is_number_integer() && value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= 1024,
              "a number from 1 to 1024");
      options.*number->value = value.get<int>();
    } else if (flag != std::end(switches)) {
      require(value.is_boolean(), "true or false");
      options.*flag->value = value.get<bool>();
    } else if (name == "reduction" || name == "c_source") {
      require(value.is_string(), "a name");
      const auto text = value.get<std::string>();
      if (name == "reduction")
        options.reduction = by_name(name, text, reductions, reduction_name);
      else
        options.c_source = by_name(name, text, sources, c_source_name);
    } else {
      throw UsageError(fmt::format("kernels have no option '{}'", name));
    }
  }
  return options;
}

}  // namespace gemm
