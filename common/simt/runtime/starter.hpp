// Streams are late, and begin when the host waits by a call. If it waits otherwise, by a flag that a kernel or a callback
// sets, work begins by itself: on a thread of the executor's own, as soon as the host has made no call for a while.
// Internal to common/simt/.
#pragma once

#include <cstdint>
#include <mutex>

#include "common/simt/observe/use.hpp"

namespace simt {

/// From the first time on.
void start_when_host_idles();
/// To enter the runtime by, for an access of the host's, which is no call. No lock while work runs by itself, or for
/// long: it may wait for this very access.
std::unique_lock<std::recursive_mutex> lock_for_access(std::uintptr_t address, Use use);

}  // namespace simt
