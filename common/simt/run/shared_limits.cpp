#include "common/simt/run/shared_limits.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "common/simt/code/symbols.hpp"
#include "common/simt/language/runtime.hpp"
#include "common/simt/language/virtual_device.hpp"

namespace simt {
namespace {

// nvcc refuses more static shared memory than this; more must be asked for dynamically, and be allowed first.
constexpr std::size_t max_static_shared = 48 * 1024;

std::size_t static_shared_of(const void* kernel) {
  std::size_t bytes = 0;
  for (const SharedVariable& variable : shared_variables_of(kernel)) {
    if (variable.owner_is_kernel) bytes += variable.bytes;
  }
  return bytes;
}

}  // namespace

std::uint64_t most_cooperative_blocks(const Launch& what) {
  const std::size_t shared = static_shared_of(what.kernel) + what.dynamic_shared;
  const unsigned each = virtual_device::resident_blocks(what.block.x * what.block.y * what.block.z, shared);
  return std::uint64_t{virtual_device::multiprocessors} * each;
}

std::string beyond_shared_limits(const Launch& what, bool must_be_allowed) {
  const std::size_t statically = static_shared_of(what.kernel);
  if (statically > max_static_shared) {
    return fmt::format("{} bytes of static shared memory: at most {}", statically, max_static_shared);
  }
  if (statically + what.dynamic_shared > max_dynamic_shared) {
    return fmt::format("{} bytes of shared memory: at most {}", statically + what.dynamic_shared, max_dynamic_shared);
  }
  if (must_be_allowed && statically + what.dynamic_shared > max_static_shared &&
      what.dynamic_shared > allowed_dynamic_shared(what.kernel)) {
    return fmt::format(
        "{} bytes of shared memory: more than {} need cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, {}) before the launch",
        statically + what.dynamic_shared, max_static_shared, what.dynamic_shared);
  }
  return {};
}

std::string oversized_shared_variable() {
  for (const SharedVariable& variable : shared_variables_of(nullptr)) {
    if (variable.bytes > max_dynamic_shared) {
      return fmt::format("the __shared__ variable {} has {} bytes: a block has at most {}, and {} if it asks for them",
                         variable.name, variable.bytes, max_static_shared, max_dynamic_shared);
    }
  }
  return {};
}

}  // namespace simt
