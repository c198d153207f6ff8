#include "common/simt/run/shared_limits.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "common/simt/code/symbols.hpp"
#include "common/simt/language/runtime.hpp"

namespace simt {
namespace {

// nvcc refuses more static shared memory than this; more must be asked for dynamically, and be allowed first.
constexpr std::size_t max_static_shared = 48 * 1024;

}  // namespace

std::string beyond_shared_limits(const Launch& what, bool must_be_allowed) {
  std::size_t statically = 0;
  for (const SharedVariable& variable : shared_variables_of(what.kernel)) {
    if (variable.owner_is_kernel) statically += variable.bytes;
  }
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
