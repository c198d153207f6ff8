// Memory that nodes of graphs allocate and free: at one address, in each launch again. Internal to common/simt/; call with
// the runtime entered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"

namespace simt {

/// In a captured stream: nodes.
cudaError_t record_allocation(CUstream_st& stream, void** pointer, std::size_t bytes, const Call& call);
cudaError_t record_free(CUstream_st& stream, void* pointer, const Call& call);
/// A graph with these nodes is launched. An error if one allocates what is still there, unless `frees_first`, or frees
/// what is not.
cudaError_t begin_launch(const std::vector<const CUgraphNode_st*>& nodes, bool frees_first, const Call& call);
/// The program has called for it to be freed. It may be any memory.
void forget_graph_memory(const void* pointer);

/// Bytes that launches have allocated and nobody has freed, and the most that there have been.
struct GraphMemoryUse {
  std::uint64_t current, highest;
};
GraphMemoryUse graph_memory_use();
void forget_highest_graph_memory_use();

}  // namespace simt
