// Whether the program's own threads can let a kernel go on, which waits for what they write. Internal to common/simt/.
#pragma once

namespace simt {

/// While it lives, the calling thread is the executor's, or waits for the executor.
class NoHostThread {
 public:
  NoHostThread();
  ~NoHostThread();
  NoHostThread(const NoHostThread&) = delete;
  NoHostThread& operator=(const NoHostThread&) = delete;
};

/// Whether any other thread runs, or will by itself: only who waits for another thread, without a limit of time, won't.
bool host_may_act();

}  // namespace simt
