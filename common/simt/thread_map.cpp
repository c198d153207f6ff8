#include "common/thread_map.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/contender.hpp"
#include "common/report.hpp"
#include "common/simt/executor.hpp"
#include "common/workbench.hpp"

namespace gemm {
namespace {

constexpr int side = 128;  // at least the tile of any stage

// An element changes hands from poison to a number while the thread that owns it runs to its end.
class Watch : public simt::Observer {
 public:
  explicit Watch(const SgemmProblem& problem) : problem_(problem), owner_(side * side, -1) {}

  void thread_ended(const simt::ThreadContext& t) override {
    if (t.block.x + t.block.y + t.block.z > 0) return;
    block_ = t.block_dim;
    const int thread = static_cast<int>((t.thread.z * t.block_dim.y + t.thread.y) * t.block_dim.x + t.thread.x);
    for (int i = 0; i < side * side; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, problem_.c + i / side * problem_.ldc + i % side, sizeof bits);
      if (bits != poison_word && owner_[i] < 0) owner_[i] = thread;
    }
  }

  Json to_json() const {
    Json rows = Json::array();
    for (int row = 0; row < side; ++row) {
      const auto begin = owner_.begin() + row * side;
      const auto end = std::find(begin, begin + side, -1);
      if (begin != end) rows.push_back(std::vector<int>(begin, end));
    }
    return {{"block", {block_.x, block_.y, block_.z}}, {"rows", rows}};
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
    Workbench bench(spec);
    bench.reset_output();
    Watch watch(bench.problem());
    simt::observe(&watch);
    const Status status = stage.launch(bench.problem(), nullptr);
    simt::observe(nullptr);
    if (status) maps[stage.id] = watch.to_json();
  }
  write_text(path, maps.dump() + "\n");
  return 0;
}

}  // namespace gemm
