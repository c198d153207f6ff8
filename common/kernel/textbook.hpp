// CUDA's own syntax on the CPU executor: kernel<<<grid, block, bytes, stream>>>(arguments), for which
// common/cmake/textbook.py writes SIMT_LAUNCH(kernel)(grid, block, bytes, stream)(arguments); and dynamic shared memory
// that a template declares. What is rewritten includes this header. (Under nvcc nothing is.)
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "common/kernel/launch_log.hpp"
#include "common/simt/code/dynamic_names.hpp"
#include "common/simt/run/executor.hpp"

namespace simt {

extern __shared__ unsigned char array_of_bytes[] __asm__("smem");
/// Dynamic shared memory as an array of whatever it is declared to be.
struct DynamicArray {
  template <class Array>
  [[gnu::always_inline]] operator Array&() const {
    return *reinterpret_cast<Array*>(array_of_bytes);
  }
};
inline constexpr DynamicArray dynamic_array;

}  // namespace simt

namespace gemm::textbook {

// Fetching the arguments is no access of the kernel's.
#define SIMT_UNOBSERVED __attribute__((no_sanitize("thread", "bounds")))

/// What the launch itself answers, cudaGetLastError() tells.
template <class Call>
void enqueue(const LaunchShape& shape, const void* kernel, const char* name, const Call& call) {
  if (launch_log) launch_log->push_back({kernel, shape});
  if (launch_nothing) return;
  const auto thunk = [](const void* data) SIMT_UNOBSERVED {
    (*static_cast<const Call*>(data))();
  };
  // cudaFuncSetAttribute() needs the kernel's address, too.
  simt::launch({shape.grid, shape.block, shape.dynamic_shared, kernel ? kernel : reinterpret_cast<const void*>(+thunk),
                name, kernel == nullptr},
               {thunk, &call});
}

/// Takes the arguments as a call of `Call` would, which names the kernel: with its default arguments, and with template
/// arguments that follow from them. Which instance that is, only the compiler knows: its text is its name.
template <class Call>
struct NamedKernel {
  const char* name;
  Call call;
  LaunchShape shape = {};

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    enqueue(shape, nullptr, name, [&]() SIMT_UNOBSERVED { call(arguments...); });
  }
};

/// Takes arguments that convert to the kernel's parameters.
template <class Call, class... Parameters>
struct KnownKernel {
  void (*kernel)(Parameters...);
  Call call;
  LaunchShape shape = {};

  void operator()(Parameters... arguments) const {
    enqueue(shape, reinterpret_cast<const void*>(kernel), nullptr, [&]() SIMT_UNOBSERVED { kernel(arguments...); });
  }
  template <class... Arguments>
  requires(sizeof...(Arguments) < sizeof...(Parameters)) void operator()(Arguments... arguments) const {
    enqueue(shape, reinterpret_cast<const void*>(kernel), nullptr, [&]() SIMT_UNOBSERVED { call(arguments...); });
  }
};

/// What stands between <<< and >>>.
template <class Kernel>
struct Unlaunched {
  Kernel kernel;

  Kernel operator()(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) const {
    Kernel shaped = kernel;
    shaped.shape = {.grid = grid, .block = block, .dynamic_shared = dynamic_shared, .stream = stream};
    return shaped;
  }
};

/// What makes a KnownKernel of a function's address; it can't be called where the name is that of several functions.
template <class Call>
struct Know {
  Call call;
  template <class... Parameters>
  Unlaunched<KnownKernel<Call, Parameters...>> operator()(void (*kernel)(Parameters...)) const {
    return {{kernel, call}};
  }
};

/// `give` calls its argument with the kernel, if that is one function.
template <class Give, class Call>
auto unlaunched(const char* name, const Give& give, const Call& call) {
  if constexpr (std::is_invocable_v<Give, Know<Call>>) {
    return give(Know<Call>{call});
  } else {
    return Unlaunched<NamedKernel<Call>>{{name, call}};
  }
}

}  // namespace gemm::textbook

/// The kernel's name may have commas.
#define SIMT_LAUNCH(...)                                                                        \
  ::gemm::textbook::unlaunched(                                                                 \
      #__VA_ARGS__, [&](auto take) -> decltype(take(__VA_ARGS__)) { return take(__VA_ARGS__); }, \
      [&](auto&... arguments) SIMT_UNOBSERVED { __VA_ARGS__(arguments...); })
