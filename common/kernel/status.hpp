// What a launch or a check can answer: ok, unsupported (with the reason, reported as SKIP) or failed.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace gemm {

struct Status {
  enum class Code { ok, unsupported, failed };

  Code code = Code::ok;
  std::string reason;

  static Status ok() { return {}; }
  /// This stage can't run this problem or this device; the reason is shown to the user.
  static Status unsupported(std::string reason) { return {Code::unsupported, std::move(reason)}; }
  static Status failed(std::string reason) { return {Code::failed, std::move(reason)}; }

  explicit operator bool() const { return code == Code::ok; }
};

/// Bad input by the user: one clear line on standard error, exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The device cannot do what was asked (none there, out of memory, wrong architecture): also exit status 2.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A stage is at fault, in a way that leaves no result to report: one clear line on standard error, exit status 1.
struct StageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gemm
