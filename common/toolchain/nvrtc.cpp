// NVRTC, opened when it is first needed: a library of 100 MB that programs must start without. Its interface is plain C
// and needs neither CUDA's headers nor a GPU, so the CPU build can compile for GPUs, too.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "common/toolchain/jit_compiler.hpp"
#include "common/toolchain/process.hpp"
#include "common/toolchain/sass.hpp"

namespace gemm {
namespace {

namespace fs = std::filesystem;

// Kernel files include these. NVRTC knows CUDA's types and functions by itself, and has no C++ library.
const JitHeader provided[] = {
    {"cuda_runtime.h", ""},
    {"cstdint",
     "#pragma once\nnamespace std { using int64_t = long; using uint64_t = unsigned long; "
     "using int32_t = int; using uint32_t = unsigned; }\n"},
};

constexpr const char* options[] = {"-std=c++20", "-DNDEBUG", "--ptxas-options=-v"};

struct Nvrtc {
  using Program = void*;
  int (*version)(int*, int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*add_name)(Program, const char*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*lowered_name)(Program, const char*, const char**) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int major = 0, minor = 0;
  bool there = false;

  static const Nvrtc& instance() {
    static const Nvrtc library;
    return library;
  }

 private:
  Nvrtc() {
    void* const handle = open_any();
    if (!handle) return;
    bool complete = true;
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      complete &= function != nullptr;
    };
    get(version, "nvrtcVersion");
    get(create, "nvrtcCreateProgram");
    get(destroy, "nvrtcDestroyProgram");
    get(add_name, "nvrtcAddNameExpression");
    get(compile, "nvrtcCompileProgram");
    get(log_size, "nvrtcGetProgramLogSize");
    get(log, "nvrtcGetProgramLog");
    get(cubin_size, "nvrtcGetCUBINSize");
    get(cubin, "nvrtcGetCUBIN");
    get(lowered_name, "nvrtcGetLoweredName");
    get(error_text, "nvrtcGetErrorString");
    there = complete && version(&major, &minor) == 0;
  }

  // First by its plain name (beside the program, LD_LIBRARY_PATH), then in toolkits.
  static void* open_any() {
    std::vector<fs::path> folders = {""};
    for (const char* variable : {"CUDAToolkit_ROOT", "CUDA_HOME", "CUDA_PATH"}) {
      if (const char* root = std::getenv(variable); root && *root) folders.push_back(fs::path(root) / "lib64");
    }
    folders.push_back("/usr/local/cuda/lib64");
    if (const std::string nvcc = first_program(in_path("nvcc")); !nvcc.empty()) {
      std::error_code ignored;
      folders.push_back(fs::canonical(nvcc, ignored).parent_path().parent_path() / "lib64");
    }
    for (const fs::path& folder : folders) {
      for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
        if (void* const handle = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      }
    }
    return nullptr;
  }
};

class Program {
 public:
  Program(const std::string& text, const JitRequest& request) {
    std::vector<const char*> texts, names;
    const auto add = [&](const JitHeader& header) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    };
    for (const JitHeader& header : provided) add(header);
    for (const JitHeader& header : request.headers) add(header);
    check(library_.create(&program_, text.c_str(), "kernel.cu", static_cast<int>(texts.size()), texts.data(),
                          names.data()));
    check(library_.add_name(program_, request.kernel.c_str()));
  }
  ~Program() { library_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Returns the log.
  std::string compile(const std::string& target, bool in_order) {
    const std::string architecture = "-arch=" + target;
    std::vector<const char*> arguments(std::begin(options), std::end(options));
    arguments.push_back(architecture.c_str());
    if (in_order) arguments.push_back("--ptxas-options=-O1");
    // Where there is a driver, NVRTC has a cache since 12.9, and says nothing of registers when it takes code from there. Ours
    // keeps them.
    if (std::pair(library_.major, library_.minor) >= std::pair(12, 9)) arguments.push_back("--no-cache");
    const int error = library_.compile(program_, static_cast<int>(arguments.size()), arguments.data());
    std::size_t bytes = 0;
    std::string log;
    if (library_.log_size(program_, &bytes) == 0 && bytes > 1) {
      log.resize(bytes - 1);
      library_.log(program_, log.data());
    }
    if (error == 0) return log;
    const std::string first = first_error(log);
    throw std::runtime_error(first.empty() ? library_.error_text(error) : first);
  }
  std::string symbol(const std::string& kernel) {
    const char* name = nullptr;
    check(library_.lowered_name(program_, kernel.c_str(), &name));
    return name;
  }
  std::string cubin() {
    std::size_t bytes = 0;
    check(library_.cubin_size(program_, &bytes));
    std::string code(bytes, '\0');
    check(library_.cubin(program_, code.data()));
    return code;
  }

 private:
  void check(int error) const {
    if (error != 0) throw std::runtime_error(fmt::format("NVRTC: {}", library_.error_text(error)));
  }

  const Nvrtc& library_ = Nvrtc::instance();
  Nvrtc::Program program_ = nullptr;
};

JitBinary compile(const JitRequest& request, const std::string& target, bool in_order) {
  Program program(fmt::format("#include \"{}\"\n", request.headers.front().name), request);
  const std::string log = program.compile(target, in_order);
  JitBinary binary;
  binary.symbol = program.symbol(request.kernel);
  binary.code = program.cubin();
  for (const CompiledKernel& kernel : parse_ptxas(log)) {
    if (kernel.symbol != binary.symbol) continue;
    binary.registers = kernel.registers;
    binary.spill_bytes = kernel.spill_store_bytes;
  }
  return binary;
}

JitBinary compile(const JitRequest& request, const std::string& target) {
  if (request.in_order) {
    JitBinary binary = compile(request, target, true);
    if (binary.spill_bytes == 0) return binary;
  }
  return compile(request, target, false);
}

}  // namespace

std::optional<JitCompiler> nvrtc() {
  const Nvrtc& library = Nvrtc::instance();
  if (!library.there) return std::nullopt;
  return JitCompiler{fmt::format("nvrtc-{}.{}", library.major, library.minor),
                     [](const JitRequest& request, const std::string& target) { return compile(request, target); }};
}

std::string nvrtc_settings() {
  std::string all;
  for (const char* option : options) all += std::string(option) + " ";
  for (const JitHeader& header : provided) all += header.name + "\n" + header.text + "\n";
  return all;
}

}  // namespace gemm
