// Tests that run on this build's device: the CPU executor always, a GPU only if there is one.
#pragma once

#include <gtest/gtest.h>

#include <iostream>

#include "common/backend/device.hpp"
#include "common/check/properties.hpp"
#include "common/measure/evaluate.hpp"

namespace gemm {

/// Skips, loudly, where the build's device is missing.
class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      open_device();
    } catch (const DeviceError& error) {
      std::cerr << "*** SKIPPED, NOT RUN: " << error.what() << " ***\n";
      GTEST_SKIP() << error.what();
    }
  }
};

/// Of the device, times 10: 90 for sm_90. The executor has all that is tested, and answers 1000.
inline int compute_capability() {
  const DeviceInfo& device = open_device();
  return device.gpu ? device.compute_capability : 1000;
}

inline ProblemSpec cube(int size) {
  ProblemSpec spec;
  spec.m = spec.n = spec.k = size;
  return spec;
}

inline EvaluateOptions check_only() {
  EvaluateOptions options;
  options.time = false;
  return options;
}

}  // namespace gemm
