// Graphs as a whole: made node by node (graph_nodes.cpp) or from streams (capture.cpp), they are instantiated and queued.
#include "common/simt/language/graphs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"
#include "common/simt/runtime/graph_memory.hpp"
#include "common/simt/runtime/graph_nodes.hpp"
#include "common/simt/runtime/stream_order.hpp"

// With a stream of its own for each row of nodes of which each waits for the one before: what runs side by side in a
// graph is in no order, and so is checked like work in several streams.
struct CUgraphExec_st {
  struct Step {
    const CUgraphNode_st* node;
    std::vector<std::size_t> before;  // steps; none: it is one of the first
    std::size_t stream;
  };
  std::unique_ptr<CUgraph_st> graph;
  std::vector<Step> steps{};  // each behind those that come before
  std::vector<std::size_t> last{};
  std::vector<CUstream_st*> streams{};
  std::vector<const CUgraphNode_st*> memory{};  // those steps that allocate or free
  bool frees_first = false;                     // what the launch before has left
  simt::WorkPointer done{};                     // of the latest launch
};

namespace {

class Executables {
 public:
  static cudaGraphExec_t add(std::unique_ptr<CUgraphExec_st> one) { return all().emplace_back(std::move(one)).get(); }
  static bool has(cudaGraphExec_t one) { return find(one) != all().end(); }
  static void remove(cudaGraphExec_t one) { all().erase(find(one)); }

