// Kernels: launched by <<<...>>> or by a call, and what is asked about them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/simt/code/symbols.hpp"
#include "common/simt/language/launch.hpp"
#include "common/simt/observe/sink.hpp"
#include "common/simt/run/block.hpp"
#include "common/simt/run/launch_steps.hpp"
#include "common/simt/run/shared_limits.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"
#include "common/simt/runtime/device.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/queue.hpp"

namespace simt {
namespace {

std::map<const void*, std::size_t>& allowed_by_kernel() {
  static std::map<const void*, std::size_t> bytes;
  return bytes;
}

std::vector<WrittenLaunch>& begun() {
  thread_local std::vector<WrittenLaunch> all;
  return all;
}

cudaError_t launch_error = cudaSuccess;

std::string name_of(const void* kernel) {
  return function_at(reinterpret_cast<std::uintptr_t>(kernel)).name;
}

std::size_t static_shared_of(const void* kernel) {
  std::size_t bytes = 0;
  for (const SharedVariable& variable : shared_variables_of(kernel))
    bytes += variable.owner_is_kernel ? variable.bytes : 0;
  return bytes;
}

// By threads, shared memory and the family's limits. Registers are not known here.
int resident_blocks(const void* kernel, int threads, std::size_t dynamic_shared) {
  const cudaDeviceProp& p = device_properties();
  const std::size_t shared = static_shared_of(kernel) + dynamic_shared;
  if (shared > p.sharedMemPerBlockOptin) return 0;
  const int warps = (threads + 31) / 32;
  const auto by_shared =
      static_cast<int>(p.sharedMemPerMultiprocessor / std::max<std::size_t>(shared + p.reservedSharedMemPerBlock, 1));
  return std::min({p.maxBlocksPerMultiProcessor, p.maxThreadsPerMultiProcessor / 32 / warps, by_shared});
}

// In a program the last error tells, and who does not ask for it hears of it in the end.
cudaError_t refuse(const Call& call, const std::string& kernel, cudaError_t error, const std::string& why) {
  if (!runs_program()) {
    if (Sink* const sink = active_sink()) sink->report({DefectKind::launch_limit, kernel, why, {}, {}});
  }
  return answer(call, error, why);
}

cudaError_t queue_launch(const WrittenLaunch& what, const std::string& kernel, Body body,
                         const std::shared_ptr<void>& data) {
  const Call call = {"a kernel", what.pc};
  CUstream_st* const stream = find_stream(what.stream);
  if (!stream) return refuse(call, kernel, cudaErrorInvalidResourceHandle, "no such stream");
  if (const cudaError_t error = may_issue(*stream); error != cudaSuccess)
    return refuse(call, kernel, error, "a stream is captured");
  // Without the kernel's own address nobody knows what it is allowed.
  if (const Refusal refusal = refusal_of(what.launch, !what.name); refusal.error != cudaSuccess)
    return refuse(call, kernel, refusal.error, refusal.why);
  expect_given(*stream, "the kernel " + kernel, what.pc);
  issue(*stream, "the kernel " + kernel, what.pc, [launch = what.launch, kernel, body, data] {
    const cudaError_t fault = run_launch(launch, kernel, body);
    return runs_program() ? fault : cudaSuccess;
  });
  return cudaSuccess;
}

}  // namespace

std::size_t allowed_dynamic_shared(const void* kernel) {
  const auto at = allowed_by_kernel().find(kernel);
  return at == allowed_by_kernel().end() ? 0 : at->second;
}

[[gnu::noinline]] const void* call_site() {
  if (running_block) running_block->refuse_call("a kernel", __builtin_return_address(0));
  return __builtin_return_address(0);
}
void begin_launch(const WrittenLaunch& what) {
  begun().push_back(what);
}
WrittenLaunch end_launch() {
  const WrittenLaunch what = begun().back();
  begun().pop_back();
  return what;
}

void enqueue(const WrittenLaunch& what, Body body, void (*drop)(const void* data)) {
  const Entered entered({"a launch", what.pc});
  const std::shared_ptr<void> data(const_cast<void*>(body.data), drop);
  launch_error = broken_by();
  if (launch_error != cudaSuccess || (on_written_launch && !on_written_launch(what))) return;
  launch_error = queue_launch(what, what.name ? what.name : name_of(what.launch.kernel), body, data);
}
cudaError_t error_of_launch() {
  return launch_error;
}

namespace {

// A kernel of which only the address is known, as in cudaLaunchKernel((void*)kernel, ...), called as the platform's ABI
// passes numbers and pointers: the first of each in registers, the rest on the stack, in order.
#if defined(__aarch64__)
constexpr std::size_t most_whole = 8;
#else
constexpr std::size_t most_whole = 6;
#endif
constexpr std::size_t most_real = 8, most_on_stack = 24;

struct Registers {
  std::uint64_t whole[most_whole] = {};
  double real[most_real] = {};
  std::uint64_t stack[most_on_stack] = {};
};

struct Parameter {
  std::size_t bytes;
  bool is_real, is_signed;
};
// By its name in C++; nothing if it is a structure.
std::optional<Parameter> parameter_of(std::string_view type) {
  while (type.starts_with(' ')) type.remove_prefix(1);
  if (type.ends_with('*') || type.ends_with("* const") || type.ends_with("__restrict__"))
    return Parameter{8, false, false};
  static const std::map<std::string_view, Parameter> numbers = {{"float", {4, true, true}},
                                                                {"double", {8, true, true}},
                                                                {"int", {4, false, true}},
                                                                {"unsigned int", {4, false, false}},
                                                                {"long", {8, false, true}},
                                                                {"unsigned long", {8, false, false}},
                                                                {"long long", {8, false, true}},
                                                                {"unsigned long long", {8, false, false}},
                                                                {"short", {2, false, true}},
                                                                {"unsigned short", {2, false, false}},
                                                                {"char", {1, false, true}},
                                                                {"signed char", {1, false, true}},
                                                                {"unsigned char", {1, false, false}},
                                                                {"bool", {1, false, false}}};
  const auto at = numbers.find(type);
  return at == numbers.end() ? std::nullopt : std::optional(at->second);
}

std::uint64_t whole_of(const void* from, const Parameter& parameter) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, parameter.bytes);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(parameter.bytes);
  return parameter.is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused) : value;
}

