// cudaMemcpy, cudaMemset and their relatives: all of them move or fill a box of bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "common/simt/observe/global_memory.hpp"
#include "common/simt/runtime/call.hpp"
#include "common/simt/runtime/capture.hpp"
#include "common/simt/runtime/mode.hpp"
#include "common/simt/runtime/pieces.hpp"
#include "common/simt/runtime/queue.hpp"
#include "common/simt/runtime/sections.hpp"
#include "common/simt/runtime/stream_order.hpp"

namespace simt {
namespace {

struct Extent {
  std::size_t width = 0, height = 1, depth = 1;  // in bytes, rows, slices
  bool is_empty() const { return width == 0 || height == 0 || depth == 0; }
};

// One end of a copy: where its rows lie.
struct Side {
  std::byte* begin = nullptr;
  std::size_t pitch = 0, slice = 0;

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(begin); }
  std::byte* row(std::size_t y, std::size_t z) const { return begin + z * slice + y * pitch; }
  // From its first byte to its last.
  std::size_t span(const Extent& e) const { return (e.depth - 1) * slice + (e.height - 1) * pitch + e.width; }
};
Side line(const void* pointer, std::size_t bytes) {
  return {static_cast<std::byte*>(const_cast<void*>(pointer)), bytes, bytes};
}
Side rows(const void* pointer, std::size_t pitch, const Extent& e) {
  return {static_cast<std::byte*>(const_cast<void*>(pointer)), pitch, pitch * e.height};
}
Side box(const cudaPitchedPtr& pitched, const cudaPos& at) {
  const std::size_t slice = pitched.pitch * pitched.ysize;
  return {static_cast<std::byte*>(pitched.ptr) + at.z * slice + at.y * pitched.pitch + at.x, pitched.pitch, slice};
}

PageableBox pageable_box(const Side& side, const Extent& e, bool is_written) {
  return {side.address(), e.width, e.height, e.depth, side.pitch, side.slice, is_written};
}

template <class Do>
void for_each_row(const Extent& e, Do act) {
  for (std::size_t z = 0; z < e.depth; ++z) {
    for (std::size_t y = 0; y < e.height; ++y) act(y, z);
  }
}

std::uintptr_t address_of(const void* row) {
  return reinterpret_cast<std::uintptr_t>(row);
}

void note_use(const void* row, std::size_t bytes, Use use) {
  if (StreamOrder* const order = StreamOrder::active()) order->by_work(address_of(row), bytes, use);
}

void move_box(const Side& to, const Side& from, const Extent& e) {
  const GlobalMemory::Opening opening;
  for_each_row(e, [&](std::size_t y, std::size_t z) {
    note_use(from.row(y, z), e.width, Use::read);
    std::memmove(to.row(y, z), from.row(y, z), e.width);
    GlobalMemory::instance().mark_copied(address_of(to.row(y, z)), address_of(from.row(y, z)), e.width);
    note_use(to.row(y, z), e.width, Use::write);
  });
}
void fill_box(const Side& to, int value, const Extent& e) {
  const GlobalMemory::Opening opening;
  for_each_row(e, [&](std::size_t y, std::size_t z) {
    std::memset(to.row(y, z), value, e.width);
    if (value == 0)
      GlobalMemory::instance().mark_zeroed(address_of(to.row(y, z)), e.width);
    else
      GlobalMemory::instance().mark_written(address_of(to.row(y, z)), e.width);
    note_use(to.row(y, z), e.width, Use::write);
  });
}

bool is_hosts(Home home) {
  return home != Home::device && home != Home::symbol;
}
bool is_devices(Home home) {
  return home != Home::pageable;
}

// Memory that is there from end to end.
bool check_side(const Side& side, const Extent& e, const char* verb, const Call& call) {
  std::string why;
  const Piece* freed = nullptr;
  if (is_whole(side.address(), side.span(e), why, &freed)) return true;
  if (runs_program()) {
    report_of_host(DefectKind::bad_copy, fmt::format("{} {}", verb, why), calling(call),
                   freed ? calling(freed->freed) : Party{});
  }
  return false;
}

// The same when the work is queued: what a graph allocates may be there only when its nodes run.
bool check_queued(const Side& side, const Extent& e, const char* verb, const CUstream_st& stream, const Call& call) {
  const Piece* const piece = stream.capture ? piece_at(side.address()) : nullptr;
  const bool is_graphs = piece && piece->of_graph;
  return (is_graphs && side.span(e) <= piece->begin + piece->bytes - side.address()) || check_side(side, e, verb, call);
}

// That the kind of a copy says of its pointers what they are.
bool check_direction(Home to, Home from, cudaMemcpyKind kind, const Call& call) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault || !runs_program()) return true;
  const bool to_fits = to_device ? is_devices(to) : is_hosts(to);
  const bool from_fits = from_device ? is_devices(from) : is_hosts(from);
  if (to_fits && from_fits) return true;
  constexpr const char* names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                   "cudaMemcpyDeviceToDevice"};
  const auto name = [](bool fits, bool device) { return device == fits ? "the device" : "the host"; };
  report_of_host(DefectKind::copy_direction,
                 fmt::format("{}, but the source is memory of {}, and the destination of {}", names[kind],
                             name(from_fits, from_device), name(to_fits, to_device)),
                 calling(call));
  return false;
}

