// A lock for what mostly one thread uses, and for long: who has taken it keeps it, so that taking it again costs no atomic
// operation, until another thread asks for it. Internal to common/simt/.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace simt {

/// One that two threads have wanted at the same time is given back after each use, for a while.
class alignas(64) KeptLock {
 public:
  /// The lock is the calling thread's while this lives. Not two at a time.
  class Use {
   public:
    explicit Use(KeptLock& lock) : lock_(lock) {
      if (lock.holder_.load(std::memory_order_relaxed) != keeper_ || is_asked()) [[unlikely]]
        lock.take();
    }
    ~Use() {
      if (lock_.wanted_.load(std::memory_order_relaxed) > 0) [[unlikely]]
        lock_.give_back();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    KeptLock& lock_;
  };

  /// Whether it is the calling thread's already, which stays so until that thread calls anything else here.
  bool is_kept() const { return holder_.load(std::memory_order_relaxed) == keeper_ && !is_asked(); }
  /// Whether the calling thread waits for another one's.
  static bool waits() { return waits_; }
  /// The calling thread keeps none any longer: before it waits for others.
  static void give_all_back();
  /// The same if another thread has asked: to be called every now and then.
  static void give_if_asked() {
    if (is_asked()) [[unlikely]]
      give_to_others();
  }

 private:
  /// What a thread keeps. It outlives the thread, because others may still look at it.
  struct Keeper {
    std::atomic<bool> asked;
    std::uint32_t count;
    std::array<KeptLock*, 64> locks;  ///< some may be another's by now
    Keeper* before;                   ///< who came before: so that none looks lost when its thread has ended
  };
  static constexpr std::uint32_t uses_given_back = 256;

  static bool is_asked() { return keeper_->asked.load(std::memory_order_relaxed); }
  static void give_to_others();
  void take();
  void give_back();

  static __thread bool waits_ __attribute__((tls_model("initial-exec")));
  static Keeper nobody_;  // of threads that have taken none yet
  static std::atomic<Keeper*> last_;
  static __thread Keeper* keeper_ __attribute__((tls_model("initial-exec")));

  std::atomic<Keeper*> holder_{nullptr};
  std::atomic<std::uint32_t> wanted_{0};  // so many uses from now on are given back at once
};

}  // namespace simt
