// Kernels compiled at run time for the CPU executor: by g++, with the options of the build's own kernels, into a shared
// object. It holds no copy of the executor: what it calls, it finds in the program (exports.txt).
#include "common/toolchain/jit.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>

#include "common/backend/cpu/jit_flags.hpp"
#include "common/kernel/launch.cuh"
#include "common/simt/code/jit_entry.hpp"
#include "common/simt/code/symbols.hpp"
#include "common/simt/language/access.hpp"
#include "common/simt/language/atomics.hpp"
#include "common/simt/language/tensor.hpp"
#include "common/simt/run/executor.hpp"
#include "common/toolchain/embedded_headers.hpp"
#include "common/toolchain/jit_compiler.hpp"
#include "common/toolchain/process.hpp"

namespace gemm {
namespace {

namespace fs = std::filesystem;

// A function of each file of the executor that a kernel may call: else the linker would leave the file out of a program
// whose own kernels don't.
[[gnu::used]] const void* const wanted_by_kernels[] = {
    reinterpret_cast<const void*>(static_cast<double (*)(double*, double, simt::Scope)>(&simt::atomic_add<double>)),
    reinterpret_cast<const void*>(&simt::barrier),
    reinterpret_cast<const void*>(&simt::mma),
    reinterpret_cast<const void*>(&simt::async_commit),
};

void write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("can't write " + file.string());
}

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("can't read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The compiler that has built this program, or another g++ that the user names.
std::string chosen_compiler() {
  const char* const other = std::getenv("GEMM_KERNEL_COMPILER");
  return other && *other ? other : jit_flags::compiler;
}

// Empty if it is not there.
const std::string& compiler_path() {
  static const std::string path = first_program({chosen_compiler()});
  return path;
}

void run_compiler(const std::vector<std::string>& arguments, const fs::path& folder) {
  const Finished finished = run_process(arguments, {"LC_ALL=C"});
  if (finished.status == 0) return;
  std::string error = first_error(finished.output);
  const std::string prefix = folder.string() + "/";
  for (std::size_t at; (at = error.find(prefix)) != std::string::npos;) error.erase(at, prefix.size());
  throw std::runtime_error(error.empty() ? fmt::format("g++ failed ({})", finished.status) : error);
}

// These, and what they include of the headers that this program holds, the executor's among them.
std::vector<JitHeader> with_included(std::vector<JitHeader> headers) {
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(headers, name, &JitHeader::name) != headers.end()) return;
    const auto header = std::ranges::find(embedded_headers(), name, &JitHeader::name);
    if (header != embedded_headers().end()) headers.push_back(*header);
  };
  for (std::size_t i = 0; i < headers.size(); ++i) {
    std::istringstream lines(headers[i].text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find_first_of("<\"");
      if (!line.starts_with("#include") || begin == line.npos) continue;
      const std::string name = line.substr(begin + 1, line.find_first_of(">\"", begin + 1) - begin - 1);
      add(name);
      add("common/simt/include/" + name);
    }
  }
  return headers;
}

std::vector<std::string> words(std::string_view lines) {
  std::vector<std::string> result;
  std::istringstream stream{std::string(lines)};
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) result.push_back(line);
  }
  return result;
}

// The executor's headers, compiled in advance. Empty where the build's folder is gone, or is of a newer build: the
// headers that are embedded here may be others then.
std::vector<std::string> begin_of_kernels() {
  std::error_code none;
  const auto made = fs::last_write_time(std::string(jit_flags::begin) + ".gch", none);
  if (none || made > fs::last_write_time("/proc/self/exe", none) || none) return {};
  return {"-include", jit_flags::begin};
}