// What is in pageable memory a copy takes, or has brought, before the call returns. The host waits for a copy that is
// not asynchronous, unless it stays on the device.
cudaError_t copy(const Side& to, Side from, const Extent& e, cudaMemcpyKind kind, CUstream_st* stream, bool is_async,
                 const Call& call) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (e.is_empty()) return cudaSuccess;
  if (!to.begin || !from.begin) return cudaErrorInvalidValue;
  if (e.width > std::min(to.pitch, from.pitch)) return cudaErrorInvalidPitchValue;
  if (const cudaError_t error = may_issue(*stream); error != cudaSuccess) return error;
  const Home to_home = home_of(to.address()), from_home = home_of(from.address());
  if (!check_direction(to_home, from_home, kind, call)) return cudaErrorInvalidValue;
  if (!check_queued(to, e, "writes", *stream, call) || !check_queued(from, e, "reads", *stream, call))
    return cudaErrorInvalidValue;

  const auto is_pageable = [](Home home) { return home == Home::pageable || home == Home::registered; };
  const bool stays = !is_hosts(to_home) && !is_hosts(from_home);
  // What a graph still writes cannot be read now, but when it is this stream's turn.
  const PageableBox source = pageable_box(from, e, false);
  const bool is_awaited = is_pageable(from_home) && may_be_in_pageable_use(source.begin, source.end() - source.begin);
  const bool waits = !stream->capture && ((!is_async && !stays) || is_pageable(to_home) || is_awaited);
  std::shared_ptr<std::vector<std::byte>> staged;
  if (!waits && !stream->capture && is_pageable(from_home)) {
    staged = std::make_shared<std::vector<std::byte>>(e.width * e.height * e.depth);
    const Side there{staged->data(), e.width, e.width * e.height};
    for_each_row(e, [&](std::size_t y, std::size_t z) { std::memcpy(there.row(y, z), from.row(y, z), e.width); });
    from = there;
  }
  if (!waits) expect_given(*stream, call.name, call.pc);
  const WorkPointer work = issue(*stream, call.name, call.pc, [=, keeps = staged] {
    if (!check_side(to, e, "writes", call) || !check_side(from, e, "reads", call)) return cudaErrorIllegalAddress;
    if (!(has_left_main && is_pageable(to_home))) move_box(to, from, e);
    return cudaSuccess;
  });
  const auto uses_pageable = [&](const PageableBox& box) {
    if (stream->capture)
      stream->recorded.front()->pageable.push_back(box);
    else
      meet_pageable_uses(box, work);
  };
  if (is_pageable(from_home) && !staged) uses_pageable(source);
  if (is_pageable(to_home)) uses_pageable(pageable_box(to, e, true));
  return waits ? wait_for(work) : cudaSuccess;
}

