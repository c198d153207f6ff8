#include "common/report/count_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "common/measure/roofline.hpp"
#include "common/report/verdict.hpp"

namespace gemm {
namespace {

// A number with so many significant digits and no exponent where it can be avoided.
std::string number(double x) {
  if (x == 0) return "-";
  if (!std::isfinite(x)) return "none";
  if (x >= 1e6) return fmt::format("{:.4g}", x);
  return x >= 1000 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x);
}

std::string whole(std::uint64_t x) {
  if (x == 0) return "-";
  std::string digits = std::to_string(x), text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// "/16.5" or "x2.0" against the value before, "=" if it is the same within 1 %.
std::string factor(double now, double before) {
  if (now == 0 || before == 0 || !std::isfinite(now) || !std::isfinite(before)) return "";
  const double ratio = now / before;
  if (std::abs(ratio - 1) < 0.01) return "=";
  return ratio > 1 ? fmt::format("x{:.2g}", ratio) : fmt::format("/{:.2g}", 1 / ratio);
}

// Of the counted ones; all are of one type.
CountedBound first_bound(const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (result.counts) return counted_bound(*result.counts);
  }
  return {};
}

// The counts of the stage that this one changes, if they are among the results.
const Counts* counts_of_base(const Result& result, const std::vector<Result>& results) {
  if (result.base.empty()) return nullptr;
  const auto base = std::ranges::find_if(results, [&](const Result& other) {
    return other.id.starts_with(result.base + "_") && other.id.find(':') == std::string::npos;
  });
  return base != results.end() && base->counts ? &*base->counts : nullptr;
}

const char* step_name(const CountedBound& bound) {
  return bound.step == "mma" ? "product of 16 x 8 x 16" : "warp-wide FMA";
}

std::string status_cell(const Result& result, bool colour) {
  const std::string text = fmt::format("{:<4}", status_of(result));
  if (!colour) return text;
  const bool good = result.verdict.outcome == Outcome::pass;
  return fmt::format("\033[{}m{}\033[0m", good ? "32" : result.verdict.outcome == Outcome::skip ? "33" : "31", text);
}

}  // namespace

std::string count_table(const std::vector<Result>& results, bool colour) {
  std::size_t width = 5;
  for (const Result& result : results) width = std::max(width, result.id.size());
  std::string text = fmt::format("{:<{}}  {:<7}  {:<6}{:<12}{:<12}{:<12}{:<12}{:<12}{:<12}{}\n", "stage", width,
                                 "correct", "since", "global", "global", "shared", "L1, shared", "bank",
                                 fmt::format("% of {}", first_bound(results).peak), "predicted");
  text += fmt::format("{:<{}}  {:<7}  {:<6}{:<12}{:<12}{:<12}{:<12}{:<12}{:<12}{}\n", "", width, "", "", "loads",
                      "sectors", "loads", "wavefronts", "conflicts", "peak", "bound, at most");
  for (const Result& result : results) {
    text += fmt::format("{:<{}}  {}     ", result.id, width, status_cell(result, colour));
    if (result.verdict.outcome != Outcome::pass || !result.counts) {
      text += result.verdict.reason + "\n";
      continue;
    }
    const Counts& c = *result.counts;
    const Counts* const before = counts_of_base(result, results);
    const std::string since = before ? result.base.substr(result.base.find('/') + 1) : "";
    text += fmt::format("{:<6}", since);
    const auto cell = [&](auto value) {
      const double steps = c.steps(), steps_before = before ? before->steps() : 0;
      const double now = steps ? value(c) / steps : 0;
      const std::string change = steps_before ? factor(now, value(*before) / steps_before) : "";
      text += fmt::format("{:<12}", number(now) + (change.empty() ? "" : " " + change));
    };
    cell([](const Counts& x) { return static_cast<double>(x.global_load.requests); });
    cell([](const Counts& x) { return static_cast<double>(x.global_load.sectors + x.global_store.sectors); });
    cell([](const Counts& x) { return static_cast<double>(x.shared_load.requests); });
    cell([](const Counts& x) { return x.data_cycles(); });
    cell([](const Counts& x) { return static_cast<double>(x.shared_load.conflicts + x.shared_store.conflicts); });
    const CountedBound bound = counted_bound(c);
    const std::string change = before ? factor(bound.share_of_peak, counted_bound(*before).share_of_peak) : "";
    text +=
        fmt::format("{:<12}{}\n", number(100 * bound.share_of_peak) + (change.empty() ? "" : " " + change), bound.by);
  }
  return text +
         fmt::format("each per {}; beside it the change since that stage: x2 twice as many, /2 half, = the same\n",
                     step_name(first_bound(results)));
}

