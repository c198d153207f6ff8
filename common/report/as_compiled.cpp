#include "common/report/as_compiled.hpp"

namespace gemm {
namespace {

std::string (*compiled_details)(const Stage&) = nullptr;

}  // namespace

DetailsOfCompiled::DetailsOfCompiled(std::string (*details)(const Stage&)) {
  compiled_details = details;
}

std::string as_compiled(const Stage& stage) {
  return compiled_details ? compiled_details(stage)
                          : "\nas compiled: no nvcc where this program was built, so no registers\n";
}

}  // namespace gemm
