#include "common/report/count_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "common/measure/reference_gpu.hpp"
#include "common/measure/roofline.hpp"
#include "common/report/text_table.hpp"
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
    if (result.counts) return result.counted_bound();
  }
  return {};
}

// The stage that this one changes, if it is among the results and was counted.
const Result* base_of(const Result& result, const std::vector<Result>& results) {
  if (result.base.empty()) return nullptr;
  const auto base = std::ranges::find_if(results, [&](const Result& other) {
    return other.id.starts_with(result.base + "_") && other.id.find(':') == std::string::npos;
  });
  return base != results.end() && base->counts ? &*base : nullptr;
}

std::string tflops_text(double tflops) {
  return fmt::format("{:.{}f}", tflops, tflops < 10 ? 2 : tflops < 100 ? 1 : 0);
}

// "40.1-58.3": if loads and FMAs take turns, and if everything overlaps.
std::string speeds(const ProblemSpec& problem, const Prediction& prediction) {
  const std::string least = tflops_text(problem.flops() / (prediction.most_ms * 1e9)),
                    most = tflops_text(problem.flops() / (prediction.least_ms * 1e9));
  return least == most ? least : least + "-" + most;
}

const char* step_name(const CountedBound& bound) {
  return bound.step == "mma" ? "product of 16 x 8 x 16" : "warp-wide FMA";
}

std::string status_cell(const Result& result, bool colour) {
  const std::string text = status_of(result);
  if (!colour) return text;
  const bool good = result.verdict.outcome == Outcome::pass;
  return fmt::format("\033[{}m{}\033[0m", good ? "32" : result.verdict.outcome == Outcome::skip ? "33" : "31", text);
}

}  // namespace

std::string count_table(const std::vector<Result>& results, bool colour) {
  const auto any = [&](const auto& has) { return std::ranges::any_of(results, has); };
  const bool referred = any([](const Result& r) { return r.predicted.has_value(); });
  const std::string peak = first_bound(results).peak;
  TextTable table({{{"stage"}},
                   {{"correct"}},
                   {{"since"}, false, 4},
                   {{"global", "loads"}, false, 6},
                   {{"global", "sectors"}, false, 5},
                   {{"shared", "loads"}, false, 6},
                   {{"loads as", "compiled"}, false, 6},
                   {{"L1, shared", "wavefronts"}, false, 3},
                   {{"bank", "conflicts"}, false, 7},
                   {{"issued", "instr."}, false, 4},
                   {{fmt::format("% of {}", peak), "peak"}, false, referred ? 2 : 0},
                   {{"predicted", referred ? "bound" : "bound, at most"}},
                   {{"predicted", "TFLOP/s"}, true, 1},
                   {{"measured", "TFLOP/s"}, true, 1},
                   {{"% of", "cuBLAS"}, true, 1}});
  for (const Result& result : results) {
    if (result.verdict.outcome != Outcome::pass || !result.counts) {
      table.add({result.id, status_cell(result, colour), result.verdict.reason});
      continue;
    }
    const Counts& c = *result.counts;
    const Result* const before = base_of(result, results);
    const CountedBound bound = result.counted_bound();
    std::vector<std::string> cells = {result.id, status_cell(result, colour),
                                      before ? result.base.substr(result.base.find('/') + 1) : ""};
    const auto cell = [&](double now, double then) {
      const std::string change = before ? factor(now, then) : "";
      cells.push_back(number(now) + (change.empty() ? "" : " " + change));
    };
    const auto counted = [&](auto value) {
      const double steps = c.steps(), steps_before = before ? before->counts->steps() : 0;
      cell(steps ? value(c) / steps : 0, steps_before ? value(*before->counts) / steps_before : 0);
    };
    counted([](const Counts& x) { return static_cast<double>(x.global_load.requests); });
    counted([](const Counts& x) { return static_cast<double>(x.global_load.sectors + x.global_store.sectors); });
    counted([](const Counts& x) { return static_cast<double>(x.shared_load.requests); });
    cells.push_back(result.code ? number(result.code->shared_loads) : "");
    counted([](const Counts& x) { return x.data_cycles(); });
    counted([](const Counts& x) { return static_cast<double>(x.shared_load.conflicts + x.shared_store.conflicts); });
    if (result.code) {
      cell(result.code->instructions, before && before->code ? before->code->instructions : 0);
    } else {
      cells.push_back("");
    }
    cell(100 * bound.share_of_peak, before ? 100 * before->counted_bound().share_of_peak : 0);
    cells.push_back(result.predicted ? result.predicted->by : bound.by);
    const auto measured = measured_on_reference(result.id, result.spec);
    const auto problem = reference_problem(result.id, result.spec);
    cells.push_back(result.predicted ? speeds(*problem, *result.predicted) : "");
    cells.push_back(measured ? tflops_text(measured->gflops * 1e-3) : "");
    cells.push_back(measured && measured->percent_of_library ? fmt::format("{:.1f}", *measured->percent_of_library)
                                                             : "");
    table.add(std::move(cells));
  }
  std::string text = table.text() + fmt::format(
                                        "counts are for each {}; beside them the change since that stage:\n"
                                        "x2 twice as many, /2 half, = the same\n",
                                        step_name(first_bound(results)));
  if (!referred) return text;
  if (any([](const Result& r) { return r.counts && !r.code; }))
    text += "no instructions: no machine code of this stage is on record, or its file has changed\n";
  const Result& referring = *std::ranges::find_if(results, [](const Result& r) { return r.predicted.has_value(); });
  const auto problem = reference_problem(referring.id, referring.spec);
  return text + fmt::format(
                    "TFLOP/s: on an {} with {}, {} x {} x {}, predicted from the counts\n"
                    "(if loads and FMAs take turns - if all overlaps){}\n",
                    reference_gpu()->device, reference_gpu()->library, problem->m, problem->n, problem->k,
                    any([](const Result& r) { return measured_on_reference(r.id, r.spec).has_value(); })
                        ? ", and as it was measured"
                        : "");
}

