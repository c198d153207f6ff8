// A GPU build does not look on: Nsight Compute counts, and compute-sanitizer finds mistakes (docs/measurements/).
#include "common/backend/counts.hpp"

#include "common/backend/last_writer.hpp"
#include "common/backend/named_matrix.hpp"

namespace gemm {

Observation observe(const std::function<void()>& run, Looking) {
  run();
  return {};
}

std::optional<std::int64_t> first_not_by_kernel(const void*, std::int64_t, std::size_t, std::size_t) {
  return std::nullopt;
}

StageStream::StageStream() = default;
StageStream::~StageStream() = default;

void read_in_order(const void*, std::int64_t, std::size_t, std::size_t) {}

std::optional<Counts> counts_of(const Observation&) {
  return std::nullopt;
}

std::vector<LineCounts> line_counts_of(const Observation&) {
  return {};
}

std::optional<std::string> last_writer(const std::function<void()>&, const void*) {
  return std::nullopt;
}

void name_matrix(const NamedMatrix&) {}

void forbid_reading(const NamedMatrix&, const std::string&) {}

bool allocate_sparse(NamedMatrix&) {
  return false;
}

}  // namespace gemm
