// Shows what nvcc made of the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/toolchain/sass.hpp"

namespace gemm {
namespace {

constexpr std::size_t columns = 110;

// "32 FFMA, 16 LDS.128, ...": arithmetic first, then shared memory, global memory and the rest.
std::vector<std::string> listed(const InstructionCounts& counts) {
  const auto rank = [](std::string_view name) {
    const std::string_view base = name.substr(0, name.find('.'));
    if (base.ends_with("MMA")) return 0;
    constexpr std::string_view order[] = {"FFMA", "FFMA2",  "DFMA", "HFMA2", "LDSM", "LDS", "STS",
                                          "STSM", "LDGSTS", "LDG",  "STG",   "LD",   "ST"};
    return static_cast<int>(std::find(std::begin(order), std::end(order), base) - std::begin(order)) + 1;
  };
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return rank(a.first) < rank(b.first); });
  std::vector<std::string> result;
  for (const auto& [name, n] : sorted) result.push_back(fmt::format("{} {}", n, name));
  return result;
}

std::string_view what_is_multiplied(const HotLoop& loop) {
  return loop.tensor_instructions() > 0 ? "Tensor Core instruction" : "FMA";
}

// Breaks at spaces, with further lines indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result(indent, ' '), word;
  std::size_t column = indent;
  for (std::istringstream words(text); words >> word; column += word.size()) {
    if (column > indent && column + 1 + word.size() > columns) {
      result += '\n' + std::string(indent + 2, ' ');
      column = indent + 2;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
  }
  return result + '\n';
}

std::string show(const CompiledKernel& kernel) {
  std::string name = kernel.name;
  if (!kernel.template_arguments.empty()) name += '<' + kernel.template_arguments + '>';
  constexpr std::size_t width = 44;
  if (name.size() > width) name = name.substr(0, width - 3) + "...";
  std::string text = fmt::format("{:{}} {:>9}  {:>20}  {:>16}  {:>8}\n", name, width, kernel.registers,
                                 fmt::format("{} / {} B", kernel.spill_store_bytes, kernel.spill_load_bytes),
                                 fmt::format("{} B", kernel.static_shared_bytes), kernel.barriers);
  if (!kernel.loop) return text + wrapped("hot loop as compiled: " + kernel.no_loop_why, 2);
  const HotLoop& loop = *kernel.loop;
  text += wrapped(fmt::format("hot loop as compiled{}: {}; {} instructions",
                              loop.line > 0 ? fmt::format(" (line {})", loop.line) : "",
                              fmt::join(listed(loop.counts), ", "), loop.instructions),
                  2);
  return text + wrapped(fmt::format("= {:.4g} shared load instructions per {}, {:.4g} global",
                                    loop.shared_loads_per_fma(), what_is_multiplied(loop), loop.global_loads_per_fma()),
                        4);
}

}  // namespace

std::string show(const std::vector<CompiledKernel>& kernels) {
  std::string text = fmt::format("{:44} {:>9}  {:>20}  {:>16}  {:>8}\n", "kernel", "registers", "spill stores / loads",
                                 "static shared", "barriers");
  for (const CompiledKernel& kernel : kernels) text += show(kernel);
  return text;
}

}  // namespace gemm
