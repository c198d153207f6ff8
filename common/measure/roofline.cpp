#include "common/measure/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gemm {
namespace {

constexpr double bytes_per_wavefront = 128;
constexpr double warp_size = 32;

std::string l1_label(const L1Cycles& l1) {
  const bool shared = l1.shared >= l1.global;
  return fmt::format("{}: {:.3g} cycles/FMA", shared ? "shared memory" : "L1 cache", l1.sum());
}

double fma_gflops(const ProblemSpec& spec, const Ceilings& ceilings, double fp16_products) {
  return fp16_products > 0        ? ceilings.hmma_gflops / fp16_products
         : spec.type == Type::f16 ? ceilings.hmma_gflops
         : spec.type == Type::f32 ? ceilings.ffma_gflops
                                  : ceilings.dfma_gflops;
}
std::string cores(const ProblemSpec& spec, double fp16_products) {
  return spec.type == Type::f16 || fp16_products > 0 ? "Tensor Cores"
         : spec.type == Type::f32                    ? "FP32 cores"
                                                     : "FP64 cores";
}

}  // namespace

Floor problem_floor(const ProblemSpec& spec, const Ceilings& ceilings, bool tensor_cores, double fp16_products) {
  const bool faster = tensor_cores && size_of(spec.type) >= 8 && ceilings.dmma_gflops > ceilings.dfma_gflops;
  const double compute =
      spec.flops() / ((faster ? ceilings.dmma_gflops : fma_gflops(spec, ceilings, fp16_products)) * 1e6);
  const double bandwidth = spec.op == Operation::tsmm ? ceilings.scale_gbs : ceilings.read_gbs;
  const double memory = spec.compulsory_bytes() / (bandwidth * 1e6);
  return compute >= memory ? Floor{compute, faster ? "FP64 Tensor Cores" : cores(spec, fp16_products)}
                           : Floor{memory, "device memory"};
}

L1Cycles l1_cycles(const Stage& stage, const ProblemSpec& spec) {
  if (!stage.l1_cycles) return {};
  SgemmProblem problem;
  problem.m = spec.m;
  problem.n = spec.n;
  problem.k = static_cast<int>(spec.k);
  problem.lda = spec.row_stride_a();
  problem.ldb = spec.row_stride_b();
  problem.ldc = spec.row_stride_c();
  return stage.l1_cycles(problem);
}

Floor stage_prediction(const Stage& stage, const ProblemSpec& spec, const Ceilings& ceilings, unsigned blocks,
                       int sm_count) {
  const double busy = std::clamp(static_cast<double>(blocks) / sm_count, 1.0 / sm_count, 1.0);
  const std::string idle = busy < 1.0 ? fmt::format(", {} of {} SMs busy", blocks, sm_count) : "";

  Floor floor = problem_floor(spec, ceilings, false, stage.emulation.fp16_products);
  const auto consider = [&](double ms, const std::string& by) {
    if (ms > floor.ms) floor = {ms, by};
  };
  const L1Cycles l1 = l1_cycles(stage, spec);
  const double warp_fmas = spec.flops() / 2 / warp_size;
  consider(spec.flops() / (fma_gflops(spec, ceilings, stage.emulation.fp16_products) * 1e6) / busy,
           cores(spec, stage.emulation.fp16_products) + idle);
  // The shared-memory ceiling is the rate of wavefronts, 128 bytes each and one a cycle: it stands for L1's cycles.
  consider(warp_fmas * l1.sum() * bytes_per_wavefront / (ceilings.shared_gbs * 1e6) / busy, l1_label(l1) + idle);
  if (stage.waits) consider(stage.waits(spec.m, spec.n, spec.k, sm_count) * ceilings.latency_ns * 1e-6, "latency");
  consider(ceilings.launch_us * 1e-3, "launch");
  return floor;
}

CountedBound counted_bound(const Counts& counts, std::optional<double> instructions) {
  const double steps = counts.steps();
  CountedBound bound;
  if (steps == 0) {
    bound.by = "no FMAs";
    return bound;
  }
  if (counts.on_tensor_cores() && counts.is_double) {
    bound.units = {{"Tensor Cores", cycles_per_tensor_fma64}};
    bound.peak = "FP64 Tensor Core";
  } else if (counts.on_tensor_cores()) {
    bound.units = {{"Tensor Cores", cycles_per_mma}};
    bound.peak = "Tensor Core";
    bound.step = "mma";
  } else if (counts.fma64.value_or(0) > counts.fma32.value_or(0)) {
    bound.units = {{"FP64 cores", cycles_per_warp_fma64}};
    bound.peak = "FP64";
  } else {
    bound.units = {{"FP32 cores", cycles_per_warp_fma}};
  }
  bound.at_peak = bound.units.front().cycles;
  const double shared = static_cast<double>(counts.shared_load.wavefronts + counts.shared_store.wavefronts);
  const bool is_shared = counts.data_cycles() > 0 && shared >= counts.data_cycles() / 2;
  bound.units.push_back({is_shared ? "shared memory" : "L1 cache", counts.data_cycles() / steps});
  bound.units.push_back({"L1 tags", counts.tag_cycles() / steps});
  if (instructions) bound.units.push_back({"issue slots", *instructions / issue_slots});
  const BusyUnit& busiest =
      *std::ranges::max_element(bound.units, {}, [](const BusyUnit& unit) { return unit.cycles; });
  bound.by = busiest.name;
  bound.cycles = busiest.cycles;
  bound.share_of_peak = bound.at_peak / bound.cycles;
  return bound;
}

double predicted_share_of_peak(const Stage& stage, const ProblemSpec& spec) {
  return std::min(1.0, cycles_per_warp_fma / std::max(l1_cycles(stage, spec).sum(), 1e-9));
}

std::string predicted_bound(const Stage& stage, const ProblemSpec& spec) {
  return predicted_share_of_peak(stage, spec) < 1.0 ? l1_label(l1_cycles(stage, spec))
                                                    : cores(spec, stage.emulation.fp16_products);
}

}  // namespace gemm