std::string count_details(const Result& result) {
  const Counts& c = *result.counts;
  const double steps = c.steps();
  const CountedBound bound = result.counted_bound();
  std::string text = fmt::format("\ncounted by the CPU executor, as the source is written ({:.2f} s)\n",
                                 result.verdict.observation.seconds);
  TextTable table({{{""}},
                   {{"requests"}, true},
                   {{"per " + bound.step}, true, 2},
                   {{"sectors"}, true},
                   {{"per req."}, true, 2},
                   {{"wavefronts"}, true},
                   {{"conflicts"}, true},
                   {{"threads' bytes"}, true, 1}});
  const auto row = [&](const char* name, const AccessCounts& a) {
    if (a.requests == 0) return;
    const auto requests = static_cast<double>(a.requests);
    table.add({std::string("  ") + name, whole(a.requests), steps ? number(requests / steps) : "-", whole(a.sectors),
               a.sectors ? number(static_cast<double>(a.sectors) / requests) : "-", whole(a.wavefronts),
               whole(a.conflicts), whole(a.bytes)});
  };
  row("global loads", c.global_load);
  row("global stores", c.global_store);
  row("shared loads", c.shared_load);
  row("shared stores", c.shared_store);
  row("global atomics", c.global_atomic);
  row("shared atomics", c.shared_atomic);
  text += table.text();
  const auto say = [&](const std::string& paragraph) { text += wrapped("  " + paragraph, "    "); };
  say(fmt::format("{} blocks, {} threads, {} bytes of shared memory a block, {} barriers", whole(c.blocks),
                  whole(c.threads), whole(c.shared_bytes), whole(c.barriers)));
  const auto fma = [&](const std::optional<std::uint64_t>& n) {
    return n ? whole(*n) : fmt::format("not counted in this build, {} taken from the problem", whole(c.assumed_fmas));
  };
  say(fmt::format("FMAs, by threads: {}{}{}", fma(c.fma32), c.fma64.value_or(0) ? ", double: " + fma(c.fma64) : "",
                  c.tensor_flops ? "; Tensor Core flops: " + whole(c.tensor_flops) : ""));
  say(fmt::format(
      "flop per byte: {} from global memory (sectors), {} from shared memory (wavefronts), {} into registers",
      number(c.intensity_global()), number(c.intensity_shared()), number(c.intensity_register())));
  if (steps) {
    std::vector<std::string> cycles;
    for (const BusyUnit& unit : bound.units) cycles.push_back(unit.name + " " + number(unit.cycles));
    say(fmt::format("cycles of an SM for each {}: {}", step_name(bound), fmt::join(cycles, ", ")));
    say(fmt::format("bound by {}, at most {} % of the {} peak", bound.by, number(100 * bound.share_of_peak),
                    bound.peak));
  }
  if (const auto problem = reference_problem(result.id, result.spec); problem && result.predicted) {
    const auto measured = measured_on_reference(result.id, result.spec);
    std::string line =
        fmt::format("on an {} at {} x {} x {}: {} TFLOP/s predicted, bound by {}", reference_gpu()->device, problem->m,
                    problem->n, problem->k, speeds(*problem, *result.predicted), result.predicted->by);
    if (measured) line += fmt::format("; {} measured", tflops_text(measured->gflops * 1e-3));
    if (measured && measured->percent_of_library)
      line += fmt::format(", {:.1f} % of {}", *measured->percent_of_library, reference_gpu()->library);
    say(line);
  }
  return text;
}

std::string line_table(const std::vector<LineCounts>& lines) {
  TextTable table({{{"line"}, true},
                   {{"global"}, true},
                   {{"sectors"}, true, 2},
                   {{"shared"}, true},
                   {{"wavefronts"}, true},
                   {{"conflicts"}, true, 1},
                   {{"FMAs"}, true},
                   {{"source"}}});
  std::string file;
  std::vector<std::string> source;
  for (const LineCounts& line : lines) {
    if (line.file != file) {
      file = line.file;
      table.add({file.empty() ? "unknown file" : file});
      source.clear();
      std::ifstream stream(std::string(GEMM_SOURCE_DIR "/") + file);
      for (std::string row; std::getline(stream, row);) source.push_back(row);
    }
    const Counts& c = line.counts;
    std::string code =
        line.line > 0 && static_cast<std::size_t>(line.line) <= source.size() ? source[line.line - 1] : "";
    code.erase(0, std::min(code.find_first_not_of(' '), code.size()));
    const auto global = c.global_load.requests + c.global_store.requests + c.global_atomic.requests;
    const auto shared = c.shared_load.requests + c.shared_store.requests + c.shared_atomic.requests;
    table.add({std::to_string(line.line), whole(global),
               whole(c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors), whole(shared),
               whole(c.shared_load.wavefronts + c.shared_store.wavefronts + c.shared_atomic.wavefronts),
               whole(c.shared_load.conflicts + c.shared_store.conflicts),
               whole(c.fma32.value_or(0) + c.fma64.value_or(0)), code});
  }
  return "\nline by line: loads and stores together, requests of warps\n" + table.text();
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
