// Queued work: what a stream has to do, in order, and what comes before it in other streams. Work runs when somebody
// waits for it, or for what comes behind it, and not before: whatever a program forgets to wait for has not happened yet.
// Internal to common/simt/; call with the runtime entered.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/language/runtime.hpp"

struct CUgraphNode_st;

namespace simt {

struct Call;
struct Capture;

/// For each stream, by its number, the latest piece of work that comes before. Number 0 is the host.
using WorkClock = std::vector<std::uint32_t>;
inline constexpr unsigned host_number = 0;

struct Work {
  std::uint32_t id = 0;  ///< in order of issue, from 1
  unsigned stream = 0;
  WorkClock before;
  std::string who;           ///< "the kernel add", "cudaMemcpyAsync()"
  const void* pc = nullptr;  ///< where the host issued it
  std::function<cudaError_t()> run;
  std::vector<std::shared_ptr<Work>> after;  ///< not done when it was issued
  bool is_done = false;
  bool is_hosts = false;  ///< a function of the host, which may tell it by any means that it has run
};
using WorkPointer = std::shared_ptr<Work>;

}  // namespace simt

struct CUstream_st {
  unsigned number;
  unsigned flags;
  int priority;
  simt::WorkPointer last;                    ///< null: nothing yet
  bool was_asked = false;                    ///< by cudaStreamQuery(), since then nothing was added
  std::shared_ptr<simt::Capture> capture{};  ///< not null: what it is asked to do is recorded (capture.hpp)
  std::vector<CUgraphNode_st*> recorded{};   ///< which come before what is next
};

struct CUevent_st {
  unsigned flags;
  simt::WorkPointer record;                                    ///< null: never
  std::shared_ptr<double> time = std::make_shared<double>(0);  ///< of the latest record, in milliseconds
  bool was_asked = false;
  std::shared_ptr<simt::Capture> capture{};  ///< in which it was recorded last
  std::vector<CUgraphNode_st*> recorded{};
};

namespace simt {

/// Null if there is no such stream.
CUstream_st* find_stream(cudaStream_t stream);
CUstream_st* add_stream(unsigned flags, int priority);
void remove_stream(CUstream_st* stream);

/// A stage is to work in the stream that it was given (observe/given_stream.hpp).
void expect_given(const CUstream_st& stream, const std::string& who, const void* pc);

/// In a program, queues it. `also_after`, if not null, comes before it, too. Else runs it at once. Null if the stream is
/// captured: then it is recorded. may_issue() has been asked.
WorkPointer issue(CUstream_st& stream, std::string who, const void* pc, std::function<cudaError_t()> run,
                  const WorkPointer& also_after = {});
/// Runs it, if it has not run, and all that comes before it. Answers what the context is broken by, if it is.
cudaError_t wait_for(const WorkPointer& work);
cudaError_t wait_for_all();
/// What an event was recorded for before is forgotten.
bool is_event(cudaEvent_t event);
WorkPointer record_event(CUevent_st& event, CUstream_st& stream, const Call& call, const WorkPointer& also_after);
/// The default stream is done when those are that wait for it.
cudaError_t wait_for_stream(CUstream_st& stream);

/// Told of each piece of work, and of the host, before either uses memory; null: nobody is.
inline void (*on_actor)(std::uint32_t id, unsigned stream, const WorkClock& before, const std::string& who,
                        const void* pc) = nullptr;

/// Called when a program has queued something; null: nobody is.
inline void (*on_queued)() = nullptr;

/// What captures do, since one has begun (capture.hpp): of a stream that is captured, what it is asked to do is recorded.
inline void (*record_instead)(CUstream_st& stream, std::string who, const void* pc,
                              std::function<cudaError_t()> run) = nullptr;
inline cudaError_t (*refuse_wait)(const CUstream_st* stream) = nullptr;

/// Until the work under way ends: the host's accesses don't wait for it, and are not noted; and one of them has told the
/// work, by an atomic or volatile write, what the host did before.
inline std::atomic<bool> lets_host_by = false, host_has_signalled = false;

/// How many pieces of work have not run.
std::size_t queued();
/// Runs the first of them, which nobody has waited for.
WorkPointer run_by_itself();
/// Whether there is work that the host has not waited for.
bool is_host_behind();
/// The host has learnt, by a flag that it has read, how far this work is.
void host_learns_of(std::uint32_t id, unsigned stream, const WorkClock& before);
/// What runs right now; null if nothing.
const Work* work_under_way();

/// What the host does from now on until it issues work: an id for it, and what comes before.
std::uint32_t host_id();
const WorkClock& host_clock();

}  // namespace simt