std::string count_details(const Result& result) {
  const Counts& c = *result.counts;
  const double steps = c.steps();
  const CountedBound bound = counted_bound(c);
  std::string text = fmt::format("\ncounted by the CPU executor, as the source is written ({:.2f} s)\n",
                                 result.verdict.observation.seconds);
  text += fmt::format("  {:<14} {:>13} {:>8} {:>13} {:>8} {:>13} {:>13} {:>15}\n", "", "requests", "per " + bound.step,
                      "sectors", "per req.", "wavefronts", "conflicts", "threads' bytes");
  const auto row = [&](const char* name, const AccessCounts& a) {
    if (a.requests == 0) return;
    const auto requests = static_cast<double>(a.requests);
    text += fmt::format("  {:<14} {:>13} {:>8} {:>13} {:>8} {:>13} {:>13} {:>15}\n", name, whole(a.requests),
                        steps ? number(requests / steps) : "-", whole(a.sectors),
                        a.sectors ? number(static_cast<double>(a.sectors) / requests) : "-", whole(a.wavefronts),
                        whole(a.conflicts), whole(a.bytes));
  };
  row("global loads", c.global_load);
  row("global stores", c.global_store);
  row("shared loads", c.shared_load);
  row("shared stores", c.shared_store);
  row("global atomics", c.global_atomic);
  row("shared atomics", c.shared_atomic);
  text += fmt::format("  {} blocks, {} threads, {} bytes of shared memory a block, {} barriers\n", whole(c.blocks),
                      whole(c.threads), whole(c.shared_bytes), whole(c.barriers));
  const auto fma = [&](const std::optional<std::uint64_t>& n) {
    return n ? whole(*n) : fmt::format("not counted in this build, {} taken from the problem", whole(c.assumed_fmas));
  };
  text += fmt::format("  FMAs, by threads: {}{}", fma(c.fma32), c.fma64.value_or(0) ? ", double: " + fma(c.fma64) : "");
  if (c.tensor_flops) text += fmt::format("; Tensor Core flops: {}", whole(c.tensor_flops));
  text += fmt::format(
      "\n  flop per byte: {} from global memory (sectors), {} from shared memory (wavefronts), {} into registers\n",
      number(c.intensity_global()), number(c.intensity_shared()), number(c.intensity_register()));
  if (steps) {
    text +=
        fmt::format("  per {}: data banks {} cycles, tags {}, {} cores {}: bound by {}, at most {} % of the {} peak\n",
                    step_name(bound), number(c.data_cycles() / steps), number(c.tag_cycles() / steps),
                    bound.step == "mma" ? "Tensor" : bound.peak, number(bound.at_peak), bound.by,
                    number(100 * bound.share_of_peak), bound.peak);
  }
  return text;
}

