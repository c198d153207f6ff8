// What the tests of the CPU executor's checks have in common: run a kernel under inspection, and compare what is
// reported with marks in the kernel's own source, so that no line number is typed.
#pragma once

#include <string>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/simt/observe/inspection.hpp"

namespace gemm {

using simt::DefectKind;

/// Further demands on a defect's parties.
struct Demands {
  std::vector<DefectKind> also = {};  ///< may be reported besides: what follows from the defect
  bool same_warp = false;             ///< both parties belong to one warp
  bool two_blocks = false;            ///< they belong to different blocks (else: to one)
};

class Findings {
 public:
  Findings(const char* file, std::string kernel, Status status, simt::InspectionResult result)
      : file_(file), kernel_(std::move(kernel)), status_(std::move(status)), result_(std::move(result)) {}

  /// There is a defect of this kind, and each one of it is between the lines of the kernel that carry these marks, in
  /// either order: comments like "// READ". A mark's beginning tells what its party does (READ, WRITE, ATOMIC, COPY,
  /// WAIT). Nothing else is reported but what `demands.also` allows.
  void expect(DefectKind kind, const std::vector<std::string>& marks, const Demands& demands = {}) const;
  /// Nothing is reported but these warnings, each at least once.
  void expect_silence(const std::vector<DefectKind>& warnings = {}) const;
  /// The launch was refused, for a reason that contains `words`.
  void expect_refusal(const std::string& words) const;

  const simt::InspectionResult& result() const { return result_; }
  std::string text() const;

 private:
  int line_of(const std::string& mark) const;
  void check_place(const simt::Party& party, const simt::KernelObservation& launch) const;

  std::string file_, kernel_;
  Status status_;
  simt::InspectionResult result_;
};

template <class... Parameters>
Findings findings_of(const char* file, const char* name, void (*kernel)(Parameters...), const LaunchShape& shape,
                     std::type_identity_t<Parameters>... arguments) {
  simt::InspectionResult result;
  Status status;
  {
    const simt::Inspection inspection(result);
    status = launch(kernel, shape, arguments...);
  }
  return {file, name, std::move(status), std::move(result)};
}
/// FINDINGS(kernel, shape, arguments...)
#define FINDINGS(kernel, ...) findings_of(__FILE__, #kernel, kernel, __VA_ARGS__)

/// Device memory that holds 0, 1, 2, ...
template <class T>
DeviceArray<T> counting(std::size_t count) {
  std::vector<T> host(count);
  for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<T>(static_cast<int>(i));
  DeviceArray<T> array(count);
  check_cuda(cudaMemcpy(array.data(), host.data(), count * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
  return array;
}
/// The same, of zeros, for any T.
template <class T>
DeviceArray<T> zeros(std::size_t count) {
  DeviceArray<T> array(count);
  check_cuda(cudaMemset(array.data(), 0, count * sizeof(T)), "fill device memory");
  return array;
}

}  // namespace gemm
