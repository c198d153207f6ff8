// What the tests of the CPU executor's counts share. For files that are compiled as kernels are.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "common/backend/counts.hpp"
#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"

namespace gemm {

/// Device memory all of which has been written.
template <class T>
DeviceArray<T> zeros(std::size_t count) {
  DeviceArray<T> array(count);
  check_cuda(cudaMemset(array.data(), 0, count * sizeof(T)), "fill");
  return array;
}

template <class... Parameters, class... Arguments>
Observation observed(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  return observe([&] { EXPECT_TRUE(launch(kernel, shape, arguments...)); });
}

/// The counts of one launch that makes no mistake.
template <class... Parameters, class... Arguments>
Counts counted(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments... arguments) {
  const Observation observation = observed(kernel, shape, arguments...);
  for (const std::string& defect : observation.defects) ADD_FAILURE() << defect;
  return counts_of(observation).value();
}

}  // namespace gemm
