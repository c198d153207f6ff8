#include "tensorcore/fragment_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/backend/device.hpp"

namespace gemm::fragments {
namespace {

constexpr int lanes = 32;

std::string show(Place place) {
  return fmt::format("({},{})", place.row, place.col);
}

// The executor has every kind.
bool is_here(int needs) {
  return !open_device().gpu || open_device().compute_capability >= needs;
}

Json measure(const Kind& kind, std::vector<Place>& found) {
  Json result = {
      {"part", "map"},     {"kind", kind.name()}, {"fragment", kind.description}, {"rows", kind.rows},
      {"cols", kind.cols}, {"held", kind.held},   {"elements", kind.elements},    {"registers", kind.registers},
      {"status", "skip"},  {"reason", ""}};
  if (!is_here(kind.needs)) {
    result["reason"] = fmt::format("needs sm_{}", kind.needs);
    return result;
  }
  found = kind.discover();
  std::string reason = difference(found, kind.table, kind.elements, "wmma_ext's table");
  if (reason.empty()) reason = difference(found, kind.documented, kind.elements, "the PTX manual's");
  result["status"] = reason.empty() ? "pass" : "fail";
  result["reason"] = reason;
  for (std::size_t i = 0; i < found.size(); i += static_cast<std::size_t>(kind.elements)) {
    std::string numbers;  // of elements, by rows
    for (int e = 0; e < kind.elements; ++e) {
      const Place place = found[i + static_cast<std::size_t>(e)];
      numbers += (e ? " " : "") + std::to_string(place.row * kind.cols + place.col);
    }
    result["lanes"].push_back(numbers);
  }
  return result;
}

std::string show_map(const Kind& kind, const std::vector<Place>& found) {
  std::string text =
      fmt::format("{}, {} x {}: the lanes, and (row,column) of x[0], x[1] ...", kind.description, kind.rows, kind.cols);
  for (int i = 0; i < lanes * kind.elements; ++i) {
    if (i % kind.elements == 0) text += fmt::format("\n  {:>2}:", i / kind.elements);
    if (i % kind.elements < kind.held) text += " " + show(found[static_cast<std::size_t>(i)]);
  }
  text += "\n";
  if (kind.elements > kind.held)
    text += fmt::format("each of them {} times: x[i] is x[i + {}], too\n", kind.elements / kind.held, kind.held);
  return text;
}

// The same matrix as a fragment of wmma, and as so many of mma.sync.
struct Pair {
  const char *matrix, *wmma, *mma;
  int tiles;
};
constexpr Pair pairs[] = {{"A, 16 x 16, f16", "a_f16_16x16x16_row", "a_f16_16x8x16", 1},
                          {"B, 16 x 16, f16", "b_f16_16x16x16_row", "b_f16_16x8x16", 2},
                          {"C, 16 x 16, f32", "c_f32_16x16x16", "c_f32_16x8x16", 2},
                          {"A, 32 x 16, f16", "a_f16_32x8x16_row", "a_f16_16x8x16", 2},
                          {"B, 16 x 8, f16", "b_f16_32x8x16_row", "b_f16_16x8x16", 1},
                          {"A, 16 x 16, bf16", "a_bf16_16x16x16_row", "a_bf16_16x8x16", 1},
                          {"A, 16 x 8, tf32", "a_tf32_16x16x8_row", "a_tf32_16x8x8", 1}};

}  // namespace

std::string Kind::name() const {
  const bool is_wmma = description.starts_with("wmma ");
  const auto word = [&](std::size_t which) {
    std::size_t at = 0;
    for (; which > 0 && at != std::string::npos; --which) at = description.find(' ', at) + 1;
    return description.substr(at, description.find(' ', at) - at);
  };
  const std::string use = word(1), order = is_wmma && use != "accumulator" ? word(4) : "";
  return fmt::format("{}_{}_{}{}", use == "accumulator" ? "c" : use.substr(7), word(3), word(2),
                     order.empty() ? "" : "_" + order.substr(0, 3));
}

std::vector<std::string> names(const std::vector<Kind>& kinds) {
  std::vector<std::string> all;
  for (const Kind& kind : kinds) all.push_back(kind.name());
  return all;
}

std::string difference(const std::vector<Place>& found, const std::vector<Place>& expected, int elements,
                       const std::string& whose) {
  if (found.size() != expected.size()) return fmt::format("{} places, {} in {}", found.size(), expected.size(), whose);
  const auto [a, b] = std::ranges::mismatch(found, expected);
  if (a == found.end()) return {};
  const auto place = static_cast<int>(a - found.begin());
  return fmt::format("x[{}] of lane {} is {} on this device, {} in {}", place % elements, place / elements, show(*a),
                     show(*b), whose);
}

ProbeReport report(const std::vector<Kind>& kinds, std::string (*check_tiles)(), const std::string& shown) {
  ProbeReport report;
  report.settings = {{"kind", shown}};
  report.table = {{"fragment", "matrix", "elements of a lane", "in x[]", "registers", "status"}};
  for (const Kind& kind : kinds) {
    std::vector<Place> found;
    Json result = measure(kind, found);
    report.table.push_back({kind.name(), fmt::format("{} x {}", kind.rows, kind.cols), std::to_string(kind.held),
                            std::to_string(kind.elements), std::to_string(kind.registers), result["status"]});
    if (kind.name() == shown)
      report.text = found.size() == kind.table.size() ? show_map(kind, found) : "no map of " + shown + "\n";
    report.results.push_back(std::move(result));
  }
  const bool has_tiles = is_here(80);
  const std::string wrong = has_tiles ? check_tiles() : "m16n8k16 needs sm_80";
  report.results.push_back({{"part", "tiles"},
                            {"status", !has_tiles      ? "skip"
                                       : wrong.empty() ? "pass"
                                                       : "fail"},
                            {"reason", wrong}});
  report.text += "\nregisters of a lane for the same matrix, wmma / mma.sync:";
  for (const Pair& pair : pairs) {
    const auto registers = [&](const char* name) { return std::ranges::find(kinds, name, &Kind::name)->registers; };
    const int wmma = registers(pair.wmma), mma = pair.tiles * registers(pair.mma);
    report.text += fmt::format("\n  {:<16}  {} / {}", pair.matrix, wmma, mma);
    report.results.push_back({{"part", "registers"},
                              {"matrix", pair.matrix},
                              {"wmma", wmma},
                              {"mma", mma},
                              {"status", "pass"},
                              {"reason", ""}});
  }
  report.text += "\n";
  return report;
}

}  // namespace gemm::fragments
