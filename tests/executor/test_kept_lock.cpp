// Locks that their holders keep (common/simt/observe/kept_lock.hpp), taken by threads at the same time.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
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

}  // namespace
}  // namespace simt