std::string line_table(const std::vector<LineCounts>& lines) {
  std::string text =
      fmt::format("\n{:>5}  {:>9} {:>10} {:>9} {:>10} {:>10} {:>11}  {}\n", "line", "global", "sectors", "shared",
                  "wavefronts", "conflicts", "FMAs", "source (loads and stores together, requests of warps)");
  std::string file;
  std::vector<std::string> source;
  for (const LineCounts& line : lines) {
    if (line.file != file) {
      file = line.file;
      text += (file.empty() ? "unknown file" : file) + "\n";
      source.clear();
      std::ifstream stream(std::string(GEMM_SOURCE_DIR "/") + file);
      for (std::string row; std::getline(stream, row);) source.push_back(row);
    }
    const Counts& c = line.counts;
    std::string code =
        line.line > 0 && static_cast<std::size_t>(line.line) <= source.size() ? source[line.line - 1] : "";
    code.erase(0, std::min(code.find_first_not_of(' '), code.size()));
    constexpr std::size_t room = 120 - 75;
    if (code.size() > room) code = code.substr(0, room - 3) + "...";
    const auto global = c.global_load.requests + c.global_store.requests + c.global_atomic.requests;
    const auto shared = c.shared_load.requests + c.shared_store.requests + c.shared_atomic.requests;
    text += fmt::format("{:>5}  {:>9} {:>10} {:>9} {:>10} {:>10} {:>11}  {}\n", line.line, whole(global),
                        whole(c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors), whole(shared),
                        whole(c.shared_load.wavefronts + c.shared_store.wavefronts + c.shared_atomic.wavefronts),
                        whole(c.shared_load.conflicts + c.shared_store.conflicts),
                        whole(c.fma32.value_or(0) + c.fma64.value_or(0)), code);
  }
  return text;
}

std::string count_changes(const Counts& before, const Counts& after) {
  std::string text;
  const auto row = [&](const char* what, double x, double y) {
    if (x == 0 && y == 0) return;
    const auto show = [](double v) { return v == std::floor(v) ? whole(static_cast<std::uint64_t>(v)) : number(v); };
    text += fmt::format("  {:<40} {:>16} -> {:<16} {}\n", what, show(x), show(y), factor(y, x));
  };
  const auto counts = [&](const std::string& kind, const AccessCounts& x, const AccessCounts& y) {
    const auto number_row = [&](const char* what, std::uint64_t p, std::uint64_t q) {
      row((kind + what).c_str(), static_cast<double>(p), static_cast<double>(q));
    };
    number_row(", requests", x.requests, y.requests);
    number_row(", sectors", x.sectors, y.sectors);
    number_row(", wavefronts", x.wavefronts, y.wavefronts);
    number_row(", bank conflicts", x.conflicts, y.conflicts);
  };
  counts("global loads", before.global_load, after.global_load);
  counts("global stores", before.global_store, after.global_store);
  counts("shared loads", before.shared_load, after.shared_load);
  counts("shared stores", before.shared_store, after.shared_store);
  counts("global atomics", before.global_atomic, after.global_atomic);
  counts("shared atomics", before.shared_atomic, after.shared_atomic);
  row("FMAs, by threads", before.fmas(), after.fmas());
  row("barriers", static_cast<double>(before.barriers), static_cast<double>(after.barriers));
  row("blocks", static_cast<double>(before.blocks), static_cast<double>(after.blocks));
  row("threads", static_cast<double>(before.threads), static_cast<double>(after.threads));
  row("shared memory of a block, bytes", static_cast<double>(before.shared_bytes),
      static_cast<double>(after.shared_bytes));
  row("flop per byte of global memory", before.intensity_global(), after.intensity_global());
  row("flop per byte of shared memory", before.intensity_shared(), after.intensity_shared());
  row("flop per byte into registers", before.intensity_register(), after.intensity_register());
  if (before.steps() && after.steps()) {
    const CountedBound x = counted_bound(before), y = counted_bound(after);
    row(fmt::format("cycles of an SM for a {}", step_name(y)).c_str(), x.cycles, y.cycles);
    row(fmt::format("most of the {} peak this allows, %", y.peak).c_str(), 100 * x.share_of_peak,
        100 * y.share_of_peak);
    text += fmt::format("  {:<40} {:>16} -> {}\n", "bound", x.by, y.by);
  }
  return text;
}

}  // namespace gemm