cudaError_t fill(const Side& to, int value, const Extent& e, CUstream_st* stream, bool is_async, const Call& call) {
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (e.is_empty()) return cudaSuccess;
  if (!to.begin) return cudaErrorInvalidValue;
  if (e.width > to.pitch) return cudaErrorInvalidPitchValue;
  const Home home = home_of(to.address());
  if (runs_program() && home == Home::pageable) {
    report_of_host(DefectKind::copy_direction, "the destination is memory of the host", calling(call));
    return cudaErrorInvalidValue;
  }
  if (!check_queued(to, e, "writes", *stream, call)) return cudaErrorInvalidValue;
  if (const cudaError_t error = may_issue(*stream); error != cudaSuccess) return error;
  const bool waits = !is_async && is_hosts(home);
  if (!waits) expect_given(*stream, call.name, call.pc);
  const WorkPointer work = issue(*stream, call.name, call.pc, [=] {
    if (!check_side(to, e, "writes", call)) return cudaErrorIllegalAddress;
    fill_box(to, value, e);
    return cudaSuccess;
  });
  return waits ? wait_for(work) : cudaSuccess;
}

cudaError_t check_symbol(Symbol symbol, std::size_t offset, std::size_t bytes) {
  // In the harness nothing marks them.
  if (runs_program() && !is_device_section(reinterpret_cast<std::uintptr_t>(symbol.address)))
    return cudaErrorInvalidSymbol;
  return offset > symbol.bytes || bytes > symbol.bytes - offset ? cudaErrorInvalidValue : cudaSuccess;
}
cudaError_t to_symbol(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                      CUstream_st* stream, bool is_async, const Call& call) {
  if (const cudaError_t error = check_symbol(symbol, offset, bytes); error != cudaSuccess) return error;
  const Side to = line(static_cast<const std::byte*>(symbol.address) + offset, bytes);
  return copy(to, line(from, bytes), {bytes}, kind, stream, is_async, call);
}
cudaError_t from_symbol(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                        CUstream_st* stream, bool is_async, const Call& call) {
  if (const cudaError_t error = check_symbol(symbol, offset, bytes); error != cudaSuccess) return error;
  const Side from = line(static_cast<const std::byte*>(symbol.address) + offset, bytes);
  return copy(line(to, bytes), from, {bytes}, kind, stream, is_async, call);
}

}  // namespace

cudaError_t copy_to_symbol(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset,
                           cudaMemcpyKind kind) {
  const Call call = SIMT_CALL("cudaMemcpyToSymbol()");
  return enter(call, [&] { return to_symbol(symbol, from, bytes, offset, kind, find_stream(nullptr), false, call); });
}
cudaError_t copy_from_symbol(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  const Call call = SIMT_CALL("cudaMemcpyFromSymbol()");
  return enter(call, [&] { return from_symbol(to, symbol, bytes, offset, kind, find_stream(nullptr), false, call); });
}
cudaError_t copy_to_symbol_async(Symbol symbol, const void* from, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemcpyToSymbolAsync()");
  return enter(call, [&] { return to_symbol(symbol, from, bytes, offset, kind, find_stream(stream), true, call); });
}
cudaError_t copy_from_symbol_async(void* to, Symbol symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemcpyFromSymbolAsync()");
  return enter(call, [&] { return from_symbol(to, symbol, bytes, offset, kind, find_stream(stream), true, call); });
}
cudaError_t address_of_symbol(void** address, Symbol symbol) {
  return enter(SIMT_CALL("cudaGetSymbolAddress()"), [&] {
    if (!address) return cudaErrorInvalidValue;
    const cudaError_t error = check_symbol(symbol, 0, 0);
    if (error == cudaSuccess) *address = const_cast<void*>(symbol.address);
    return error;
  });
}
cudaError_t size_of_symbol(std::size_t* bytes, Symbol symbol) {
  return enter(SIMT_CALL("cudaGetSymbolSize()"), [&] {
    if (!bytes) return cudaErrorInvalidValue;
    const cudaError_t error = check_symbol(symbol, 0, 0);
    if (error == cudaSuccess) *bytes = symbol.bytes;
    return error;
  });
}

}  // namespace simt