 private:
  static std::vector<std::unique_ptr<CUgraphExec_st>>& all() {
    static auto& one = *new std::vector<std::unique_ptr<CUgraphExec_st>>;
    return one;
  }
  static decltype(all().begin()) find(cudaGraphExec_t one) {
    return std::ranges::find(all(), one, &std::unique_ptr<CUgraphExec_st>::get);
  }
};

void take_over(CUgraphNode_st& node, const CUgraphNode_st& from) {
  node.who = from.who;
  node.pc = from.pc;
  node.run = from.run;
  node.event = from.event;
  node.memory = from.memory;
  node.pageable = from.pageable;
}
cudaError_t set_kernel(CUgraphNode_st& node, const cudaKernelNodeParams* what, const simt::Call& call) {
  CUgraph_st other;
  cudaGraphNode_t made = nullptr;
  const cudaError_t error = simt::add_kernel_node(&made, &other, {}, what, call);
  if (error == cudaSuccess) take_over(node, *made);
  return error;
}

// From now on the executable's clone of this copy does what the node does that `add` makes.
template <class Add>
cudaError_t set_copy(cudaGraphExec_t executable, cudaGraphNode_t node, Add add) {
  if (!Executables::has(executable)) return cudaErrorInvalidValue;
  const auto at = std::ranges::find(executable->graph->nodes, node, &CUgraphNode_st::original);
  if (at == executable->graph->nodes.end() || (*at)->type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
  CUgraph_st other;
  cudaGraphNode_t made = nullptr;
  const cudaError_t error = add(&made, &other);
  if (error == cudaSuccess) take_over(**at, *made);
  return error;
}

// Each behind those that come before it; nothing if they go in a circle.
std::optional<std::vector<const CUgraphNode_st*>> in_order(const CUgraph_st& graph) {
  std::vector<const CUgraphNode_st*> order;
  std::set<const CUgraphNode_st*> placed;
  for (bool any = true; any;) {
    any = false;
    for (const auto& node : graph.nodes) {
      const auto is_placed = [&](const CUgraphNode_st* before) { return placed.contains(before); };
      if (placed.contains(node.get()) || !std::ranges::all_of(node->before, is_placed)) continue;
      placed.insert(node.get());
      order.push_back(node.get());
      any = true;
    }
  }
  if (order.size() < graph.nodes.size()) return std::nullopt;
  return order;
}

// Adds the graph's steps behind those of `entry`; true and its last ones, or false if it has a circle.
bool add_steps(CUgraphExec_st& to, const CUgraph_st& graph, const std::vector<std::size_t>& entry,
               std::vector<std::size_t>& last) {
  const auto order = in_order(graph);
  if (!order) return false;
  std::map<const CUgraphNode_st*, std::vector<std::size_t>> ends;
  std::set<const CUgraphNode_st*> have_more;
  for (const CUgraphNode_st* const node : *order) {
    std::vector<std::size_t> before = node->before.empty() ? entry : std::vector<std::size_t>{};
    for (const CUgraphNode_st* const each : node->before) {
      before.insert(before.end(), ends[each].begin(), ends[each].end());
      have_more.insert(each);
    }
    if (node->child) {
      if (!add_steps(to, *node->child, before, ends[node])) return false;
      if (ends[node].empty()) ends[node] = before;
      continue;
    }
    std::size_t stream = to.streams.size();
    for (const std::size_t each : before) {
      const auto is_taken = [&](const auto& step) { return step.stream == to.steps[each].stream; };
      if (std::none_of(to.steps.begin() + static_cast<std::ptrdiff_t>(each) + 1, to.steps.end(), is_taken))
        stream = to.steps[each].stream;
    }
    if (stream == to.streams.size()) to.streams.push_back(simt::add_stream(cudaStreamNonBlocking, 0));
    ends[node] = {to.steps.size()};
    to.steps.push_back({node, std::move(before), stream});
  }
  for (const CUgraphNode_st* const node : *order) {
    if (!have_more.contains(node)) last.insert(last.end(), ends[node].begin(), ends[node].end());
  }
  return true;
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0) {
  constexpr unsigned long long known_flags = 15;
  if (!executable || !graph || flags > known_flags) return cudaErrorInvalidValue;
  auto made = std::make_unique<CUgraphExec_st>(CUgraphExec_st{simt::clone(*graph)});
  if (!add_steps(*made, *made->graph, {}, made->last)) return cudaErrorInvalidValue;
  for (const CUgraphExec_st::Step& step : made->steps) {
    if (step.node->memory) made->memory.push_back(step.node);
  }
  made->frees_first = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
  simt::StreamOrder::enable();
  *executable = Executables::add(std::move(made));
  return cudaSuccess;
}

simt::WorkPointer issue(const CUgraphNode_st& node, CUstream_st& stream, const simt::WorkPointer& last) {
  if (node.type == cudaGraphNodeTypeEventRecord)
    return simt::record_event(*node.event, stream, {node.who.c_str(), node.pc}, last);
  if (node.type == cudaGraphNodeTypeWaitEvent) {
    simt::issue(stream, node.who, node.pc, simt::nothing, last);
    return simt::issue(stream, node.who, node.pc, simt::nothing, node.event->record);
  }
  simt::WorkPointer work = simt::issue(stream, node.who, node.pc, node.run, last);
  work->is_hosts = node.type == cudaGraphNodeTypeHost;
  return work;
}

cudaError_t launch(CUgraphExec_st& what, CUstream_st& stream, const simt::Call& call) {
  if (const cudaError_t error = simt::may_issue(stream); error != cudaSuccess) return error;
  if (stream.capture) {
    simt::record_child(stream, *what.graph, call);
    return cudaSuccess;
  }
  const auto has_its_event = [](const auto& step) { return !step.node->event || simt::is_event(step.node->event); };
  if (!std::ranges::all_of(what.steps, has_its_event)) return cudaErrorInvalidValue;
  if (const cudaError_t error = simt::begin_launch(what.memory, what.frees_first, call); error != cudaSuccess)
    return error;
  const simt::WorkPointer begin = simt::issue(stream, call.name, call.pc, simt::nothing, what.done);
  std::vector<simt::WorkPointer> made;
  for (const CUgraphExec_st::Step& step : what.steps) {
    CUstream_st& own = *what.streams[step.stream];
    simt::WorkPointer last = begin;
    for (const std::size_t before : step.before) {
      if (before != step.before.front()) simt::issue(own, call.name, call.pc, simt::nothing, last);
      last = made[before];
    }
    made.push_back(issue(*step.node, own, last));
    for (const simt::PageableBox& box : step.node->pageable) simt::begin_pageable_use(box, made.back());
  }
  what.done = begin;
  for (const std::size_t last : what.last)
    what.done = simt::issue(stream, call.name, call.pc, simt::nothing, made[last]);
  return cudaSuccess;
}

// Of each node its type, and the numbers of those before it.
auto form_of(const CUgraph_st& graph) {
  std::vector<std::pair<cudaGraphNodeType, std::set<std::size_t>>> form;
  for (const auto& node : graph.nodes) {
    auto& before = form.emplace_back(node->type, std::set<std::size_t>{}).second;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (std::ranges::find(node->before, graph.nodes[i].get()) != node->before.end()) before.insert(i);
    }
  }
  return form;
}

cudaError_t update(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResult& result) {
  if (!Executables::has(executable) || !graph) return cudaErrorInvalidValue;
  result = cudaGraphExecUpdateErrorTopologyChanged;
  if (form_of(*executable->graph) != form_of(*graph)) return cudaErrorGraphExecUpdateFailure;
  result = cudaGraphExecUpdateSuccess;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) take_over(*executable->graph->nodes[i], *graph->nodes[i]);
  return cudaSuccess;
}

}  // namespace

