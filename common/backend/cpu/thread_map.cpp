#include "common/backend/thread_map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/check/contender.hpp"
#include "common/check/workbench.hpp"
#include "common/kernel/launch_log.hpp"
#include "common/simt/observe/inspection.hpp"

namespace gemm {
namespace {

constexpr int side = 256;  // at least the tile of any stage that multiplies large matrices

// Large enough for a whole tile, and no larger.
ProblemSpec spec_for(const Stage& stage) {
  ProblemSpec spec;
  spec.op = stage.op;
  spec.m = spec.n = side;
  spec.k = 1;
  if (stage.op == Operation::gemm) {
    spec.type = stage.type.value_or(Type::f32);
  } else {
    spec.type = Type::f64;
    spec.m = spec.n = 8;
    spec.k = side;
  }
  return spec;
}

// Notes which thread of block 0 writes which element.
class Watch {
 public:
  explicit Watch(const Problem& problem)
      : problem_(problem),
        height_(std::min<std::int64_t>(problem.rows(), side)),
        width_(std::min<std::int64_t>(problem.n, side)),
        owner_(height_ * width_, -1) {}

  void written(const simt::ThreadContext& t, const void* address, std::size_t bytes) {
    if (t.block.x + t.block.y + t.block.z > 0) return;
    const int thread = static_cast<int>((t.thread.z * t.block_dim.y + t.thread.y) * t.block_dim.x + t.thread.x);
    const auto size = static_cast<std::ptrdiff_t>(size_of(result_of(problem_.type)));
    const std::ptrdiff_t offset = static_cast<const char*>(address) - static_cast<const char*>(problem_.out);
    if (offset < 0) return;
    const std::ptrdiff_t end = (offset + static_cast<std::ptrdiff_t>(bytes) + size - 1) / size;
    for (std::ptrdiff_t i = offset / size; i < end; ++i) {
      const std::ptrdiff_t row = i / problem_.ldout, col = i % problem_.ldout;
      if (row >= height_ || col >= width_) continue;  // a stage's scratch memory, perhaps
      int& owner = owner_[row * width_ + col];
      in_turns_ = in_turns_ || (owner >= 0 && owner != thread);
      owner = thread;
      block_ = t.block_dim;
    }
  }

  ThreadMap map(int launches) const {
    ThreadMap map{block_, {}, launches, in_turns_};
    for (std::int64_t row = 0; row < height_; ++row) {
      const auto begin = owner_.begin() + row * width_;
      const auto end = std::find(begin, begin + width_, -1);
      if (begin != end) map.rows.emplace_back(begin, end);
    }
    return map;
  }

 private:
  Problem problem_;
  std::int64_t height_, width_;
  std::vector<int> owner_;
  dim3 block_;
  bool in_turns_ = false;
};

}  // namespace

std::optional<ThreadMap> thread_map(const Stage& stage) {
  Workbench bench(spec_for(stage));
  bench.reset_output();
  Watch watch(bench.problem());
  simt::InspectionResult ignored;
  simt::Inspection inspection(ignored);
  inspection.on_global_write = [&](const simt::ThreadContext& thread, const void* address, std::size_t bytes,
                                   std::uintptr_t) { watch.written(thread, address, bytes); };
  std::vector<LaunchRecord> launches;
  const LaunchLogScope log(launches);
  if (!contender(stage).launch(bench.problem(), nullptr)) return std::nullopt;
  return watch.map(static_cast<int>(launches.size()));
}

}  // namespace gemm
