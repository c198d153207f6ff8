// CUDA's own syntax on the CPU executor: kernel<<<grid, block, bytes, stream>>>(arguments), for which
// common/cmake/textbook.py writes SIMT_LAUNCH(kernel)(grid, block, bytes, stream)(arguments); and dynamic shared memory
// that a template declares. What is rewritten includes this header. (Under nvcc nothing is.)
#pragma once

#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/simt/code/dynamic_names.hpp"
#include "common/simt/code/kernel_names.hpp"
#include "common/simt/language/language.hpp"
#include "common/simt/language/runtime_types.hpp"
#include "common/simt/language/stored.hpp"
#include "common/simt/language/written_launch.hpp"

namespace simt {

extern constinit thread_local unsigned char array_of_bytes[] __asm__("simt_dynamic");
/// Dynamic shared memory as an array of whatever it is declared to be.
struct DynamicArray {
  template <class Array>
  [[gnu::always_inline]] operator Array&() const {
    return *reinterpret_cast<Array*>(array_of_bytes);
  }
};
inline constexpr DynamicArray dynamic_array;

// Fetching the arguments is no access of the kernel's.
#define SIMT_NO_HOOKS __attribute__((no_sanitize("thread", "bounds")))

/// Where the caller stands.
const void* call_site();
/// Between its shape and its arguments a launch is kept here: those may launch, too.
void begin_launch(const WrittenLaunch& what);
WrittenLaunch end_launch();

/// Queues the launch, and destroys the body's data by `drop` when it has run. cudaGetLastError() answers for what the
/// launch itself comes to.
void enqueue(const WrittenLaunch& what, Body body, void (*drop)(const void* data));

/// `call` calls the kernel, and owns its arguments.
template <class Call>
void enqueue_call(WrittenLaunch what, Call&& call) {
  const auto thunk = [](const void* data) SIMT_NO_HOOKS { (*static_cast<const Call*>(data))(); };
  const auto drop = [](const void* data) { delete static_cast<const Call*>(data); };
  // Of a kernel that only the compiler knows, a null pointer, the text is the name.
  if (what.launch.kernel) {
    what.name = nullptr;
  } else {
    what.launch.kernel = reinterpret_cast<const void*>(+thunk);
  }
  enqueue(what, {thunk, new Call(std::move(call))}, drop);
}

/// What the ABI passes by address, because code copies or destroys it.
template <class Parameter>
inline constexpr bool by_address =
    !(std::is_trivially_copy_constructible_v<Parameter> && std::is_trivially_destructible_v<Parameter>);

/// Such an argument's bytes, without its code.
template <class Parameter>
struct Bytes {
  alignas(Parameter) std::byte bytes[sizeof(Parameter)];
  SIMT_NO_HOOKS explicit Bytes(const Parameter& argument) {
    std::memcpy(bytes, static_cast<const void*>(&argument), sizeof(bytes));
  }
};
/// Any other: a reference stays one.
template <class Parameter>
struct Argument {
  Parameter it;
};
template <class Parameter>
using Kept = std::conditional_t<by_address<Parameter>, Bytes<Parameter>, Argument<Parameter>>;

/// As CUDA does it: a launch copies an argument once, on the host, which destroys the copy when the launch is queued.
/// Each thread gets the bytes, and destroys nothing.
template <class... Parameters>
auto call_of(void (*kernel)(Parameters...), const std::type_identity_t<Parameters>&... arguments) {
  if constexpr ((by_address<Parameters> || ...)) {
    using Passes = void (*)(std::conditional_t<by_address<Parameters>, Kept<Parameters>*, Parameters>...);
    return [passes = reinterpret_cast<Passes>(reinterpret_cast<void*>(kernel)),
            ... kept = Kept<Parameters>(arguments)]() SIMT_NO_HOOKS {
      [passes](Kept<Parameters>... own) SIMT_NO_HOOKS {
        passes([&own]() SIMT_NO_HOOKS -> decltype(auto) {
          if constexpr (by_address<Parameters>) {
            return &own;
          } else {
            return (own.it);
          }
        }()...);
      }(kept...);
    };
  } else {
    return [kernel, ... kept = Argument<Parameters>{arguments}]() SIMT_NO_HOOKS { kernel(kept.it...); };
  }
}

/// The same by a name, whose parameters nobody knows here: each thread's call copies its bytes once more.
template <class Call, class... Arguments>
auto call_by_name(const Call& call, const Arguments&... arguments) {
  return [call, ... kept = Kept<Arguments>(arguments)]() SIMT_NO_HOOKS {
    [&call](Kept<Arguments>... own) SIMT_NO_HOOKS { call(reinterpret_cast<const Arguments&>(own)...); }(kept...);
  };
}

/// A kernel whose parameters are known.
template <class... Parameters>
class Kernel {
 public:
  using Pointer = void (*)(Parameters...);
  explicit Kernel(Pointer kernel) : kernel_(kernel) {}

  /// What stands between <<< and >>>. The result takes the arguments: a function, so that g++ says of a wrong one what
  /// it says of any call.
  [[gnu::always_inline]] auto operator()(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                                         cudaStream_t stream = nullptr) const {
    const auto* const kernel = reinterpret_cast<const void*>(kernel_);
    begin_launch({{grid, block, dynamic_shared, kernel}, stream, nullptr, call_site()});
    return &launch;
  }

