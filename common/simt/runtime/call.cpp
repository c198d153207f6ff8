#include "common/simt/runtime/call.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>
#include <vector>

#include "common/simt/observe/sink.hpp"
#include "common/simt/run/block.hpp"
#include "common/simt/runtime/mode.hpp"

namespace simt {
namespace {

__thread bool inside = false;
std::uint64_t calls = 0;

cudaError_t last_error = cudaSuccess;
cudaError_t broken = cudaSuccess;
bool is_reported = false;  // the error of the call under way

struct Failure {
  Call call;
  cudaError_t error;
  std::string why;
};
std::vector<Failure>& failures() {
  static auto& all = *new std::vector<Failure>;
  return all;
}
constexpr std::size_t most_failures = 64;

}  // namespace

std::recursive_mutex& runtime_mutex() {
  static std::recursive_mutex& one = *new std::recursive_mutex;  // for calls by destructors of static objects
  return one;
}
Inside::Inside(std::unique_lock<std::recursive_mutex> lock)
    : lock_(std::move(lock)), was_inside_(std::exchange(inside, true)) {}
Inside::~Inside() {
  inside = was_inside_;
}
Entered::Entered(const Call& call)
    : inside_([&] {
        if (running_block) running_block->refuse_call(call.name, call.pc);
        return std::unique_lock(runtime_mutex());
      }()) {
  ++calls;
  if (!inside_.was_inside()) is_reported = false;
}
std::uint64_t calls_made() {
  return calls;
}
LeftForHost::LeftForHost() {
  inside = false;
}
LeftForHost::~LeftForHost() {
  inside = true;
}
bool is_inside_runtime() {
  return inside;
}

cudaError_t broken_by() {
  return broken;
}
void break_context(cudaError_t error) {
  if (broken == cudaSuccess) broken = error;
  last_error = broken;
}
void mend_context() {
  broken = last_error = cudaSuccess;
}

cudaError_t set_last_error(cudaError_t error) {
  return last_error = error;
}

cudaError_t answer(const Call& call, cudaError_t error, const std::string& why) {
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  last_error = error;
  // What broke the context was reported, unless the program stopped its kernel: by assert() or __trap().
  const bool is_own = broken == cudaErrorAssert || broken == cudaErrorLaunchFailure;
  const std::size_t most = broken == cudaSuccess ? most_failures : is_own ? 1 : 0;
  if (runs_program() && !is_reported && failures().size() < most) failures().push_back({call, error, why});
  return error;
}

void report_ignored_errors() {
  for (const Failure& failure : std::exchange(failures(), {})) {
    std::string where = fmt::format("{} ({})", cudaGetErrorName(failure.error), cudaGetErrorString(failure.error));
    if (!failure.why.empty()) where += ": " + failure.why;
    report_of_host(DefectKind::ignored_error, std::move(where), calling(failure.call));
  }
}

void report_of_host(DefectKind kind, std::string where, Party one, Party other) {
  is_reported = true;
  if (Sink* const sink = active_sink()) sink->report({kind, "", std::move(where), std::move(one), std::move(other)});
}
Party host_at(const void* pc, std::string action) {
  return {true, {}, {}, reinterpret_cast<std::uintptr_t>(pc), std::move(action), "the host"};
}
Party calling(const Call& call) {
  return host_at(call.pc, fmt::format("calls {}", call.name));
}

}  // namespace simt

namespace {

// A program that asks for its errors, in whatever way, has looked.
cudaError_t looked_at(cudaError_t error) {
  if (!simt::failures().empty()) simt::failures().clear();
  return error;
}
// It has got the error as the answer to a call.
void looked_at_text(cudaError_t error) {
  if (!simt::failures().empty()) std::erase_if(simt::failures(), [&](const auto& each) { return each.error == error; });
}

}  // namespace

cudaError_t cudaGetLastError() {
  const simt::Entered entered(SIMT_CALL("cudaGetLastError()"));
  return looked_at(std::exchange(simt::last_error, simt::broken));
}
cudaError_t cudaPeekAtLastError() {
  const simt::Entered entered(SIMT_CALL("cudaPeekAtLastError()"));
  return looked_at(simt::last_error);
}

#define SIMT_NAME_CASE(name, number, text) \
  case name:                               \
    return #name;
#define SIMT_TEXT_CASE(name, number, text) \
  case name:                               \
    return text;

const char* cudaGetErrorName(cudaError_t error) {
  if (!simt::is_inside_runtime()) looked_at_text(error);
  switch (error) { SIMT_CUDA_ERRORS(SIMT_NAME_CASE) }
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  if (!simt::is_inside_runtime()) looked_at_text(error);
  switch (error) { SIMT_CUDA_ERRORS(SIMT_TEXT_CASE) }
  return "unrecognized error code";
}
