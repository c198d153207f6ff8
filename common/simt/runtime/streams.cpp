// Streams and events.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"
#include "common/simt/runtime/queue.hpp"
#include "common/simt/runtime/stream_order.hpp"

using simt::enter;
using simt::find_stream;
using simt::is_event;

namespace {

constexpr int least_priority = 0, greatest_priority = -5;

std::vector<std::unique_ptr<CUevent_st>>& events() {
  static auto& all = *new std::vector<std::unique_ptr<CUevent_st>>;
  return all;
}

// Of two calls the later one is later, whatever the clock's resolution.
double later_and_later() {
  static double last = 0;
  const std::chrono::duration<double, std::milli> now = std::chrono::steady_clock::now().time_since_epoch();
  constexpr double microsecond = 1e-3;
  return last = std::max(now.count(), last + microsecond);
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  if (!stream || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  simt::StreamOrder::enable();
  *stream = simt::add_stream(flags, std::clamp(priority, greatest_priority, least_priority));
  return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!event || flags & ~known || (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)))
    return cudaErrorInvalidValue;
  *event = events().emplace_back(new CUevent_st{flags, {}}).get();
  return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, const simt::Call& call) {
  CUstream_st* const at = find_stream(stream);
  if (!at || !is_event(event)) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = simt::may_issue(*at); error != cudaSuccess) return error;
  event->capture = at->capture;
  event->recorded = at->recorded;
  event->record = nullptr;
  if (at->capture) return cudaSuccess;
  simt::record_event(*event, *at, call, nullptr);
  return cudaSuccess;
}

// In a captured stream, a node of the graph: what others wait for in each of its launches.
cudaError_t record_external(cudaEvent_t event, CUstream_st& stream, cudaGraphNodeType type, const simt::Call& call) {
  if (const cudaError_t error = simt::may_issue(stream); error != cudaSuccess) return error;
  simt::record_node(stream, call.name, call.pc, nullptr);
  stream.recorded.front()->type = type;
  stream.recorded.front()->event = event;
  return cudaSuccess;
}

// A stream that waits for an event of a captured one is captured with it.
cudaError_t join_captured(CUstream_st& stream, const CUevent_st& event) {
  if (event.capture->is_ended) return cudaErrorCapturedEvent;
  if (stream.capture && stream.capture != event.capture) return cudaErrorStreamCaptureMerge;
  if (&stream == find_stream(nullptr)) return cudaErrorStreamCaptureImplicit;
  simt::join_capture(stream, event.capture, event.recorded);
  return cudaSuccess;
}

// Not ready when asked first, so that a program that does not ask again finds nothing done; then done.
cudaError_t query(const simt::WorkPointer& work, bool& was_asked) {
  if (!work || work->is_done || was_asked) return simt::wait_for(work);
  was_asked = true;
  return cudaErrorNotReady;
}

template <class Do>
cudaError_t run_for_host(cudaStream_t stream, const simt::Call& call, Do act) {
  CUstream_st* const at = find_stream(stream);
  if (!at) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = simt::may_issue(*at); error != cudaSuccess) return error;
  const simt::WorkPointer work = simt::issue(*at, call.name, call.pc, [act] {
    const simt::LeftForHost left;
    act();
    return cudaSuccess;
  });
  if (work) work->is_hosts = true;
  return cudaSuccess;
}

}  // namespace

