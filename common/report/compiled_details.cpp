// What nvcc makes of a stage's kernels, for the accounts of what was counted (as_compiled.hpp). A file of its own,
// because only programs that nvcc may stand beside are linked with what reads machine code.
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "common/report/as_compiled.hpp"
#include "common/toolchain/sass.hpp"

namespace gemm {
namespace {

std::string details(const Stage& stage) {
  const auto toolchain = find_toolchain();
  if (!toolchain) return "\nas compiled: no nvcc on this machine, so no registers\n";
  try {
    return "\nas compiled:\n" + show(compile_kernels(*toolchain, stage.file, GEMM_SOURCE_DIR));
  } catch (const std::runtime_error& error) {
    return fmt::format("\nas compiled: {}\n", error.what());
  }
}

const DetailsOfCompiled registration(details);

}  // namespace
}  // namespace gemm
