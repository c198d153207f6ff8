#include "common/simt/runtime/queue.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "common/simt/observe/given_stream.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/mode.hpp"

namespace simt {
namespace {

// So much a GPU's queue takes before the host has to wait; here, too.
constexpr std::size_t most_queued = 1024;

struct Queue {
  std::uint32_t next_id = 1;
  unsigned next_number = 3;
  CUstream_st legacy{1, cudaStreamDefault, 0, {}}, per_thread{2, cudaStreamDefault, 0, {}};
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::vector<WorkPointer> of_removed;  // the last work of streams that are no more, while it is queued
  std::deque<WorkPointer> queued;       // in order of issue
  std::size_t undone = 0;
  const Work* under_way = nullptr;
  WorkClock host;
  WorkClock by_itself;        // the last work that has run and that nobody has waited for; empty: none
  std::uint32_t host_id = 0;  // 0: the host has issued work since it had one
};
Queue& queue() {
  static Queue& one = *new Queue;
  return one;
}

void join(WorkClock& clock, const WorkClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}
void join(WorkClock& clock, unsigned stream, std::uint32_t id) {
  if (clock.size() <= stream) clock.resize(stream + 1);
  clock[stream] = std::max(clock[stream], id);
}

void come_after(Work& work, const WorkPointer& other) {
  if (!other) return;
  join(work.before, other->before);
  join(work.before, other->stream, other->id);
  if (!other->is_done) work.after.push_back(other);
}

void run(Work& work) {
  Queue& q = queue();
  const Work* const outer = std::exchange(q.under_way, &work);
  if (broken_by() == cudaSuccess) {
    if (const cudaError_t error = work.run(); error != cudaSuccess) break_context(error);
  }
  q.under_way = outer;
  lets_host_by = host_has_signalled = false;
  work.is_done = true;
  work.run = nullptr;
  work.after.clear();
  --q.undone;
  while (!q.queued.empty() && q.queued.front()->is_done) q.queued.pop_front();
}

// With all that comes before it, in order of issue.
void run_with_all_before(const WorkPointer& last) {
  std::vector<WorkPointer> all = {last};
  std::set<const Work*> known = {last.get()};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const WorkPointer& before : all[i]->after) {
      if (!before->is_done && known.insert(before.get()).second) all.push_back(before);
    }
  }
  std::ranges::sort(all, {}, [](const WorkPointer& work) { return work->id; });
  for (const WorkPointer& work : all) {
    if (!work->is_done) run(*work);
  }
}

// On a GPU it may not have run. In the harness it has, at once: there it is what the host has not waited for.
bool is_pending(const WorkPointer& work) {
  if (!work || runs_program()) return work && !work->is_done;
  const WorkClock& host = queue().host;
  return work->stream >= host.size() || host[work->stream] < work->id;
}

bool is_blocking(const CUstream_st& stream) {
  return stream.flags != cudaStreamNonBlocking;
}

}  // namespace

CUstream_st* find_stream(cudaStream_t stream) {
  Queue& q = queue();
  if (!stream || stream == cudaStreamLegacy) return &q.legacy;
  if (stream == cudaStreamPerThread) return &q.per_thread;
  const auto at = std::ranges::find(q.streams, stream, &std::unique_ptr<CUstream_st>::get);
  return at == q.streams.end() ? nullptr : at->get();
}

CUstream_st* add_stream(unsigned flags, int priority) {
  Queue& q = queue();
  return q.streams.emplace_back(new CUstream_st{q.next_number++, flags, priority, {}}).get();
}

void remove_stream(CUstream_st* stream) {
  Queue& q = queue();
  if (is_blocking(*stream) && is_pending(stream->last)) q.of_removed.push_back(stream->last);
  std::erase_if(q.streams, [&](const auto& each) { return each.get() == stream; });
}

