// What the tests of block vectors share: a device that has the kernels, and runs that the executor observes.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "common/backend/counts.hpp"
#include "common/backend/device_memory.hpp"
#include "tests/device_test.hpp"
#include "tsm/tall_skinny.hpp"

namespace gemm {

using tall_skinny::Code;
using tall_skinny::Complex;

class BlockVectorTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && open_device().gpu && compute_capability() < 80) GTEST_SKIP() << "needs sm_80";
  }
};

template <class T>
inline constexpr tall_skinny::Type type_of = sizeof(T) == sizeof(double) ? tall_skinny::Type::d : tall_skinny::Type::z;

template <class T>
T conjugate_of(T x) {
  if constexpr (sizeof(T) == sizeof(double))
    return x;
  else
    return std::conj(x);
}

template <class T>
DeviceArray<T> on_device(const std::vector<T>& host) {
  DeviceArray<T> array(host.size());
  check_cuda(cudaMemcpy(array.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return array;
}

/// Runs it where the executor finds races, and waits.
template <class Body>
void expect_clean(const Body& body) {
  const Observation seen = observe([&] {
    const tall_skinny::Status status = body();
    EXPECT_TRUE(status) << status.reason;
    check_cuda(cudaDeviceSynchronize(), "run");
  });
  for (const std::string& defect : seen.defects) ADD_FAILURE() << defect;
}

}  // namespace gemm
