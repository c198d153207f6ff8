// Locks that their holders keep (common/simt/observe/kept_lock.hpp), taken by threads at the same time.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "common/simt/observe/kept_lock.hpp"

namespace simt {
namespace {

TEST(KeptLock, NobodyElseIsInBetween) {
  constexpr unsigned locks = 100, threads = 4, rounds = 50000;  // more locks than a thread keeps
  std::vector<KeptLock> lock(locks);
  std::array<unsigned, locks> count{};  // not atomic: the locks' business
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (unsigned i = 0; i < rounds; ++i) {
        const unsigned at = i % 4 == 0 ? 0 : (i * (t + 1)) % locks;  // one of them is much wanted
        const KeptLock::Use use(lock[at]);
        ++count[at];
      }
      KeptLock::give_all_back();
    });
  }
  for (std::thread& each : all) each.join();
  unsigned sum = 0;
  for (const unsigned each : count) sum += each;
  EXPECT_EQ(sum, threads * rounds);
}

TEST(KeptLock, AHolderThatIsAskedGivesItBack) {
  KeptLock lock;
  { const KeptLock::Use use(lock); }
  std::atomic<bool> has_it{false};
  std::thread other([&] {
    const KeptLock::Use use(lock);
    has_it = true;
    KeptLock::give_all_back();
  });
  while (!has_it) KeptLock::give_if_asked();
  other.join();
}

// As where a machine has more workers than cores. The holder goes on until the other one has had the lock, as a thread of a
// kernel does that waits for a word which the other one is to write.
TEST(KeptLock, AThreadOnTheSameCoreGetsIt) {
  constexpr int turns = 100;
  std::atomic<bool> ended{false};
  KeptLock lock;
  const auto begin = std::chrono::steady_clock::now();
  const auto in_time = [begin] { return std::chrono::steady_clock::now() - begin < std::chrono::seconds(10); };
  const auto stay_on = [](int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  };
  const int core = sched_getcpu();
  std::thread holder([&] {
    stay_on(core);
    while (!ended && in_time()) {
      const KeptLock::Use use(lock);
    }
    KeptLock::give_all_back();
  });
  std::thread other([&] {
    stay_on(core);
    for (int turn = 0; turn < turns; ++turn) {
      { const KeptLock::Use use(lock); }
      KeptLock::give_all_back();
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // the holder has it again
    }
    ended = true;
  });
  other.join();
  holder.join();
  EXPECT_TRUE(in_time());
}

}  // namespace
}  // namespace simt