void expect_given(const CUstream_st& stream, const std::string& who, const void* pc) {
  const bool by_default = &stream == &queue().legacy || &stream == &queue().per_thread;
  if (by_default) expect_given_stream(nullptr, who, pc);
}

WorkPointer issue(CUstream_st& stream, std::string who, const void* pc, std::function<cudaError_t()> run_it,
                  const WorkPointer& also_after) {
  if (stream.capture) {
    record_instead(stream, std::move(who), pc, std::move(run_it));
    return nullptr;
  }
  Queue& q = queue();
  auto work = std::make_shared<Work>();
  work->id = q.next_id++;
  work->stream = stream.number;
  work->who = std::move(who);
  work->pc = pc;
  work->run = std::move(run_it);
  work->before = q.host;
  q.host_id = 0;
  come_after(*work, stream.last);
  come_after(*work, also_after);
  if (&stream == &q.legacy) {  // it waits for all streams that don't say otherwise, and they for it
    std::erase_if(q.of_removed, [](const WorkPointer& each) { return !is_pending(each); });
    for (const auto& other : q.streams) {
      if (is_blocking(*other)) come_after(*work, other->last);
    }
    come_after(*work, q.per_thread.last);
    for (const WorkPointer& other : q.of_removed) come_after(*work, other);
  } else if (is_blocking(stream)) {
    come_after(*work, q.legacy.last);
  }
  stream.last = work;
  stream.was_asked = false;
  if (on_actor) on_actor(work->id, work->stream, work->before, work->who, pc);
  q.queued.push_back(work);
  ++q.undone;
  if (!runs_program()) {
    run(*work);
    return work;
  }
  if (on_queued) on_queued();
  if (q.undone > most_queued) run_with_all_before(q.queued.front());
  return work;
}

cudaError_t wait_for(const WorkPointer& work) {
  if (!work) return broken_by();
  run_with_all_before(work);
  host_learns_of(work->id, work->stream, work->before);
  return broken_by();
}

void host_learns_of(std::uint32_t id, unsigned stream, const WorkClock& before) {
  Queue& q = queue();
  join(q.host, before);
  join(q.host, stream, id);
  q.host_id = 0;
  for (std::size_t i = 0; i < q.by_itself.size(); ++i) {
    if (i >= q.host.size() || q.by_itself[i] > q.host[i]) return;
  }
  q.by_itself.clear();
}

WorkPointer run_by_itself() {
  Queue& q = queue();
  WorkPointer work = q.queued.front();
  join(q.by_itself, work->stream, work->id);
  run(*work);
  return work;
}
bool is_host_behind() {
  return queue().undone > 0 || !queue().by_itself.empty();
}

cudaError_t wait_for_all() {
  if (const cudaError_t error = refuse_wait ? refuse_wait(nullptr) : cudaSuccess; error != cudaSuccess) return error;
  Queue& q = queue();
  while (!q.queued.empty()) wait_for(q.queued.front());
  for (const auto& stream : q.streams) wait_for(stream->last);
  wait_for(q.per_thread.last);
  return wait_for(q.legacy.last);
}

cudaError_t wait_for_stream(CUstream_st& stream) {
  if (const cudaError_t error = refuse_wait ? refuse_wait(&stream) : cudaSuccess; error != cudaSuccess) return error;
  if (&stream == &queue().legacy) issue(stream, "cudaStreamSynchronize()", nullptr, [] { return cudaSuccess; });
  return wait_for(stream.last);
}

std::size_t queued() {
  return queue().undone;
}
const Work* work_under_way() {
  return queue().under_way;
}

std::uint32_t host_id() {
  Queue& q = queue();
  if (q.host_id == 0) {
    q.host_id = q.next_id++;
    join(q.host, host_number, q.host_id);
    if (on_actor) on_actor(q.host_id, host_number, q.host, "the host", nullptr);
  }
  return q.host_id;
}
const WorkClock& host_clock() {
  return queue().host;
}

}  // namespace simt