using simt::Call;
using simt::enter;
using simt::Extent;
using simt::find_stream;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Call call = SIMT_CALL("cudaMemcpy()");
  return enter(call, [&] {
    return simt::copy(simt::line(to, bytes), simt::line(from, bytes), {bytes}, kind, find_stream(nullptr), false, call);
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemcpyAsync()");
  return enter(call, [&] {
    return simt::copy(simt::line(to, bytes), simt::line(from, bytes), {bytes}, kind, find_stream(stream), true, call);
  });
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  const Call call = SIMT_CALL("cudaMemcpyPeer()");
  return enter(call, [&] {
    if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
    return simt::copy(simt::line(to, bytes), simt::line(from, bytes), {bytes}, cudaMemcpyDeviceToDevice,
                      find_stream(nullptr), false, call);
  });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemcpyPeerAsync()");
  return enter(call, [&] {
    if (to_device != 0 || from_device != 0) return cudaErrorInvalidDevice;
    return simt::copy(simt::line(to, bytes), simt::line(from, bytes), {bytes}, cudaMemcpyDeviceToDevice,
                      find_stream(stream), true, call);
  });
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  const Call call = SIMT_CALL("cudaMemcpy2D()");
  const Extent e{width, height};
  return enter(call, [&] {
    return simt::copy(simt::rows(to, to_pitch, e), simt::rows(from, from_pitch, e), e, kind, find_stream(nullptr),
                      false, call);
  });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemcpy2DAsync()");
  const Extent e{width, height};
  return enter(call, [&] {
    return simt::copy(simt::rows(to, to_pitch, e), simt::rows(from, from_pitch, e), e, kind, find_stream(stream), true,
                      call);
  });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what) {
  const Call call = SIMT_CALL("cudaMemcpy3D()");
  return enter(call, [&] {
    if (!what) return cudaErrorInvalidValue;
    const Extent e{what->extent.width, what->extent.height, what->extent.depth};
    return simt::copy(simt::box(what->dstPtr, what->dstPos), simt::box(what->srcPtr, what->srcPos), e, what->kind,
                      find_stream(nullptr), false, call);
  });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* what, cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemcpy3DAsync()");
  return enter(call, [&] {
    if (!what) return cudaErrorInvalidValue;
    const Extent e{what->extent.width, what->extent.height, what->extent.depth};
    return simt::copy(simt::box(what->dstPtr, what->dstPos), simt::box(what->srcPtr, what->srcPos), e, what->kind,
                      find_stream(stream), true, call);
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  const Call call = SIMT_CALL("cudaMemset()");
  return enter(call,
               [&] { return simt::fill(simt::line(to, bytes), value, {bytes}, find_stream(nullptr), false, call); });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemsetAsync()");
  return enter(call,
               [&] { return simt::fill(simt::line(to, bytes), value, {bytes}, find_stream(stream), true, call); });
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  const Call call = SIMT_CALL("cudaMemset2D()");
  const Extent e{width, height};
  return enter(call, [&] { return simt::fill(simt::rows(to, pitch, e), value, e, find_stream(nullptr), false, call); });
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  const Call call = SIMT_CALL("cudaMemset2DAsync()");
  const Extent e{width, height};
  return enter(call, [&] { return simt::fill(simt::rows(to, pitch, e), value, e, find_stream(stream), true, call); });
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  const Call call = SIMT_CALL("cudaMemset3D()");
  const Extent e{extent.width, extent.height, extent.depth};
  return enter(call, [&] { return simt::fill(simt::box(to, {}), value, e, find_stream(nullptr), false, call); });
}
