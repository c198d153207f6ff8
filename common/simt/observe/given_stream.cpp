#include "common/simt/observe/given_stream.hpp"

#include <cstdint>

#include "common/simt/observe/sink.hpp"

namespace simt {

void expect_given_stream(cudaStream_t used, const std::string& who, const void* pc) {
  const bool by_default = !used || used == cudaStreamLegacy || used == cudaStreamPerThread;
  Sink* const sink = given_stream && by_default ? active_sink() : nullptr;
  if (!sink) return;
  const Party party{true, {}, {}, reinterpret_cast<std::uintptr_t>(pc), "works in the default stream", who};
  sink->report({DefectKind::default_stream, {}, "not the one that launch() is given", party, {}});
}

}  // namespace simt