 private:
  static void launch(Parameters... arguments) {
    const WrittenLaunch what = end_launch();
    enqueue_call(what, call_of(reinterpret_cast<Pointer>(const_cast<void*>(what.launch.kernel)), arguments...));
  }

  Pointer kernel_;
};

/// A kernel of which only its name is known, because its template arguments follow from those of the call.
template <class Call>
struct NamedKernel {
  const char* name;
  Call call;

  [[gnu::always_inline]] auto operator()(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                                         cudaStream_t stream = nullptr) const {
    const WrittenLaunch what = {{grid, block, dynamic_shared, nullptr}, stream, name, call_site()};
    return [call = call, what](auto... arguments) { enqueue_call(what, call_by_name(call, arguments...)); };
  }
};

/// A kernel that has default arguments, and so can be called by its name with fewer.
template <class Call, class... Parameters>
struct KernelWithDefaults {
  void (*kernel)(Parameters...);
  Call call;

  struct Shaped {
    KernelWithDefaults of;
    WrittenLaunch what;

    void operator()(Parameters... arguments) const { enqueue_call(what, call_of(of.kernel, arguments...)); }
    template <class... Fewer>
    requires(sizeof...(Fewer) < sizeof...(Parameters)) void operator()(Fewer... arguments) const {
      enqueue_call(what, call_by_name(of.call, arguments...));
    }
  };

  [[gnu::always_inline]] auto operator()(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                                         cudaStream_t stream = nullptr) const {
    const auto* const any = reinterpret_cast<const void*>(kernel);
    return Shaped{*this, {{grid, block, dynamic_shared, any}, stream, nullptr, call_site()}};
  }
};

/// Whether there are default arguments.
template <class Call, class... Parameters, std::size_t... i>
constexpr bool takes_fewer(std::index_sequence<i...>) {
  return std::is_invocable_v<Call, const std::tuple_element_t<i, std::tuple<Parameters...>>&...>;
}

/// Takes a kernel's address; can't be called where its name is that of several functions.
template <class Call>
struct Know {
  Call call;

  template <class... Parameters>
  auto operator()(void (*kernel)(Parameters...)) const {
    constexpr std::size_t count = sizeof...(Parameters);
    if constexpr (count > 0 && takes_fewer<Call, Parameters...>(std::make_index_sequence<count - (count > 0)>())) {
      return KernelWithDefaults<Call, Parameters...>{kernel, call};
    } else {
      return Kernel<Parameters...>(kernel);
    }
  }
};

/// `give` calls its argument with the kernel, if that is one function.
template <class Give, class Call>
auto kernel_of(const char* name, const Give& give, const Call& call) {
  if constexpr (std::is_invocable_v<Give, Know<Call>>) {
    return give(Know<Call>{call});
  } else {
    return NamedKernel<Call>{name, call};
  }
}

/// Launches it with arguments that are pointed at, one by one.
template <class... Parameters, std::size_t... i>
void launch_pointed_at(const WrittenLaunch& what, void (*kernel)(Parameters...), void** arguments,
                       std::index_sequence<i...>) {
  enqueue_call(what, call_of(kernel, *static_cast<Parameters*>(arguments[i])...));
}
/// As for <<<...>>>, what such a launch comes to.
cudaError_t error_of_launch();

}  // namespace simt

template <class... Parameters>
[[gnu::always_inline]] inline cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                                           void** arguments, std::size_t dynamic_shared = 0,
                                                           cudaStream_t stream = nullptr) {
  const auto* const any = reinterpret_cast<const void*>(kernel);
  simt::launch_pointed_at({{grid, block, dynamic_shared, any}, stream, nullptr, simt::call_site()}, kernel, arguments,
                          std::index_sequence_for<Parameters...>());
  return simt::error_of_launch();
}
template <class... Parameters>
[[gnu::always_inline]] inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid,
                                                                      dim3 block, void** arguments,
                                                                      std::size_t dynamic_shared = 0,
                                                                      cudaStream_t stream = nullptr) {
  const auto* const any = reinterpret_cast<const void*>(kernel);
  simt::launch_pointed_at({{grid, block, dynamic_shared, any, true}, stream, nullptr, simt::call_site()}, kernel,
                          arguments, std::index_sequence_for<Parameters...>());
  return simt::error_of_launch();
}
/// Clusters and the like are not there; whether a launch is cooperative, an attribute tells.
template <class... Parameters>
[[gnu::always_inline]] inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                                                             void (*kernel)(Parameters...),
                                                             std::type_identity_t<Parameters>... arguments) {
  bool cooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeCooperative) cooperative = config->attrs[i].val.cooperative != 0;
  }
  const simt::Launch launch = {simt::grid_of(*config), simt::block_of(*config), config->dynamicSmemBytes,
                               reinterpret_cast<const void*>(kernel), cooperative};
  simt::enqueue_call({launch, config->stream, nullptr, simt::call_site()}, simt::call_of(kernel, arguments...));
  return simt::error_of_launch();
}
