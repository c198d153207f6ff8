#include "common/thread_map.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/contender.hpp"
#include "common/report.hpp"
#include "common/simt/inspection.hpp"
#include "common/workbench.hpp"

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

  // Rows of a tile repeat: each kind once, and for every row which it is.
  Json to_json() const {
    std::vector<std::vector<int>> kinds;
    std::vector<std::size_t> rows;
    for (int row = 0; row < side; ++row) {
      const auto begin = owner_.begin() + row * side;
      const auto end = std::find(begin, begin + side, -1);
      if (begin == end) continue;
      const auto kind = std::ranges::find(kinds, std::vector<int>(begin, end));
      rows.push_back(static_cast<std::size_t>(kind - kinds.begin()));
      if (kind == kinds.end()) kinds.emplace_back(begin, end);
    }
    return {{"block", {block_.x, block_.y, block_.z}}, {"kinds", kinds}, {"rows", rows}};
  }

 private:
  SgemmProblem problem_;
  std::vector<int> owner_;
  dim3 block_;
};

}  // namespace

int write_thread_maps(const std::string& path) {
  ProblemSpec spec;
  spec.m = spec.n = side;
  spec.k = 1;
  Json maps;
  for (const Stage& stage : stages()) {
    if (stage.type != Type::f32) continue;
    Workbench bench(spec);
    bench.reset_output();
    Watch watch(bench.problem());
    simt::InspectionResult ignored;
    simt::Inspection inspection(ignored);
    inspection.on_global_write = [&](const simt::ThreadContext& thread, const void* address, std::size_t bytes) {
      watch.written(thread, address, bytes);
    };
    const Status status = contender(stage).launch(bench.problem(), nullptr);
    if (status) maps[stage.id] = watch.to_json();
  }
  write_text(path, maps.dump() + "\n");
  return 0;
}

}  // namespace gemm
