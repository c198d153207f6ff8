#include "common/commands/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "common/kernel/status.hpp"
#include "common/problem/names.hpp"

namespace gemm {
namespace {

void add_sizes(const std::string& text, std::vector<std::pair<int, int>>& sizes) {
  int m = 0, n = 0, end = 0;
  const auto complete = [&] { return end > 0 && text[static_cast<std::size_t>(end)] == '\0'; };
  const auto add = [&](int first, int last, bool square) {
    for (int i = first; i <= last; ++i) sizes.emplace_back(i, square ? i : n);
  };
  constexpr int most = 1024;
  const auto in_range = [](int x) { return x >= 1 && x <= most; };
  if (std::sscanf(text.c_str(), "%d%n", &m, &end) == 1 && complete() && in_range(m)) return add(m, m, true);
  if (std::sscanf(text.c_str(), "%dx%d%n", &m, &n, &end) == 2 && complete() && in_range(m) && in_range(n))
    return add(m, m, false);
  if (std::sscanf(text.c_str(), "%d-%d%n", &m, &n, &end) == 2 && complete() && in_range(m) && in_range(n) && m <= n)
    return add(m, n, true);
  throw UsageError("sizes are M, MxN or FIRST-LAST, not '" + text + "'");
}

}  // namespace

void add_type_option(CLI::App& app, std::optional<Type>& type) {
  app.add_option_function<std::string>(
         "--type", [&type](const std::string& name) { type = type_of(name); },
         "s: float; h: FP16 operands, the result float; d: double; z: double complex (default: d for tall & skinny "
         "products, else what the stages take, or s)")
      ->check(CLI::IsMember({"s", "h", "d", "z"}));
}

void set_kind(ProblemSpec& spec, Operation op, std::optional<Type> type) {
  spec.op = op;
  spec.type = type.value_or(op == Operation::gemm ? Type::f32 : Type::f64);
  const bool plain = spec.type == Type::f32 || spec.type == Type::f16;
  if ((op == Operation::gemm) != plain)
    throw UsageError(fmt::format("no {} in {}", operation_name(op), type_name(spec.type)));
}

void add_timeout_option(CLI::App& app, double& seconds) {
  app.add_option("--timeout", seconds, "stop a stage that takes longer than so many seconds (CPU build; 0: never)")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

void add_timing_options(CLI::App& app, TimingOptions& timing) {
  CLI::Option* const cache = app.add_option_function<std::string>(
                                    "--cache", [&timing](const std::string& text) { timing.cold = text == "cold"; },
                                    "L2 cache before each launch: warm (as the last launch left it) or cold (flushed)")
                                 ->check(CLI::IsMember({"warm", "cold"}))
                                 ->default_str("warm");
  app.add_flag("--back-to-back", timing.back_to_back,
               "time it a second time, without cuBLAS or anything else between launches (implies --time)")
      ->excludes(cache);
  app.add_option("--seconds", timing.seconds, "about how long to sample each kernel")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
}

void add_kernel_options(CLI::App& app, KernelOptions& options) {
  app.add_option("--tile-m", options.tile_m, "of a generated TSMTTSM: columns of A that a thread has")
      ->check(CLI::Range(1, 64));
  app.add_option("--tile-n", options.tile_n, "columns of B")->check(CLI::Range(1, 64));
  const auto add_switch = [&](const char* name, std::optional<bool>& value, const char* description) {
    app.add_option_function<std::string>(
           name, [&value](const std::string& text) { value = text == "on"; }, description)
        ->check(CLI::IsMember({"on", "off"}));
  };
  add_switch("--transposed", options.transposed, "on: neighbouring threads have neighbouring columns; off: tiles");
  add_switch("--leapfrog", options.leapfrog, "on: the next rows are loaded before these are multiplied");
  app.add_option("--unroll", options.unroll, "rows that are loaded together")->check(CLI::Range(1, 16));
  app.add_option_function<std::string>(
         "--reduction",
         [&options](const std::string& name) {
           for (const Reduction each : reductions) {
             if (name == reduction_name(each)) options.reduction = each;
           }
         },
         "of TSMTTSM: atomics: each thread adds to C; shared-atomics: to its block's copy of C, and the block to C; "
         "local: "
         "a block's tree in shared memory adds to C; ordered: a second kernel, the same bits every time")
      ->check(CLI::IsMember({"atomics", "shared-atomics", "local", "ordered"}));
  app.add_option("--products", options.products, "of real numbers for one of complex ones: 3 or 4")
      ->check(CLI::IsMember({"3", "4"}));
  app.add_option_function<std::string>(
         "--c-source",
         [&options](const std::string& name) {
           for (const CSource each : {CSource::registers, CSource::global, CSource::shared}) {
             if (name == c_source_name(each)) options.c_source = each;
           }
         },
         "of TSMM: where a thread reads C for each row: registers, global (L1 cache), shared")
      ->check(CLI::IsMember({"registers", "global", "shared"}));
  app.add_option("--threads-per-row", options.threads_per_row, "of TSMM: threads that have a row of B between them")
      ->check(CLI::IsMember({"1", "2", "4", "8", "16"}));
  app.add_option("--turns", options.turns,
                 "of TSMM: sets of rows that a block has, before another block takes its place")
      ->check(CLI::Range(1, 1024));
  app.add_option("--threads", options.threads, "of a block")->check([](const std::string& text) {
    const int threads = std::atoi(text.c_str());
    return threads >= 32 && threads <= 1024 && threads % 32 == 0 ? "" : "threads must be 32, 64, ... 1024";
  });
  app.add_option_function<std::string>(
      "--kernel-cache", [](const std::string& folder) { setenv("GEMM_KERNEL_CACHE", folder.c_str(), 1); },
      "where compiled kernels are kept (default: $GEMM_KERNEL_CACHE, or ~/.cache/staged-gemm)");
}

void add_types_option(CLI::App& app, std::vector<Type>& types) {
  types = {Type::f64, Type::c64};
  app.add_option_function<std::string>(
         "--type",
         [&types](const std::string& names) {
           types.clear();
           for (const char name : names) types.push_back(name == 'd' ? Type::f64 : Type::c64);
         },
         "d: double; z: double complex; dz: both (default)")
      ->check(CLI::IsMember({"d", "z", "dz"}));
}

std::vector<std::pair<int, int>> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<std::pair<int, int>> sizes;
  for (const std::string& text : texts) add_sizes(text, sizes);
  return sizes;
}

}  // namespace gemm
