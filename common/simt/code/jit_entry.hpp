// What a kernel compiled at run time exports: how to call it with pointers to its arguments. common/backend/cpu/jit.cpp
// puts SIMT_JIT_ENTRY(kernel) behind the kernel's own text.
#pragma once

#include <cstddef>
#include <utility>

namespace simt {

struct JitEntryTable {
  const void* kernel;
  void (*call)(void* const* arguments);
  const std::size_t* parameter_bytes;
  std::size_t parameters;
};

template <auto kernel>
struct JitEntry;
template <class... Parameters, void (*kernel)(Parameters...)>
struct JitEntry<kernel> {
  static constexpr std::size_t bytes[] = {sizeof(Parameters)...};

  // Fetching the arguments is no access of the kernel's, hence the attribute.
  __attribute__((no_sanitize("thread", "bounds"))) static void call(void* const* arguments) {
    call(arguments, std::index_sequence_for<Parameters...>());
  }
  static JitEntryTable table() { return {reinterpret_cast<const void*>(kernel), call, bytes, sizeof...(Parameters)}; }

 private:
  template <std::size_t... i>
  __attribute__((no_sanitize("thread", "bounds"))) static void call(void* const* arguments, std::index_sequence<i...>) {
    kernel(*static_cast<Parameters*>(arguments[i])...);
  }
};

}  // namespace simt

#define SIMT_JIT_ENTRY(...)                                                                \
  extern "C" __attribute__((visibility("default"))) simt::JitEntryTable simt_jit_entry() { \
    return simt::JitEntry<&__VA_ARGS__>::table();                                          \
  }