JitBinary compile(const JitRequest& request, const std::string&) {
  const TemporaryDirectory folder;
  std::vector<JitHeader> files = request.headers;
  files.push_back(
      {"kernel.cu", fmt::format("#include \"{}\"\n#include \"common/simt/code/jit_entry.hpp\"\nSIMT_JIT_ENTRY({})\n",
                                request.headers.front().name, request.kernel)});
  for (const JitHeader& file : with_included(std::move(files))) write_file(folder.path() / file.name, file.text);
  const fs::path source = folder.path() / "kernel.cu", object = folder.path() / "kernel.o",
                 library = folder.path() / "kernel.so";

  std::vector<std::string> arguments = {compiler_path()};
  for (std::string& word : words(jit_flags::compile)) arguments.push_back(std::move(word));
  static const std::vector<std::string> begin = begin_of_kernels();
  arguments.insert(arguments.end(), begin.begin(), begin.end());
  // Messages shall name the header in the source tree, and not its copy in a folder that is gone by then.
  for (const std::string& word :
       {"-I" + (folder.path() / "common/simt/include").string(), "-I" + folder.path().string(),
        fmt::format("-ffile-prefix-map={}={}", folder.path().string(), GEMM_SOURCE_DIR), std::string("-c"),
        source.string(), std::string("-o"), object.string()})
    arguments.push_back(word);
  run_compiler(arguments, folder.path());

  arguments = {compiler_path()};
  for (std::string& word : words(jit_flags::link)) arguments.push_back(std::move(word));
  for (const std::string& word : {object.string(), std::string("-o"), library.string()}) arguments.push_back(word);
  run_compiler(arguments, folder.path());
  return {"simt_jit_entry", read_file(library)};
}

}  // namespace

std::optional<JitCompiler> host_compiler() {
  if (compiler_path().empty()) return std::nullopt;
  return JitCompiler{std::string("g++-") + jit_flags::version, compile};
}

std::string host_compiler_settings() {
  // The executor's headers, too: what they declare must be what the program has.
  static const std::string all = [] {
    std::string text = fmt::format("{}\n{}\n{}\n", jit_flags::compile, jit_flags::link, GEMM_SOURCE_DIR);
    for (const JitHeader& header : embedded_headers()) text += header.name + "\n" + header.text;
    return text;
  }();
  return all;
}

std::string missing_compiler(const std::string& target) {
  if (target == "cpu")
    return fmt::format("needs the compiler of this build at run time, and there is no {}", chosen_compiler());
  return "needs NVRTC (libnvrtc.so) to compile for " + target + ": no CUDA toolkit found";
}

std::string native_jit_target() {
  return "cpu";
}

JitKernel load_kernel(const JitBinary& binary, const fs::path& file) {
  // The loader wants a file, and so do addr2line and objdump later.
  fs::path loaded = file;
  if (loaded.empty()) {
    static const TemporaryDirectory unkept;
    static int number = 0;
    loaded = unkept.path() / fmt::format("{}.so", number++);
    write_file(loaded, binary.code);
  }
  void* const library = dlopen(loaded.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  void* const symbol = dlsym(library, binary.symbol.c_str());
  if (!symbol) throw std::runtime_error(dlerror());
  simt::add_image(loaded.string(), symbol);
  const simt::JitEntryTable entry = reinterpret_cast<simt::JitEntryTable (*)()>(symbol)();
  return {entry.kernel, entry.call, {entry.parameter_bytes, entry.parameter_bytes + entry.parameters}};
}

Status launch_kernel(const JitKernel& kernel, const LaunchShape& shape, void** arguments,
                     std::span<const std::size_t> bytes) {
  if (!std::ranges::equal(bytes, kernel.parameter_bytes)) return Status::failed("arguments of other types");
  if (launch_log) launch_log->push_back({kernel.handle, shape});
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return Status::ok();
  if (launch_nothing) return Status::ok();
  struct Call {
    void (*call)(void* const*);
    void** arguments;
  } const call{kernel.call, arguments};
  const auto run = [](const void* data) {
    const Call& c = *static_cast<const Call*>(data);
    c.call(c.arguments);
  };
  return status_of(
      simt::launch({shape.grid, shape.block, shape.dynamic_shared, kernel.handle}, {run, &call}, shape.stream));
}

int blocks_per_multiprocessor(const JitKernel&, int, std::size_t) {
  return 2;  // as small as the rest of the executor's GPU (gemm::device_limits)
}

}  // namespace gemm
