#include "common/simt/runtime/graph_memory.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/simt/runtime/allocation.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace simt {
namespace {

// Whether a launch has allocated it, and nobody has freed it since, as far as the program has come. What runs is behind.
std::map<const void*, bool>& are_there() {
  static auto& all = *new std::map<const void*, bool>;
  return all;
}

std::uint64_t highest_use = 0;

}  // namespace

GraphMemoryUse graph_memory_use() {
  std::uint64_t current = 0;
  for (const auto& [memory, is_there] : are_there()) {
    if (is_there) current += piece_at(reinterpret_cast<std::uintptr_t>(memory))->bytes;
  }
  return {current, highest_use};
}
void forget_highest_graph_memory_use() {
  highest_use = graph_memory_use().current;
}

cudaError_t record_allocation(CUstream_st& stream, void** pointer, std::size_t bytes, const Call& call) {
  if (const cudaError_t error = may_issue(stream); error != cudaSuccess) return error;
  if (bytes == 0) return cudaErrorInvalidValue;
  if (const cudaError_t error = allocate(pointer, bytes, Home::device, call); error != cudaSuccess) return error;
  void* const memory = *pointer;
  are_there()[memory] = false;
  give_to_graph(memory, call);
  record_node(stream, call.name, call.pc, [=] {
    if (auto* const order = StreamOrder::active())
      order->by_work(reinterpret_cast<std::uintptr_t>(memory), bytes, Use::write);
    return renew_piece(memory, call);
  });
  stream.recorded.front()->type = cudaGraphNodeTypeMemAlloc;
  stream.recorded.front()->memory = memory;
  return cudaSuccess;
}

cudaError_t record_free(CUstream_st& stream, void* pointer, const Call& call) {
  if (const cudaError_t error = may_issue(stream); error != cudaSuccess) return error;
  if (!are_there().contains(pointer)) return cudaErrorInvalidValue;
  record_node(stream, call.name, call.pc, freeing(*piece_at(reinterpret_cast<std::uintptr_t>(pointer)), call));
  stream.recorded.front()->type = cudaGraphNodeTypeMemFree;
  stream.recorded.front()->memory = pointer;
  return cudaSuccess;
}

cudaError_t begin_launch(const std::vector<const CUgraphNode_st*>& nodes, bool frees_first, const Call& call) {
  auto after = are_there();
  for (const CUgraphNode_st* const node : nodes) {
    const bool allocates = node->type == cudaGraphNodeTypeMemAlloc;
    const bool was_there = std::exchange(after[node->memory], allocates);
    if (was_there == allocates && !(allocates && frees_first)) return cudaErrorInvalidValue;
  }
  // What is queued after this launch can name the memory, although the launch has not run.
  for (const CUgraphNode_st* const node : nodes) {
    if (!piece_at(reinterpret_cast<std::uintptr_t>(node->memory))->freed.name) continue;
    if (const cudaError_t error = renew_piece(node->memory, call); error != cudaSuccess) return error;
  }
  are_there() = std::move(after);
  highest_use = std::max(highest_use, graph_memory_use().current);
  return cudaSuccess;
}

void forget_graph_memory(const void* pointer) {
  const auto at = are_there().find(pointer);
  if (at != are_there().end()) at->second = false;
}

}  // namespace simt
