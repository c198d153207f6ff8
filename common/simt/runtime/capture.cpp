#include "common/simt/runtime/capture.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/simt/language/graphs.hpp"
#include "common/simt/runtime/call.hpp"

namespace simt {
namespace {

struct Captured {
  std::shared_ptr<Capture> capture;
  std::unique_ptr<CUgraph_st> graph;
  std::vector<CUstream_st*> streams;
  std::vector<CUgraphNode_st*> left;  // the last of streams that are no more
};
std::vector<Captured>& captures() {
  static auto& all = *new std::vector<Captured>;
  return all;
}

cudaError_t spoil(cudaError_t why) {
  for (const Captured& each : captures()) each.capture->is_invalid = true;
  return why;
}

cudaGraphNodeType type_of(const std::string& who) {
  if (who.starts_with("the kernel")) return cudaGraphNodeTypeKernel;
  if (who.starts_with("cudaMemcpy")) return cudaGraphNodeTypeMemcpy;
  return who.starts_with("cudaMemset") ? cudaGraphNodeTypeMemset : cudaGraphNodeTypeHost;
}

// All that comes before these, and they themselves.
std::set<const CUgraphNode_st*> with_all_before(const std::vector<CUgraphNode_st*>& nodes) {
  std::vector<const CUgraphNode_st*> all(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const CUgraphNode_st* before : all[i]->before) {
      if (std::ranges::find(all, before) == all.end()) all.push_back(before);
    }
  }
  return {all.begin(), all.end()};
}

cudaError_t begin(CUstream_st* stream) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (stream == find_stream(nullptr)) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture) return cudaErrorIllegalState;
  auto graph = std::make_unique<CUgraph_st>();
  auto capture = std::make_shared<Capture>(Capture{graph.get(), stream});
  captures().push_back({capture, std::move(graph), {}, {}});
  join_capture(*stream, capture, {});
  return cudaSuccess;
}

cudaError_t end(CUstream_st* stream, cudaGraph_t* graph) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (!graph) return cudaErrorInvalidValue;
  *graph = nullptr;
  if (!stream->capture) return cudaErrorIllegalState;
  const auto at = std::ranges::find(captures(), stream->capture, &Captured::capture);
  if (at->capture->origin != stream) return spoil(cudaErrorStreamCaptureUnmatched);
  const auto joined = with_all_before(stream->recorded);
  const auto are_joined = [&](const std::vector<CUgraphNode_st*>& nodes) {
    return std::ranges::all_of(nodes, [&](const CUgraphNode_st* node) { return joined.contains(node); });
  };
  const bool all_joined = are_joined(at->left) && std::ranges::all_of(at->streams, [&](const CUstream_st* each) {
                            return are_joined(each->recorded);
                          });
  for (CUstream_st* const each : at->streams) {
    each->capture.reset();
    each->recorded.clear();
  }
  const bool is_invalid = at->capture->is_invalid;
  if (!is_invalid && all_joined) *graph = at->graph.release();
  at->capture->is_ended = true;
  captures().erase(at);
  return is_invalid ? cudaErrorStreamCaptureInvalidated : all_joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
}

}  // namespace

void record_node(CUstream_st& stream, std::string who, const void* pc, std::function<cudaError_t()> run) {
  const cudaGraphNodeType type = type_of(who);
  auto& nodes = stream.capture->graph->nodes;
  nodes.emplace_back(new CUgraphNode_st{type, stream.recorded, std::move(who), pc, std::move(run)});
  stream.recorded = {nodes.back().get()};
}

void join_capture(CUstream_st& stream, const std::shared_ptr<Capture>& capture,
                  const std::vector<CUgraphNode_st*>& before) {
  if (!stream.capture) {
    record_instead = record_node;
    refuse_wait = may_wait;
    stream.capture = capture;
    const auto at = std::ranges::find(captures(), capture, &Captured::capture);
    if (at != captures().end()) at->streams.push_back(&stream);
  }
  for (CUgraphNode_st* const node : before) {
    if (std::ranges::find(stream.recorded, node) == stream.recorded.end()) stream.recorded.push_back(node);
  }
}

void leave_capture(CUstream_st& stream) {
  const auto at = std::ranges::find(captures(), stream.capture, &Captured::capture);
  at->left.insert(at->left.end(), stream.recorded.begin(), stream.recorded.end());
  std::erase(at->streams, &stream);
  stream.capture.reset();
  stream.recorded.clear();
}

cudaError_t may_issue(const CUstream_st& stream) {
  if (stream.capture) return stream.capture->is_invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  const bool waits = std::ranges::any_of(captures(), [](const Captured& each) {
    return std::ranges::any_of(each.streams, [](const auto* one) { return one->flags != cudaStreamNonBlocking; });
  });
  return waits && &stream == find_stream(nullptr) ? spoil(cudaErrorStreamCaptureImplicit) : cudaSuccess;
}

cudaError_t may_wait(const CUstream_st* stream) {
  const bool may = stream ? !stream->capture : captures().empty();
  return may ? cudaSuccess : spoil(cudaErrorStreamCaptureUnsupported);
}

std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph) {
  auto made = std::make_unique<CUgraph_st>();
  std::map<const CUgraphNode_st*, CUgraphNode_st*> clones;
  for (const auto& node : graph.nodes) {
    clones[node.get()] = made->nodes.emplace_back(new CUgraphNode_st(*node)).get();
    made->nodes.back()->original = node.get();
  }
  for (const auto& node : made->nodes) {
    for (CUgraphNode_st*& before : node->before) before = clones[before];
  }
  return made;
}

}  // namespace simt

using simt::enter;
using simt::find_stream;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return enter(SIMT_CALL("cudaStreamBeginCapture()"), [&] { return simt::begin(find_stream(stream)); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return enter(SIMT_CALL("cudaStreamEndCapture()"), [&] { return simt::end(find_stream(stream), graph); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return enter(SIMT_CALL("cudaStreamIsCapturing()"), [&] {
    const CUstream_st* const at = find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (!status) return cudaErrorInvalidValue;
    *status = !at->capture              ? cudaStreamCaptureStatusNone
              : at->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
// Which calls of other threads are allowed meanwhile: none is forbidden here.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode present = cudaStreamCaptureModeGlobal;
  return enter(SIMT_CALL("cudaThreadExchangeStreamCaptureMode()"), [&] {
    if (!mode) return cudaErrorInvalidValue;
    std::swap(*mode, present);
    return cudaSuccess;
  });
}
