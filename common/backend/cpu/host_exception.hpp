// What a stage's host code throws.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

#include "common/kernel/status.hpp"
#include "common/simt/run/last_words.hpp"

namespace gemm {

/// Runs a stage's host code. What it throws, but for the harness' own exceptions, is a mistake of the stage: returns
/// one line about it, or nothing.
inline std::string exception_in(const std::function<void()>& run) {
  try {
    run();
    return {};
  } catch (const DeviceError&) {
    throw;
  } catch (const UsageError&) {
    throw;
  } catch (...) {
    return fmt::format("exception {} in host code, at {}", simt::current_exception_text(), simt::line_of_last_throw());
  }
}

}  // namespace gemm
