#include "common/simt/runtime/graph_nodes.hpp"

#include <memory>

#include "common/simt/runtime/graph_memory.hpp"

namespace simt {
namespace {

// As if one stream were captured that has come so far.
template <class Do>
cudaError_t add_node(cudaGraphNode_t* node, CUgraph_st* graph, std::span<const cudaGraphNode_t> before,
                     const Call& call, Do act) {
  if (!node || !graph) return cudaErrorInvalidValue;
  CUstream_st* const stream = add_stream(cudaStreamNonBlocking, 0);
  const std::size_t nodes = graph->nodes.size();
  join_capture(*stream, std::make_shared<Capture>(Capture{graph, stream}), {before.begin(), before.end()});
  const cudaError_t error = act(stream);
  remove_stream(stream);
  if (error != cudaSuccess) return error;
  if (graph->nodes.size() == nodes) return cudaErrorInvalidValue;  // there was nothing to do
  *node = graph->nodes.back().get();
  (*node)->pc = call.pc;
  return cudaSuccess;
}

CUgraphNode_st& record(CUstream_st& stream, cudaGraphNodeType type, const Call& call) {
  record_node(stream, call.name, call.pc, nothing);
  stream.recorded.front()->type = type;
  return *stream.recorded.front();
}

// Bytes alone can be set: all of an element's must be the same.
bool is_of_one_byte(const cudaMemsetParams& what) {
  const unsigned byte = what.value & 0xff;
  const unsigned whole = what.elementSize == 4 ? byte * 0x01010101u : what.elementSize == 2 ? byte * 0x0101u : byte;
  return what.value == whole;
}

cudaError_t set(cudaStream_t stream, const cudaMemsetParams* what) {
  if (!what) return cudaErrorInvalidValue;
  if (!is_of_one_byte(*what)) return cudaErrorNotSupported;
  const std::size_t width = what->width * what->elementSize;
  return cudaMemset2DAsync(what->dst, what->height > 1 ? what->pitch : width, static_cast<int>(what->value & 0xff),
                           width, what->height, stream);
}

}  // namespace

cudaError_t nothing() {
  return cudaSuccess;
}

cudaError_t add_kernel_node(cudaGraphNode_t* node, CUgraph_st* graph, std::span<const cudaGraphNode_t> before,
                            const cudaKernelNodeParams* what, const Call& call) {
  if (!what) return cudaErrorInvalidValue;
  return add_node(node, graph, before, call, [&](cudaStream_t stream) {
    return cudaLaunchKernel(what->func, grid_of(*what), block_of(*what), what->kernelParams, what->sharedMemBytes,
                            stream);
  });
}

void record_child(CUstream_st& stream, const CUgraph_st& child, const Call& call) {
  record(stream, cudaGraphNodeTypeGraph, call).child = clone(child);
}

}  // namespace simt

using simt::Call;

namespace {

template <class Do>
cudaError_t add(const Call& call, cudaGraphNode_t* node, cudaGraph_t graph, std::span<const cudaGraphNode_t> before,
                Do act) {
  return simt::enter(call, [&] { return simt::add_node(node, graph, before, call, act); });
}

cudaError_t add_for_event(const Call& call, cudaGraphNodeType type, cudaGraphNode_t* node, cudaGraph_t graph,
                          std::span<const cudaGraphNode_t> before, cudaEvent_t event) {
  return add(call, node, graph, before, [&](cudaStream_t stream) {
    if (!simt::is_event(event)) return cudaErrorInvalidValue;
    simt::record(*stream, type, call).event = event;
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaKernelNodeParams* what) {
  const Call call = SIMT_CALL("cudaGraphAddKernelNode()");
  return simt::enter(call, [&] { return simt::add_kernel_node(node, graph, {before, count}, what, call); });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaMemcpy3DParms* what) {
  return add(SIMT_CALL("cudaGraphAddMemcpyNode()"), node, graph, {before, count},
             [&](cudaStream_t stream) { return cudaMemcpy3DAsync(what, stream); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add(SIMT_CALL("cudaGraphAddMemcpyNode1D()"), node, graph, {before, count},
             [&](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   std::size_t count, const cudaMemsetParams* what) {
  return add(SIMT_CALL("cudaGraphAddMemsetNode()"), node, graph, {before, count},
             [&](cudaStream_t stream) { return simt::set(stream, what); });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                 std::size_t count, const cudaHostNodeParams* what) {
  return add(SIMT_CALL("cudaGraphAddHostNode()"), node, graph, {before, count}, [&](cudaStream_t stream) {
    return what ? cudaLaunchHostFunc(stream, what->fn, what->userData) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                  std::size_t count) {
  const Call call = SIMT_CALL("cudaGraphAddEmptyNode()");
  return add(call, node, graph, {before, count}, [&](cudaStream_t stream) {
    simt::record(*stream, cudaGraphNodeTypeEmpty, call);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                       std::size_t count, cudaGraph_t child) {
  const Call call = SIMT_CALL("cudaGraphAddChildGraphNode()");
  return add(call, node, graph, {before, count}, [&](cudaStream_t stream) {
    if (!child) return cudaErrorInvalidValue;
    simt::record_child(*stream, *child, call);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                        std::size_t count, cudaEvent_t event) {
  return add_for_event(SIMT_CALL("cudaGraphAddEventRecordNode()"), cudaGraphNodeTypeEventRecord, node, graph,
                       {before, count}, event);
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                      std::size_t count, cudaEvent_t event) {
  return add_for_event(SIMT_CALL("cudaGraphAddEventWaitNode()"), cudaGraphNodeTypeWaitEvent, node, graph,
                       {before, count}, event);
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     std::size_t count, cudaMemAllocNodeParams* what) {
  const Call call = SIMT_CALL("cudaGraphAddMemAllocNode()");
  return add(call, node, graph, {before, count}, [&](cudaStream_t stream) {
    const bool fits = what && what->poolProps.allocType == cudaMemAllocationTypePinned &&
                      what->poolProps.location.type == cudaMemLocationTypeDevice && what->poolProps.location.id == 0;
    return fits ? simt::record_allocation(*stream, &what->dptr, what->bytesize, call) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                    std::size_t count, void* pointer) {
  const Call call = SIMT_CALL("cudaGraphAddMemFreeNode()");
  return add(call, node, graph, {before, count},
             [&](cudaStream_t stream) { return simt::record_free(*stream, pointer, call); });
}
