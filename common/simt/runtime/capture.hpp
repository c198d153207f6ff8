// Graphs, and streams whose work goes into one instead of the queue. Internal to common/simt/; call with the runtime
// entered.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/language/graphs.hpp"
#include "common/simt/language/runtime.hpp"
#include "common/simt/runtime/pageable.hpp"
#include "common/simt/runtime/queue.hpp"

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::vector<CUgraphNode_st*> before;
  std::string who{};  // this and the rest as in Work
  const void* pc = nullptr;
  std::function<cudaError_t()> run{};
  std::shared_ptr<CUgraph_st> child{};
  CUevent_st* event = nullptr;
  void* memory = nullptr;                     ///< which it allocates or frees
  std::vector<simt::PageableBox> pageable{};  ///< which it copies from or to
  const CUgraphNode_st* original = nullptr;   ///< of which this is a clone
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

namespace simt {

struct Capture {
  CUgraph_st* graph;
  CUstream_st* origin;  ///< the stream in which it began
  bool is_invalid = false, is_ended = false;
};

/// What a stream that is captured is asked to do, with all that has been recorded in it, becomes a node.
void record_node(CUstream_st& stream, std::string who, const void* pc, std::function<cudaError_t()> run);
/// In the stream, from now on, these come before.
void join_capture(CUstream_st& stream, const std::shared_ptr<Capture>& capture,
                  const std::vector<CUgraphNode_st*>& before);
/// The stream is no more. What has been recorded in it stays.
void leave_capture(CUstream_st& stream);
/// Whether work may be queued in this stream, or recorded. What is not allowed while any stream is captured spoils that.
cudaError_t may_issue(const CUstream_st& stream);
/// The same for a call that waits for all streams, or for this one.
cudaError_t may_wait(const CUstream_st* stream = nullptr);

std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph);

}  // namespace simt
