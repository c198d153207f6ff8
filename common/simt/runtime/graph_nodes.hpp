// The nodes of a graph. Internal to common/simt/; call with the runtime entered.
#pragma once

#include <span>

#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"

namespace simt {

/// What a node does that only orders others.
cudaError_t nothing();
cudaError_t add_kernel_node(cudaGraphNode_t* node, CUgraph_st* graph, std::span<const cudaGraphNode_t> before,
                            const cudaKernelNodeParams* what, const Call& call);
/// In a captured stream: a graph as one node of another.
void record_child(CUstream_st& stream, const CUgraph_st& child, const Call& call);

}  // namespace simt
