// CUDA's own syntax on the CPU executor: kernel<<<grid, block, bytes, stream>>>(arguments), for which
// common/cmake/textbook.py writes SIMT_LAUNCH(kernel)(grid, block, bytes, stream)(arguments); and dynamic shared memory
// that a template declares. What is rewritten includes this header. (Under nvcc nothing is.)
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/kernel/launch_log.hpp"
#include "common/simt/code/dynamic_names.hpp"
#include "common/simt/run/executor.hpp"

namespace simt {

extern constinit thread_local unsigned char array_of_bytes[] __asm__("smem");
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
#define SIMT_NO_HOOKS __attribute__((no_sanitize("thread", "bounds")))

/// What the launch itself answers, cudaGetLastError() tells. Of a kernel that only the compiler knows, a null pointer, the
/// text is the name.
template <class Call>
void enqueue(const LaunchShape& shape, const void* kernel, const char* name, const Call& call) {
  const auto thunk = [](const void* data) SIMT_NO_HOOKS { (*static_cast<const Call*>(data))(); };
  const bool is_known = kernel != nullptr;
  if (!is_known) kernel = reinterpret_cast<const void*>(+thunk);
  if (launch_log) launch_log->push_back({kernel, shape});
  if (launch_nothing) return;
  simt::launch_as_written({shape.grid, shape.block, shape.dynamic_shared, kernel}, is_known ? nullptr : name,
                          {thunk, &call});
}

/// A kernel whose parameters are known.
template <class... Parameters>
class Kernel {
 public:
  explicit Kernel(void (*kernel)(Parameters...)) { kernel_ = kernel; }

  /// What stands between <<< and >>>. The result takes the arguments: a function, so that g++ says of a wrong one what it
  /// says of any call.
  auto operator()(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) const {
    shape_ = {.grid = grid, .block = block, .dynamic_shared = dynamic_shared, .stream = stream};
    return &launch;
  }

 private:
  static void launch(Parameters... arguments) {
    enqueue(shape_, reinterpret_cast<const void*>(kernel_), nullptr, [&]() SIMT_NO_HOOKS { kernel_(arguments...); });
  }

  // Of the one launch that is being written down.
  static inline void (*kernel_)(Parameters...);
  static inline LaunchShape shape_;
};

/// A kernel that is called by its name, because it has default arguments, or template arguments that follow from those of
/// the call.
template <class Call>
struct CalledKernel {
  const void* kernel;  ///< null: which instance it is, only the compiler knows
  const char* name;
  Call call;

  auto operator()(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr) const {
    const LaunchShape shape = {.grid = grid, .block = block, .dynamic_shared = dynamic_shared, .stream = stream};
    return [*this, shape](auto... arguments) {
      enqueue(shape, kernel, name, [&]() SIMT_NO_HOOKS { call(arguments...); });
    };
  }
};

/// Whether there are default arguments.
template <class Call, class... Parameters, std::size_t... i>
constexpr bool takes_fewer(std::index_sequence<i...>) {
  return std::is_invocable_v<Call, std::tuple_element_t<i, std::tuple<Parameters...>>&...>;
}

/// Takes a kernel's address; can't be called where its name is that of several functions.
template <class Call>
struct Know {
  const char* name;
  Call call;

  template <class... Parameters>
  auto operator()(void (*kernel)(Parameters...)) const {
    constexpr std::size_t count = sizeof...(Parameters);
    if constexpr (count > 0 && takes_fewer<Call, Parameters...>(std::make_index_sequence<count - (count > 0)>())) {
      return CalledKernel<Call>{reinterpret_cast<const void*>(kernel), name, call};
    } else {
      return Kernel<Parameters...>(kernel);
    }
  }
};

/// `give` calls its argument with the kernel, if that is one function.
template <class Give, class Call>
auto kernel_of(const char* name, const Give& give, const Call& call) {
  if constexpr (std::is_invocable_v<Give, Know<Call>>) {
    return give(Know<Call>{name, call});
  } else {
    return CalledKernel<Call>{nullptr, name, call};
  }
}

}  // namespace gemm::textbook
