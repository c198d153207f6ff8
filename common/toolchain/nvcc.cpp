// Finds nvcc and nvdisasm, starts them, and reads what ptxas says.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "common/toolchain/process.hpp"
#include "common/toolchain/sass.hpp"

namespace gemm {
namespace {

namespace fs = std::filesystem;

// Where tools/cuda_wheels.sh puts the programs: the checkout is the one that this file was compiled in.
fs::path wheels() {
  return fs::path(__FILE__).parent_path().parent_path() / ".lab/cuda-wheels/cuda/bin";
}

// ---- what the tools say

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : symbol;
}

// Splits "void (anonymous namespace)::tile<16, (Mode)0>(float const*)" into "tile" and "16, (Mode)0".
void split_signature(CompiledKernel& kernel) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  const std::string& signature = kernel.signature;
  std::size_t start = 0, angle = std::string::npos, end = signature.size();
  int depth = 0;
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const char c = signature[i];
    if (depth == 0 && signature.compare(i, anonymous.size(), anonymous) == 0) {
      i += anonymous.size() - 1;
    } else if (depth == 0 && c == '(') {  // the parameters
      end = i;
      break;
    } else if (c == '<' || c == '(' || c == '{') {
      if (depth++ == 0 && c == '<') angle = i;
    } else if (c == '>' || c == ')' || c == '}') {
      --depth;
    } else if (depth == 0 && (c == ':' || c == ' ')) {  // a namespace or the return type ends here
      start = i + 1;
      angle = std::string::npos;
    }
  }
  kernel.name = signature.substr(start, std::min(angle, end) - start);
  if (angle < end) kernel.template_arguments = signature.substr(angle + 1, end - angle - 2);
}

// The text between two marks, or up to the end if the second isn't there; empty if the first isn't.
std::string between(const std::string& text, std::string_view before, std::string_view after) {
  const std::size_t found = text.find(before);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

// The number that stands before these words: 48 of "Used 48 registers".
std::optional<int> number_before(const std::string& text, std::string_view words) {
  const std::size_t end = text.find(words);
  if (end == std::string::npos || end == 0) return std::nullopt;
  const std::size_t begin = text.find_last_not_of("0123456789", end - 1) + 1;  // 0 after none
  if (begin == end) return std::nullopt;
  return std::atoi(text.c_str() + begin);
}

void disassemble(const Toolchain& toolchain, const std::string& cubin, const std::string& source,
                 std::vector<CompiledKernel>& kernels) {
  std::string why = "not known: no nvdisasm beside nvcc or in PATH";
  std::map<std::string, MachineCode> functions;
  if (!toolchain.nvdisasm.empty()) {
    const Finished finished = run_process({toolchain.nvdisasm, "-c", "-gi", cubin});
    why = finished.status == 0
              ? "no loop multiplies"
              : fmt::format("not known: nvdisasm failed ({}): {}", finished.status, first_error(finished.output));
    if (finished.status == 0) functions = parse_sass(finished.output, source);
  }
  for (CompiledKernel& kernel : kernels) {
    if (const auto code = functions.find(kernel.symbol); code != functions.end()) {
      kernel.instructions = code->second.instructions;
      kernel.loop = code->second.loop;
      kernel.lines = code->second.lines;
    }
    if (!kernel.loop) kernel.no_loop_why = why;
  }
}

}  // namespace