// False if a parameter is of a type that is passed otherwise.
bool fill(Registers& registers, const std::vector<std::string>& types, void** arguments) {
  std::size_t whole = 0, real = 0, on_stack = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto parameter = parameter_of(types[i]);
    if (!parameter || on_stack == most_on_stack) return false;
    if (parameter->is_real && real < most_real) {
      std::memcpy(&registers.real[real++], arguments[i], parameter->bytes);
    } else if (!parameter->is_real && whole < most_whole) {
      registers.whole[whole++] = whole_of(arguments[i], *parameter);
    } else {
      registers.stack[on_stack++] = whole_of(arguments[i], {parameter->bytes, true, false});
    }
  }
  return true;
}

template <std::size_t... w, std::size_t... r, std::size_t... s>
void call_with(const void* kernel, const Registers& all, std::index_sequence<w...>, std::index_sequence<r...>,
               std::index_sequence<s...>) {
  using Function =
      void (*)(decltype(std::uint64_t{} + w)..., decltype(double{} + r)..., decltype(std::uint64_t{} + s)...);
  reinterpret_cast<Function>(const_cast<void*>(kernel))(all.whole[w]..., all.real[r]..., all.stack[s]...);
}

struct UntypedCall {
  const void* kernel;
  Registers registers;
  void operator()() const {
    call_with(kernel, registers, std::make_index_sequence<most_whole>(), std::make_index_sequence<most_real>(),
              std::make_index_sequence<most_on_stack>());
  }
};

cudaError_t launch_untyped(const WrittenLaunch& what, void** arguments, const Call& call) {
  return enter(call, [&] {
    UntypedCall untyped{what.launch.kernel, {}};
    const auto types = parameters_of(reinterpret_cast<std::uintptr_t>(what.launch.kernel));
    if (!what.launch.kernel || !types) return cudaErrorInvalidDeviceFunction;
    if (!types->empty() && !arguments) return cudaErrorInvalidValue;
    if (!fill(untyped.registers, *types, arguments)) {
      report_of_host(
          DefectKind::launch_limit,
          fmt::format("{} takes a structure: pass the kernel itself, not a void pointer", name_of(what.launch.kernel)),
          calling(call));
      return cudaErrorNotSupported;
    }
    const auto data = std::make_shared<UntypedCall>(untyped);
    const Body body = {[](const void* of) { (*static_cast<const UntypedCall*>(of))(); }, data.get()};
    if (on_written_launch && !on_written_launch(what)) return cudaSuccess;
    return queue_launch(what, name_of(what.launch.kernel), body, data);
  });
}

bool is_kernel(const void* kernel) {
  return kernel && !name_of(kernel).empty();
}

}  // namespace
}  // namespace simt

using simt::enter;

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t dynamic_shared,
                             cudaStream_t stream) {
  const simt::Call call = SIMT_CALL("cudaLaunchKernel()");
  return simt::launch_untyped({{grid, block, dynamic_shared, kernel}, stream, nullptr, call.pc}, arguments, call);
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t dynamic_shared, cudaStream_t stream) {
  const simt::Call call = SIMT_CALL("cudaLaunchCooperativeKernel()");
  return simt::launch_untyped({{grid, block, dynamic_shared, kernel, true}, stream, nullptr, call.pc}, arguments, call);
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return enter(SIMT_CALL("cudaFuncSetAttribute()"), [&] {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || static_cast<std::size_t>(value) > simt::max_dynamic_shared) return cudaErrorInvalidValue;
    simt::allowed_by_kernel()[kernel] = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return enter(SIMT_CALL("cudaFuncGetAttributes()"), [&] {
    if (!attributes) return cudaErrorInvalidValue;
    if (!simt::is_kernel(kernel)) return cudaErrorInvalidDeviceFunction;
    const std::size_t fixed = simt::static_shared_of(kernel), allowed = simt::allowed_dynamic_shared(kernel);
    constexpr std::size_t unasked = 48 * 1024;
    *attributes = {};
    attributes->sharedSizeBytes = fixed;
    attributes->maxThreadsPerBlock = simt::device_properties().maxThreadsPerBlock;
    attributes->numRegs = 32;  // nvcc's to know: as many as let all threads be resident
    attributes->ptxVersion = attributes->binaryVersion = simt::compute_capability();
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(std::max(allowed, unasked - std::min(unasked, fixed)));
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return enter(SIMT_CALL("cudaFuncSetCacheConfig()"), [] { return cudaSuccess; });
}
cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return enter(SIMT_CALL("cudaFuncSetSharedMemConfig()"), [] { return cudaSuccess; });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_threads,
                                                          std::size_t dynamic_shared) {
  return enter(SIMT_CALL("cudaOccupancyMaxActiveBlocksPerMultiprocessor()"), [&] {
    if (!blocks || block_threads <= 0) return cudaErrorInvalidValue;
    if (!simt::is_kernel(kernel)) return cudaErrorInvalidDeviceFunction;
    *blocks = block_threads > 1024 ? 0 : simt::resident_blocks(kernel, block_threads, dynamic_shared);
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block_threads,
                                                                   std::size_t dynamic_shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_threads, dynamic_shared);
}
