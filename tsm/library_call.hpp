// What the products of the library share (tsm/tall_skinny.hpp): refusals, and calls that throw nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "common/backend/device.hpp"
#include "common/kernel/status.hpp"
#include "tsm/tall_skinny.hpp"

namespace tall_skinny {

inline Status invalid(std::string reason) {
  return {Code::invalid, std::move(reason)};
}
inline Status from(const gemm::Status& status) {
  switch (status.code) {
    case gemm::Status::Code::ok:
      return {};
    case gemm::Status::Code::unsupported:
      return {Code::unsupported, status.reason};
    default:
      return {Code::failed, status.reason};
  }
}

// Stages keep what they have found out in maps: one call at a time. A launch takes microseconds, a compilation a second.
inline std::mutex one_at_a_time;

// Without the reason, if there is no memory left to hold it.
inline Status with_reason(Code code, const std::exception& error) noexcept {
  try {
    return {code, error.what()};
  } catch (...) {
    return {code, {}};
  }
}

// Whatever is thrown becomes a status.
template <class Body>
Status guarded(const Body& body) noexcept {
  try {
    const std::lock_guard lock(one_at_a_time);
    return body();
  } catch (const gemm::DeviceError& error) {
    return with_reason(Code::unsupported, error);
  } catch (const std::exception& error) {
    return with_reason(Code::failed, error);
  } catch (...) {
  }
  return {Code::failed, {}};
}

struct Operand {
  const char* name;
  const void* data;
  std::int64_t rows, cols, ld;
  bool used;  // read or written
};

inline Status refuse_operand(const Operand& x, std::size_t element) {
  const std::string name = x.name;
  if (x.ld < x.cols)
    return invalid("rows of " + name + " are " + std::to_string(x.ld) + " elements apart and have " +
                   std::to_string(x.cols));
  if (x.rows > 0 && x.ld > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(element) / x.rows)
    return invalid(name + " has more bytes than 64 bits can count");
  if (!x.used || x.rows == 0 || x.cols == 0) return {};
  if (!x.data) return invalid(name + " is null");
  if (reinterpret_cast<std::uintptr_t>(x.data) % element != 0)
    return invalid(name + " is not aligned to " + std::to_string(element) + " bytes");
  return {};
}

inline Status refuse_workspace(const void* workspace, std::size_t bytes, std::size_t needed) {
  if (needed == 0) return {};
  if (bytes < needed)
    return invalid("the workspace has " + std::to_string(bytes) + " bytes, and must have " + std::to_string(needed));
  if (!workspace) return invalid("the workspace is null");
  if (reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0) return invalid("the workspace is not aligned to 16 bytes");
  return {};
}

}  // namespace tall_skinny
