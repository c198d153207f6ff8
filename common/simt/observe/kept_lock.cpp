#include "common/simt/observe/kept_lock.hpp"

#include <thread>

namespace simt {

KeptLock::Keeper KeptLock::nobody_{};
std::atomic<KeptLock::Keeper*> KeptLock::last_{nullptr};
__thread bool KeptLock::waits_ = false;
__thread KeptLock::Keeper* KeptLock::keeper_ = &nobody_;

constexpr unsigned tries_of_a_turn = 256;

void KeptLock::take() {
  if (keeper_ == &nobody_) {
    keeper_ = new Keeper{};
    keeper_->before = last_.load(std::memory_order_relaxed);
    while (!last_.compare_exchange_weak(keeper_->before, keeper_)) {
    }
  }
  give_if_asked();
  if (holder_.load(std::memory_order_relaxed) == keeper_) return;
  if (keeper_->count == keeper_->locks.size()) give_all_back();
  Keeper* other = nullptr;
  const auto is_mine = [&] {
    other = nullptr;
    // Released as well: another thread writes to the keeper that it finds here.
    return holder_.compare_exchange_strong(other, keeper_, std::memory_order_acq_rel);
  };
  if (!is_mine()) {
    give_all_back();  // or two threads might wait for each other
    wanted_.store(uses_given_back, std::memory_order_relaxed);
    waits_ = true;
    for (unsigned tries = 1; !is_mine(); ++tries) {
      other->asked.store(true, std::memory_order_relaxed);
      if (tries % tries_of_a_turn == 0) std::this_thread::yield();
    }
    waits_ = false;
  }
  if (wanted_.load(std::memory_order_relaxed) == 0) keeper_->locks[keeper_->count++] = this;
}

void KeptLock::give_back() {
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  holder_.store(nullptr, std::memory_order_release);
}

void KeptLock::give_all_back() {
  keeper_->asked.store(false, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < keeper_->count; ++i) {
    KeptLock& lock = *keeper_->locks[i];
    if (lock.holder_.load(std::memory_order_relaxed) == keeper_) lock.holder_.store(nullptr, std::memory_order_release);
  }
  keeper_->count = 0;
}

// Who asked may wait on the same core: without a turn there it would find the lock kept again, each time.
void KeptLock::give_to_others() {
  give_all_back();
  std::this_thread::yield();
}

}  // namespace simt