std::optional<Toolchain> find_toolchain() {
  std::vector<fs::path> candidates = in_path("nvcc");
  if (const char* chosen = std::getenv("CUDACXX"); chosen && *chosen) {
    candidates = std::strchr(chosen, '/') ? std::vector<fs::path>{chosen} : in_path(chosen);
  } else {
    candidates.insert(candidates.end(), {"/usr/local/cuda/bin/nvcc", wheels() / "nvcc"});
  }
  Toolchain toolchain;
  toolchain.nvcc = first_program(candidates);
  if (toolchain.nvcc.empty()) return std::nullopt;
  // CUDACXX may name another compiler.
  try {
    const std::string output = run_process({toolchain.nvcc, "--version"}).output;
    // "Cuda compilation tools, release 13.0, V13.0.88"
    char version[32];
    const std::size_t at = output.find("release ");
    if (at == std::string::npos || std::sscanf(output.c_str() + at, "release %*[0-9.], V%31[0-9.]", version) != 1)
      return std::nullopt;
    toolchain.version = version;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  // nvcc may be a link into another folder.
  std::error_code ignored;
  std::vector<fs::path> disassemblers = in_path("nvdisasm");
  disassemblers.insert(disassemblers.begin(), {fs::path(toolchain.nvcc).parent_path() / "nvdisasm",
                                               fs::canonical(toolchain.nvcc, ignored).parent_path() / "nvdisasm"});
  disassemblers.push_back(wheels() / "nvdisasm");
  toolchain.nvdisasm = first_program(disassemblers);
  return toolchain;
}

std::vector<CompiledKernel> compile_kernels(const Toolchain& toolchain, const std::string& source,
                                            const std::string& include_root, const std::string& architecture) {
  const TemporaryDirectory directory;
  // nvcc writes some letters into the line information so that they can't be read back. So it gets to see the folders
  // through links with plain names.
  const fs::path original = fs::absolute(source).lexically_normal();
  fs::create_directory_symlink(original.parent_path(), directory.path() / "source");
  fs::create_directory_symlink(fs::absolute(include_root), directory.path() / "include");
  const std::string file = (directory.path() / "source" / original.filename()).string();
  const std::string cubin = (directory.path() / "kernels.cubin").string();
  // It also pastes names into shell commands, in double quotes, where $(...) is run; and it follows links first.
  for (const std::string& name : {fs::weakly_canonical(original).string(), file, architecture}) {
    if (name.find_first_of("$`\"\\\n") != std::string::npos) {
      throw std::runtime_error(fmt::format("can't give '{}' to nvcc, which would have a shell interpret it", name));
    }
  }
  // nvcc's own temporary files go where they are removed even if it is killed; its messages shall be in English.
  const Finished finished = run_process(
      {toolchain.nvcc, "-std=c++20", "-O3", "-DNDEBUG", "-cubin", "-lineinfo", "-Xptxas", "-v", "-arch=" + architecture,
       "-I" + (directory.path() / "include").string(), "-o", cubin, "-x", "cu", file},
      {"TMPDIR=" + directory.path().string(), "LC_ALL=C"});
  if (finished.status != 0) {
    std::string error = first_error(finished.output);
    if (const std::size_t at = error.find(file); at != std::string::npos) error.replace(at, file.size(), original);
    throw std::runtime_error(error.empty() ? fmt::format("nvcc failed ({})", finished.status) : error);
  }
  std::vector<CompiledKernel> kernels = parse_ptxas(finished.output);
  disassemble(toolchain, cubin, file, kernels);
  std::sort(kernels.begin(), kernels.end(),
            [](const CompiledKernel& a, const CompiledKernel& b) { return a.signature < b.signature; });
  return kernels;
}

std::vector<CompiledKernel> parse_ptxas(std::string_view output) {
  std::vector<CompiledKernel> kernels;
  std::string described;  // device functions that weren't inlined are described in between
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    if (const std::string symbol = between(line, "Compiling entry function '", "'"); !symbol.empty()) {
      CompiledKernel kernel;
      kernel.symbol = symbol;
      kernel.architecture = between(line, "' for '", "'");
      kernel.signature = demangle(kernel.symbol);
      split_signature(kernel);
      described = kernel.symbol;
      kernels.push_back(std::move(kernel));
    } else if (const std::string function = between(line, "Function properties for ", " "); !function.empty()) {
      described = function;
    } else if (kernels.empty() || described != kernels.back().symbol) {
      continue;
    } else if (const auto bytes = number_before(line, " bytes stack frame")) {
      kernels.back().stack_bytes = *bytes;
      kernels.back().spill_store_bytes = number_before(line, " bytes spill stores").value_or(0);
      kernels.back().spill_load_bytes = number_before(line, " bytes spill loads").value_or(0);
    } else if (const auto registers = number_before(line, " registers")) {
      kernels.back().registers = *registers;
      kernels.back().barriers = number_before(line, " barriers").value_or(0);
      kernels.back().static_shared_bytes = number_before(line, " bytes smem").value_or(0);
    }
  }
  return kernels;
}

}  // namespace gemm
