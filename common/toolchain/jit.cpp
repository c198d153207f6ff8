#include "common/toolchain/jit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "common/toolchain/embedded_headers.hpp"
#include "common/toolchain/jit_cache.hpp"
#include "common/toolchain/jit_compiler.hpp"

namespace gemm {
namespace {

namespace fs = std::filesystem;

std::recursive_mutex mutex;  // of all that follows
fs::path chosen_folder;
JitCounters counters;

std::map<std::string, std::unique_ptr<JitKernel>>& loaded() {
  static auto& kernels = *new std::map<std::string, std::unique_ptr<JitKernel>>;
  return kernels;
}

bool for_gpu(const std::string& target) {
  return target != "cpu";
}

// What the code depends on, but for the compiler's version.
std::string key_of(const JitRequest& request, const std::string& target) {
  std::string all = fmt::format("{}\n{}\n{}\n", target, for_gpu(target) ? nvrtc_settings() : host_compiler_settings(),
                                request.kernel);
  for (const JitHeader& header : request.headers)
    all += fmt::format("{} {}\n{}", header.name, header.text.size(), header.text);
  if (request.in_order && for_gpu(target)) all += "in order";
  return hash_of(all);
}

// "KEY-nvrtc-13.0.cubin". Without a compiler, one that any version of it has made will do.
fs::path file_of(const std::string& key, const std::string& target, const std::optional<JitCompiler>& compiler) {
  const std::string extension = for_gpu(target) ? ".cubin" : ".so";
  if (compiler) return kernel_cache() / (key + "-" + compiler->version + extension);
  fs::path newest;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kernel_cache(), ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(key + "-") && name.ends_with(extension) && entry.path() > newest) newest = entry.path();
  }
  return newest;
}

// The compiler's message on one line.
std::string one_line(std::string text) {
  constexpr std::size_t longest = 600;
  for (std::size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, " ");
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

JitEntry entry_for(const JitRequest& request, const std::string& target, const std::string& key) {
  JitEntry entry;
  const auto compiler = for_gpu(target) ? nvrtc() : host_compiler();
  entry.file = file_of(key, target, compiler);
  if (!entry.file.empty()) {
    ReadBinary found = read_binary(entry.file);
    counters.rejected += found.damaged;
    if (found.binary) {
      ++counters.on_disk;
      entry.binary = std::move(*found.binary);
      return entry;
    }
  }
  if (!compiler) {
    entry.status = Status::unsupported(missing_compiler(target));
    return entry;
  }
  const auto begin = std::chrono::steady_clock::now();
  try {
    entry.binary = compiler->compile(request, target);
  } catch (const std::runtime_error& error) {
    entry.status = Status::failed(fmt::format("can't compile {}: {}", request.kernel, one_line(error.what())));
    return entry;
  }
  entry.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  entry.compiled = true;
  ++counters.compiled;
  if (!write_binary(entry.file, entry.binary, request.kernel + " " + target + " " + compiler->version)) {
    static bool said = false;
    if (!said) fmt::print(stderr, "note: compiled kernels are not kept: can't write to {}\n", kernel_cache().string());
    said = true;
    entry.file.clear();
  }
  return entry;
}

}  // namespace

std::vector<JitHeader> kernel_headers(std::string_view name) {
  std::vector<JitHeader> found;
  const auto find = [&](std::string_view wanted, const auto& find_included) -> void {
    if (wanted.starts_with("common/simt/") || std::ranges::find(found, wanted, &JitHeader::name) != found.end()) return;
    const auto header = std::ranges::find(embedded_headers(), wanted, &JitHeader::name);
    if (header == embedded_headers().end()) throw std::logic_error("no header of kernels: " + std::string(wanted));
    constexpr std::string_view directive = "\n#include \"", end = "\n#ifndef __CUDACC_RTC__";
    const std::string text = header->text.substr(0, header->text.find(end));
    found.push_back({header->name, text});
    for (std::size_t at = 0; (at = text.find(directive, at)) != text.npos;) {
      at += directive.size();
      find_included(text.substr(at, text.find('"', at) - at), find_included);
    }
  };
  find(name, find);
  return found;
}

fs::path kernel_cache() {
  const std::lock_guard lock(mutex);
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  // Absolute: the loader takes a name without a slash for one to search.
  const auto folder = [&]() -> fs::path {
    if (!chosen_folder.empty()) return chosen_folder;
    if (const fs::path named = variable("GEMM_KERNEL_CACHE"); !named.empty()) return named;
    if (const fs::path xdg = variable("XDG_CACHE_HOME"); xdg.is_absolute()) return xdg / "staged-gemm";
    if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache/staged-gemm";
    return fs::temp_directory_path() / fmt::format("staged-gemm-{}", getuid());
  };
  return fs::absolute(folder());
}

void set_kernel_cache(const fs::path& folder) {
  const std::lock_guard lock(mutex);
  chosen_folder = folder;
}

void require_jit_target(const std::string& target) {
  std::string_view number = target;
  const bool named = number.starts_with("sm_");
  if (named) number.remove_prefix(3);
  if (number.ends_with('a') || number.ends_with('f')) number.remove_suffix(1);
  const bool digits = number.size() >= 2 && number[0] != '0' && number.find_first_not_of("0123456789") == number.npos;
  if ((named && digits) || target == native_jit_target()) return;
  throw UsageError(fmt::format("no target '{}': an architecture such as sm_90a, or leave it out", target));
}

JitEntry compile_kernel(const JitRequest& request, const std::string& target) {
  const std::lock_guard lock(mutex);
  return entry_for(request, target, key_of(request, target));
}

JitResult find_kernel(const JitRequest& request) {
  const std::lock_guard lock(mutex);
  const std::string key = key_of(request, native_jit_target());
  if (const auto known = loaded().find(key); known != loaded().end()) {
    ++counters.in_memory;
    return {Status::ok(), known->second.get()};
  }
  const JitEntry entry = entry_for(request, native_jit_target(), key);
  if (!entry.status) return {entry.status};
  try {
    auto kernel = std::make_unique<JitKernel>(load_kernel(entry.binary, entry.file));
    const JitKernel* const stays = kernel.get();
    loaded()[key] = std::move(kernel);
    return {Status::ok(), stays};
  } catch (const std::runtime_error& error) {
    return {Status::failed(fmt::format("can't load {}: {}", request.kernel, one_line(error.what())))};
  }
}

const JitCounters& jit_counters() {
  return counters;
}

void forget_kernels() {
  const std::lock_guard lock(mutex);
  // Whoever holds a pointer may keep it.
  static auto& forgotten = *new std::vector<std::unique_ptr<JitKernel>>;
  for (auto& [key, kernel] : loaded()) forgotten.push_back(std::move(kernel));
  loaded().clear();
}

}  // namespace gemm