using simt::Call;
using simt::enter;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return enter(SIMT_CALL("cudaGraphCreate()"), [&] {
    if (!graph || flags != 0) return cudaErrorInvalidValue;
    *graph = new CUgraph_st;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return enter(SIMT_CALL("cudaGraphClone()"), [&] {
    if (!clone || !graph) return cudaErrorInvalidValue;
    *clone = simt::clone(*graph).release();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return enter(SIMT_CALL("cudaGraphNodeFindInClone()"), [&] {
    if (!node || !original || !clone) return cudaErrorInvalidValue;
    const auto at = std::ranges::find(clone->nodes, original, &CUgraphNode_st::original);
    if (at == clone->nodes.end()) return cudaErrorInvalidValue;
    *node = at->get();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return enter(SIMT_CALL("cudaGraphDestroy()"), [&] {
    delete graph;
    return graph ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     std::size_t count) {
  return enter(SIMT_CALL("cudaGraphAddDependencies()"), [&] {
    if (!graph || (count > 0 && (!from || !to))) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) to[i]->before.push_back(from[i]);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return enter(SIMT_CALL("cudaGraphNodeGetType()"), [&] {
    if (!node || !type) return cudaErrorInvalidValue;
    *type = node->type;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return enter(SIMT_CALL("cudaGraphGetNodes()"), [&] {
    if (!graph || !count) return cudaErrorInvalidValue;
    const std::size_t all = graph->nodes.size();
    *count = nodes ? std::min(all, *count) : all;
    for (std::size_t i = 0; nodes && i < *count; ++i) nodes[i] = graph->nodes[i].get();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return enter(SIMT_CALL("cudaGraphInstantiate()"), [&] { return instantiate(executable, graph, flags); });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*, std::size_t) {
  return enter(SIMT_CALL("cudaGraphInstantiate()"), [&] { return instantiate(executable, graph); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return enter(SIMT_CALL("cudaGraphInstantiateWithFlags()"), [&] { return instantiate(executable, graph, flags); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return enter(SIMT_CALL("cudaGraphExecDestroy()"), [&] {
    if (!Executables::has(executable)) return cudaErrorInvalidValue;
    for (CUstream_st* const stream : executable->streams) simt::remove_stream(stream);
    Executables::remove(executable);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* what) {
  const Call call = SIMT_CALL("cudaGraphExecKernelNodeSetParams()");
  return enter(call, [&] {
    if (!Executables::has(executable)) return cudaErrorInvalidValue;
    const auto at = std::ranges::find(executable->graph->nodes, node, &CUgraphNode_st::original);
    return at == executable->graph->nodes.end() ? cudaErrorInvalidValue : set_kernel(**at, what, call);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* what) {
  return enter(SIMT_CALL("cudaGraphExecMemcpyNodeSetParams()"), [&] {
    return set_copy(executable, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
      return cudaGraphAddMemcpyNode(made, graph, nullptr, 0, what);
    });
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return enter(SIMT_CALL("cudaGraphExecMemcpyNodeSetParams1D()"), [&] {
    return set_copy(executable, node, [&](cudaGraphNode_t* made, cudaGraph_t graph) {
      return cudaGraphAddMemcpyNode1D(made, graph, nullptr, 0, to, from, bytes, kind);
    });
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  return enter(SIMT_CALL("cudaGraphExecUpdate()"), [&] {
    if (!result) return cudaErrorInvalidValue;
    *result = {};
    return update(executable, graph, result->result);
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result) {
  return enter(SIMT_CALL("cudaGraphExecUpdate()"), [&] {
    if (!result) return cudaErrorInvalidValue;
    if (error_node) *error_node = nullptr;
    *result = {};
    return update(executable, graph, *result);
  });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return enter(SIMT_CALL("cudaDeviceGetGraphMemAttribute()"), [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (!value || attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
    const bool is_highest = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    const simt::GraphMemoryUse use = simt::graph_memory_use();
    *static_cast<std::uint64_t*>(value) = is_highest ? use.highest : use.current;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return enter(SIMT_CALL("cudaDeviceSetGraphMemAttribute()"), [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    const bool is_highest = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (!value || !is_highest || *static_cast<const std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    simt::forget_highest_graph_memory_use();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return enter(SIMT_CALL("cudaDeviceGraphMemTrim()"),
               [&] { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  return enter(SIMT_CALL("cudaGraphUpload()"),
               [&] { return Executables::has(executable) ? cudaSuccess : cudaErrorInvalidValue; });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaGraphLaunch()");
  return enter(call, [&] {
    CUstream_st* const at = simt::find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    return Executables::has(executable) ? launch(*executable, *at, call) : cudaErrorInvalidValue;
  });
}
