#include "common/backend/thread_map.hpp"

#include <algorithm>
#include <cstddef>

#include "common/check/contender.hpp"
#include "common/check/workbench.hpp"
#include "common/simt/observe/inspection.hpp"

namespace gemm {
namespace {

constexpr int side = 256;  // at least the tile of any stage

// Notes which thread of block 0 writes which element.
class Watch {
 public:
  explicit Watch(const SgemmProblem& problem) : problem_(problem), owner_(side * side, -1) {}

  void written(const simt::ThreadContext& t, const void* address, std::size_t bytes) {
    if (t.block.x + t.block.y + t.block.z > 0) return;
    const int thread = static_cast<int>((t.thread.z * t.block_dim.y + t.thread.y) * t.block_dim.x + t.thread.x);
    const std::ptrdiff_t first = static_cast<const float*>(address) - problem_.c;
    for (std::ptrdiff_t i = first; i < first + static_cast<std::ptrdiff_t>(bytes / sizeof(float)); ++i) {
      const std::ptrdiff_t row = i / problem_.ldc, col = i % problem_.ldc;
      if (i < 0 || row >= side || col >= side) continue;  // a stage's scratch memory, perhaps
      owner_[row * side + col] = thread;
      block_ = t.block_dim;
    }
  }

  ThreadMap map() const {
    ThreadMap map{block_, {}};
    for (int row = 0; row < side; ++row) {
      const auto begin = owner_.begin() + row * side;
      const auto end = std::find(begin, begin + side, -1);
      if (begin != end) map.rows.emplace_back(begin, end);
    }
    return map;
  }

 private:
  SgemmProblem problem_;
  std::vector<int> owner_;
  dim3 block_;
};

}  // namespace

std::optional<ThreadMap> thread_map(const Stage& stage) {
  if (stage.type != Type::f32) return std::nullopt;
  ProblemSpec spec;
  spec.m = spec.n = side;
  spec.k = 1;
  Workbench bench(spec);
  bench.reset_output();
  Watch watch(bench.problem());
  simt::InspectionResult ignored;
  simt::Inspection inspection(ignored);
  inspection.on_global_write = [&](const simt::ThreadContext& thread, const void* address, std::size_t bytes,
                                   std::uintptr_t) { watch.written(thread, address, bytes); };
  if (!contender(stage).launch(bench.problem(), nullptr)) return std::nullopt;
  return watch.map();
}

}  // namespace gemm
