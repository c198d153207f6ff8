#include "common/simt/observe/fma_count.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>

#include "common/simt/code/source_lines.hpp"
#include "common/simt/code/symbols.hpp"

namespace simt {
namespace {

// One FMA instruction and the basic block it stands in.
struct Instruction {
  std::uintptr_t address;
  std::uintptr_t block;  // where the call that counts the block returns to
  unsigned bits, lanes;
};

struct Disassembly {
  bool complete = false;
  std::vector<Instruction> fmas;
};

// "vfmadd231ss", "vfnmsub132sd", "fmadd s0, s1, s2, s3": the bits of the type and how many at once; 0 bits for what is
// no FMA.
std::pair<unsigned, unsigned> fma_of(std::string_view mnemonic, std::string_view operands) {
  const bool x86 = mnemonic.starts_with("vfmadd") || mnemonic.starts_with("vfmsub") ||
                   mnemonic.starts_with("vfnmadd") || mnemonic.starts_with("vfnmsub");
  if (x86) {
    const unsigned bits = mnemonic.back() == 'd' ? 64 : 32;
    const bool packed = mnemonic[mnemonic.size() - 2] == 'p';
    const unsigned width = operands.find("%ymm") != std::string_view::npos ? 256 : 128;
    return {bits, packed ? width / bits : 1};
  }
  const bool arm = mnemonic == "fmadd" || mnemonic == "fmsub" || mnemonic == "fnmadd" || mnemonic == "fnmsub";
  if (arm) return {operands.starts_with("d") ? 64u : 32u, 1};
  return {0, 0};
}

bool ends_flow(std::string_view mnemonic) {
  return mnemonic == "jmp" || mnemonic == "ret" || mnemonic == "b" || mnemonic == "br";
}

Disassembly disassemble(const Function& function) {
  const auto [path, base] = image_file_of(function.begin);
  std::istringstream output(
      output_of(fmt::format("objdump -d --no-show-raw-insn --start-address={:#x} --stop-address={:#x} {}",
                            function.begin - base, function.end - base, quoted(path))));
  Disassembly result;
  std::uintptr_t block = 0;
  bool block_starts_here = false;  // the instruction before was the call that counts
  for (std::string line; std::getline(output, line);) {
    // "    401130:\tcall   401050 <__sanitizer_cov_trace_pc>"
    const std::size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    const std::uintptr_t address = std::strtoull(line.c_str(), nullptr, 16) + base;
    result.complete = true;
    if (block_starts_here) block = address;
    block_starts_here = line.find("__sanitizer_cov_trace_pc") != std::string::npos;

    std::string_view text = std::string_view(line).substr(colon + 2);
    const std::string_view mnemonic = text.substr(0, text.find_first_of(" \t"));
    std::string_view operands = text.substr(mnemonic.size());
    operands.remove_prefix(std::min(operands.find_first_not_of(" \t"), operands.size()));
    if (const auto [bits, lanes] = fma_of(mnemonic, operands); bits) {
      if (block == 0) return {};  // reached by a jump into the middle of a block: there is no telling how often
      result.fmas.push_back({address, block, bits, lanes});
    }
    if (ends_flow(mnemonic)) block = 0;
  }
  return result;
}

const Disassembly& disassembly_of(const Function& function) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::uintptr_t, Disassembly>;  // asked after main(), too
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(function.begin);
  if (is_new) at->second = disassemble(function);
  return at->second;
}

}  // namespace

std::uint64_t FmaCount::total(unsigned bits) const {
  std::uint64_t sum = 0;
  for (const FmaSite& site : sites) sum += site.bits == bits ? site.lanes : 0;
  return sum;
}

FmaCount count_fmas(const KernelObservation& kernel) {
  FmaCount result;
  if (!GEMM_COUNTS_FMAS) return result;
  result.known = true;
  std::map<std::uintptr_t, std::uint64_t> runs;  // by block, as the recorder names it
  std::map<std::uintptr_t, Function> functions;
  for (const auto& [pc, count] : kernel.block_runs) {
    runs[pc] = count;
    const Function function = function_at(pc);
    functions[function.begin] = function;
  }
  for (const auto& [begin, function] : functions) {
    const Disassembly& code = disassembly_of(function);
    result.known &= code.complete;
    for (const Instruction& fma : code.fmas) {
      const std::uintptr_t block = place_of(site_at(fma.block) / 4 * 4);
      if (const auto at = runs.find(block); at != runs.end())
        result.sites.push_back({fma.address + 1, fma.bits, at->second * fma.lanes});
    }
  }
  return result;
}

}  // namespace simt
