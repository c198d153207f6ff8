#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "common/commands/commands.hpp"
#include "common/commands/options.hpp"
#include "common/kernel/status.hpp"
#include "common/problem/registry.hpp"
#include "common/toolchain/jit.hpp"

namespace gemm {
namespace {

struct CompileOptions {
  std::string stage, target;
  std::vector<std::string> shapes;
  std::vector<Type> types;
  bool conjugate = false;
  KernelOptions kernel;
};

// Fills the cache of kernels, for another machine, too.
int compile_ahead(const CompileOptions& options) {
  const Stage& stage = find_stage(options.stage);
  if (!stage.generated) throw UsageError(stage.id + " does not generate its kernel: there is nothing to compile");
  if (!options.target.empty()) require_jit_target(options.target);
  if (const std::string why = foreign_options(stage.op, options.kernel); !why.empty()) throw UsageError(why);
  if (options.conjugate && stage.op != Operation::tsmttsm) throw UsageError("only A of a TSMTTSM can be conjugated");
  const std::string target = options.target.empty() ? native_jit_target() : options.target;
  const std::vector<std::pair<int, int>> sizes = parse_sizes(options.shapes);
  fmt::print("{} for {}, kept in {}\n{:<7} {:>9} {:>14} {:>6} {:>9} {:>9} {:>8}\n", stage.id, target,
             kernel_cache().string(), "type", "M x N", stage.op == Operation::tsmm ? "a row, C from" : "tile", "unroll",
             "registers", "spilled", "seconds");
  int failed = 0, kept = 0;
  double seconds = 0;
  for (const auto& [m, n] : sizes) {
    for (const Type type : options.types) {
      const bool is_complex = type == Type::c64;
      const KernelOptions used = stage.generated.choose(m, n, is_complex, options.kernel);
      const std::string size =
          fmt::format("{:<7} {:>9}", is_complex ? "complex" : "real", fmt::format("{} x {}", m, n));
      if (const std::string why = kernel_refusal(stage, m, n, is_complex, used); !why.empty()) {
        fmt::print("{} {}\n", size, why);
        continue;
      }
      const JitEntry entry =
          compile_kernel(stage.generated.request(m, n, is_complex, options.conjugate && is_complex, used), target);
      if (entry.status.code == Status::Code::unsupported) throw DeviceError(entry.status.reason);
      failed += !entry.status;
      kept += entry.status && !entry.file.empty();
      seconds += entry.seconds;
      const std::string shape =
          stage.op == Operation::tsmm
              ? fmt::format("{}, {}", used.threads_per_row, used.c_source ? c_source_name(*used.c_source) : "-")
              : fmt::format("{}x{}", used.tile_m, used.tile_n);
      fmt::print("{} {:>14} {:>6} {}\n", size, shape, used.unroll,
                 entry.status ? fmt::format("{:>9} {:>9} {:>8}", entry.binary.registers, entry.binary.spill_bytes,
                                            entry.compiled ? fmt::format("{:.2f}", entry.seconds) : "kept")
                              : entry.status.reason);
      std::fflush(stdout);
    }
  }
  fmt::print("{} kept, {} failed; {:.1f} s\n", kept, failed, seconds);
  return failed ? 1 : 0;
}

}  // namespace

void add_compile_command(CLI::App& app, const std::string&, Action& action) {
  const auto options = std::make_shared<CompileOptions>();
  CLI::App* const self = app.add_subcommand("compile", "kernels of a stage that generates them, ahead of time");
  self->add_option("stage", options->stage, "its id")->required();
  self->add_option("sizes", options->shapes, "M, MxN or FIRST-LAST (squares)")->required();
  self->add_option("--arch", options->target, "such as sm_90a; needs no GPU (default: this machine's)");
  add_types_option(*self, options->types);
  self->add_flag("--conj", options->conjugate, "A^H in place of A^T");
  add_kernel_options(*self, options->kernel);
  self->callback([options, &action] { action = [options] { return compile_ahead(*options); }; });
}

}  // namespace gemm