namespace simt {

bool is_event(cudaEvent_t event) {
  return std::ranges::find(events(), event, &std::unique_ptr<CUevent_st>::get) != events().end();
}
WorkPointer record_event(CUevent_st& event, CUstream_st& stream, const Call& call, const WorkPointer& also_after) {
  // A time of its own for each record: an earlier one may not have been reached yet.
  event.time = std::make_shared<double>(0);
  const auto note = [time = event.time] {
    *time = later_and_later();
    return cudaSuccess;
  };
  event.record = issue(stream, call.name, call.pc, note, also_after);
  event.was_asked = false;
  return event.record;
}

}  // namespace simt

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return enter(SIMT_CALL("cudaStreamCreate()"), [&] { return create_stream(stream, cudaStreamDefault, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return enter(SIMT_CALL("cudaStreamCreateWithFlags()"), [&] { return create_stream(stream, flags, 0); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return enter(SIMT_CALL("cudaStreamCreateWithPriority()"), [&] { return create_stream(stream, flags, priority); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return enter(SIMT_CALL("cudaStreamDestroy()"), [&] {
    const bool is_own = stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
    if (!is_own || !find_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (stream->capture && stream->capture->origin != stream) simt::leave_capture(*stream);
    if (const cudaError_t error = simt::may_wait(stream); error != cudaSuccess) return error;
    simt::remove_stream(stream);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return enter(SIMT_CALL("cudaStreamSynchronize()"), [&] {
    CUstream_st* const at = find_stream(stream);
    return at ? simt::wait_for_stream(*at) : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return enter(SIMT_CALL("cudaStreamQuery()"), [&] {
    CUstream_st* const at = find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = simt::may_wait(at); error != cudaSuccess) return error;
    return query(at->last, at->was_asked);
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  const simt::Call call = SIMT_CALL("cudaStreamWaitEvent()");
  return enter(call, [&] {
    CUstream_st* const at = find_stream(stream);
    if (!at || !is_event(event)) return cudaErrorInvalidResourceHandle;
    if (flags == cudaEventWaitExternal && at->capture)
      return record_external(event, *at, cudaGraphNodeTypeWaitEvent, call);
    if (event->capture) return join_captured(*at, *event);
    if (event->record && at->capture) return cudaErrorStreamCaptureIsolation;
    if (event->record)
      simt::issue(
          *at, call.name, call.pc, [] { return cudaSuccess; }, event->record);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  const simt::Call call = SIMT_CALL("cudaStreamAddCallback()");
  return enter(call, [&] {
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    return run_for_host(stream, call, [=] { callback(stream, cudaSuccess, data); });
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const simt::Call call = SIMT_CALL("cudaLaunchHostFunc()");
  return enter(call, [&] {
    if (!function) return cudaErrorInvalidValue;
    return run_for_host(stream, call, [=] { function(data); });
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return enter(SIMT_CALL("cudaStreamGetPriority()"), [&] {
    const CUstream_st* const at = find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (!priority) return cudaErrorInvalidValue;
    *priority = at->priority;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
  return enter(SIMT_CALL("cudaStreamSetAttribute()"), [&] {
    CUstream_st* const at = find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (!value) return cudaErrorInvalidValue;
    if (attribute == cudaStreamAttributePriority)
      at->priority = std::clamp(value->priority, greatest_priority, least_priority);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return enter(SIMT_CALL("cudaStreamGetFlags()"), [&] {
    const CUstream_st* const at = find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (!flags) return cudaErrorInvalidValue;
    *flags = at->flags;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return enter(SIMT_CALL("cudaStreamGetId()"), [&] {
    const CUstream_st* const at = find_stream(stream);
    if (!at) return cudaErrorInvalidResourceHandle;
    if (!id) return cudaErrorInvalidValue;
    *id = at->number;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return enter(SIMT_CALL("cudaDeviceGetStreamPriorityRange()"), [&] {
    if (least) *least = least_priority;
    if (greatest) *greatest = greatest_priority;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return enter(SIMT_CALL("cudaEventCreate()"), [&] { return create_event(event, cudaEventDefault); });
}
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return enter(SIMT_CALL("cudaEventCreate()"), [&] { return create_event(event, flags); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return enter(SIMT_CALL("cudaEventCreateWithFlags()"), [&] { return create_event(event, flags); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return enter(SIMT_CALL("cudaEventDestroy()"), [&] {
    const bool is_gone = std::erase_if(events(), [&](const auto& each) { return each.get() == event; }) == 0;
    return is_gone ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const simt::Call call = SIMT_CALL("cudaEventRecord()");
  return enter(call, [&] { return record(event, stream, call); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const simt::Call call = SIMT_CALL("cudaEventRecordWithFlags()");
  return enter(call, [&] {
    CUstream_st* const at = find_stream(stream);
    if (at && at->capture && flags == cudaEventRecordExternal && is_event(event))
      return record_external(event, *at, cudaGraphNodeTypeEventRecord, call);
    return record(event, stream, call);
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return enter(SIMT_CALL("cudaEventSynchronize()"), [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    return event->capture ? cudaErrorCapturedEvent : simt::wait_for(event->record);
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return enter(SIMT_CALL("cudaEventQuery()"), [&] {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    return event->capture ? cudaErrorCapturedEvent : query(event->record, event->was_asked);
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return enter(SIMT_CALL("cudaEventElapsedTime()"), [&] {
    if (!milliseconds) return cudaErrorInvalidValue;
    for (const cudaEvent_t event : {start, end}) {
      if (!is_event(event) || event->flags & cudaEventDisableTiming || !event->record)
        return cudaErrorInvalidResourceHandle;
    }
    if (!start->record->is_done || !end->record->is_done) return cudaErrorNotReady;
    *milliseconds = static_cast<float>(*end->time - *start->time);
    return cudaSuccess;
  });
}
