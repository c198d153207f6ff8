// FP32 products on Tensor Cores, one or a batch of them: split (split.cuh), multiply with a stage's kernel, and add up
// slices (epilogue.cuh).
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/backend/device_memory.hpp"
#include "tensorcore/presplit/product.cuh"

namespace presplit {

enum class Policy {
  automatic,  // FP16, and TF32 for what that can't be sure of
  half,       // FP16 in any case: small numbers of a row lose digits beside ones 2^17 times as large
  tf32,
};

// Matrices are split in groups, so that a large batch doesn't need twice its memory.
constexpr std::size_t GROUP_BYTES = std::size_t{1} << 31;

// C_i = alpha op(A_i) op(B_i) + beta C_i.
struct Request {
  int m = 0, n = 0, k = 0, batch = 1;  // k: 0 if alpha is
  float alpha = 1, beta = 0;
  Vectors a{}, b{};
  Results c{};
  Policy policy = Policy::automatic;
  bool wide = false;  // tiles of C of 128 x 256: Wide

  bool is_empty() const { return m == 0 || n == 0 || batch == 0; }  // C has no element
};

constexpr int LEAST_SLICE = 128, MOST_SLICES = 64;  // steps of k, of which a slice has no fewer

// How a request is worked off, and where what lies in the workspace, in bytes from its begin.
struct Plan {
  int a_panels, b_panels, tiles_m, tiles_n;
  int slices, slice_k;
  int group;  // matrices at a time
  std::size_t left, a_exponents, a_uncertain, b_exponents, b_uncertain, partial, tiles_a, tiles_b, bytes;

  template <class Number>
  static int tiles_k(int k) {
    return gemm::ceil_div(k, TILE_K<Number>);
  }

  explicit Plan(const Request& r) : a_panels(gemm::ceil_div(r.m, PANEL)), b_panels(gemm::ceil_div(r.n, 2 * PANEL) * 2) {
    const gemm::DeviceLimits device = gemm::device_limits();
    tiles_m = gemm::ceil_div(r.m, r.wide ? Wide::TILE_M : Usual::TILE_M);
    tiles_n = gemm::ceil_div(r.n, r.wide ? Wide::TILE_N : Usual::TILE_N);
    const std::int64_t tiles = std::int64_t{tiles_m} * tiles_n;
    const std::int64_t places = device.multiprocessors * (r.wide ? Wide::BLOCKS : Usual::BLOCKS);
    const std::int64_t fit = std::min<std::int64_t>(places / std::max<std::int64_t>(tiles * r.batch, 1), MOST_SLICES);
    const int wanted = static_cast<int>(std::clamp<std::int64_t>(fit, 1, std::max(r.k / LEAST_SLICE, 1)));
    slice_k = std::max(gemm::ceil_div(gemm::ceil_div(r.k, wanted), TILE_K<Half>), 1) * TILE_K<Half>;
    slices = std::max(gemm::ceil_div(r.k, slice_k), 1);

    const int deepest = r.policy == Policy::half ? tiles_k<Half>(r.k) : tiles_k<Tf32>(r.k);
    const std::size_t a = std::size_t{TILE_BYTES} * a_panels * deepest,
                      b = std::size_t{TILE_BYTES} * b_panels * deepest;
    const std::size_t most = GROUP_BYTES / std::max<std::size_t>(a + b, 1);
    group = static_cast<int>(std::clamp<std::size_t>(most, 1, std::max(r.batch, 1)));
    std::size_t end = aligned(sizeof(Findings) * r.batch);  // these for all the batch
    const auto next = [&](std::size_t each) {
      const std::size_t begin = end;
      end += aligned(each * group);
      return begin;
    };
    left = next(std::max<std::size_t>(tiles, finishing_blocks(r.m, r.n)));
    a_exponents = next(sizeof(int) * PANEL * a_panels);
    a_uncertain = next(sizeof(float) * PANEL * a_panels);
    b_exponents = next(sizeof(int) * PANEL * b_panels);
    b_uncertain = next(sizeof(float) * PANEL * b_panels);
    partial = next(slices == 1 ? 0 : sizeof(float) * slices * tiles * (r.wide ? Wide::AREA : Usual::AREA));
    tiles_a = next(a);  // TF32's tiles lie where FP16's were
    tiles_b = next(b);
    bytes = end;
  }

 private:
  static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
};

template <class Operand>  // Vectors or Results
Operand from_matrix(Operand x, int matrix) {
  if (x.matrices)
    x.matrices += matrix;
  else
    x.first += matrix * x.to_next_matrix;
  return x;
}

// Matrices that are worked off together: `count` of them from `first` on.
struct Group {
  const Request& r;
  const Plan& plan;
  unsigned char* workspace;
  int first, count;
  cudaStream_t stream;
};

// Splits and multiplies them: `multiply` is a stage's kernel for tiles of shape S.
template <class Number, class S>
gemm::Status launch_group(const Group& g, void (*multiply)(ProductRequest), Take take) {
  const bool asked = take == Take::certain || take == Take::left;
  Findings* const findings = asked ? reinterpret_cast<Findings*>(g.workspace) + g.first : nullptr;
  const Tiles a_tiles{g.workspace + g.plan.tiles_a, reinterpret_cast<int*>(g.workspace + g.plan.a_exponents),
                      reinterpret_cast<float*>(g.workspace + g.plan.a_uncertain), g.plan.a_panels};
  const Tiles b_tiles{g.workspace + g.plan.tiles_b, reinterpret_cast<int*>(g.workspace + g.plan.b_exponents),
                      reinterpret_cast<float*>(g.workspace + g.plan.b_uncertain), g.plan.b_panels};
  const SplitRequest split{
      .a = from_matrix(g.r.a, g.first),
      .b = from_matrix(g.r.b, g.first),
      .a_tiles = a_tiles,
      .b_tiles = b_tiles,
      .k = g.r.k,
      .tiles_k = Plan::tiles_k<Number>(g.r.k),
      .findings = findings,
      .again = take == Take::left,
  };
  gemm::Status status = launch_split<Number>(split, g.count, g.stream);
  if (!status) return status;
  const ProductRequest product{
      .m = g.r.m,
      .n = g.r.n,
      .k = g.r.k,
      .alpha = g.r.alpha,
      .beta = g.r.beta,
      .a = split.a,
      .b = split.b,
      .a_tiles = a_tiles,
      .b_tiles = b_tiles,
      .c = from_matrix(g.r.c, g.first),
      .tiles_m = g.plan.tiles_m,
      .tiles_n = g.plan.tiles_n,
      .tiles_k = split.tiles_k,
      .slices = g.plan.slices,
      .slice_tiles = g.plan.slice_k / TILE_K<Number>,
      .partial = reinterpret_cast<float*>(g.workspace + g.plan.partial),
      .partial_rows = g.plan.tiles_m * S::TILE_M,
      .partial_cols = g.plan.tiles_n * S::TILE_N,
      .take = take,
      .findings = findings,
      .left = g.workspace + g.plan.left,
  };
  status = gemm::launch(multiply,
                        {.grid = static_cast<unsigned>(g.plan.tiles_m) * g.plan.tiles_n * g.plan.slices * g.count,
                         .block = S::THREADS,
                         .dynamic_shared = S::SHARED_BYTES,
                         .stream = g.stream,
                         .may_begin_early = true},
                        product);
  if (!status || g.plan.slices == 1) return status;
  return gemm::launch(finish_products<>,
                      {.grid = static_cast<unsigned>(finishing_blocks(g.r.m, g.r.n)) * g.count,
                       .block = FINISH_THREADS,
                       .stream = g.stream,
                       .may_begin_early = true},
                      product);
}

// body(group): for all matrices of a request, the groups one after another. workspace: Plan(r).bytes of device memory,
// aligned to 256 bytes; what they hold before doesn't matter.
template <class Body>
gemm::Status by_groups(const Request& r, void* workspace, cudaStream_t stream, const Body& body) {
  if (r.is_empty()) return gemm::Status::ok();
  const Plan plan(r);
  unsigned char* const bytes = static_cast<unsigned char*>(workspace);
  for (int first = 0; first < r.batch; first += plan.group) {
    const Group group{r, plan, bytes, first, std::min(plan.group, r.batch - first), stream};
    if (const gemm::Status status = body(group); !status) return status;
  }
  return gemm::Status::ok();
}

// By policy; the workspace is that of by_groups. Defined in tensorcore/10 and 11, beside their kernels.
using Launch = gemm::Status(const Request& r, void* workspace, cudaStream_t stream);
Launch launch_half, launch_automatic, launch_tf32;
template <Policy POLICY>
constexpr Launch* launch = POLICY == Policy::half   ? launch_half
                           : POLICY == Policy::tf32 ? launch_tf32
                                                    : launch_automatic;

// SGEMM as the harness has it.
inline Request request(const gemm::SgemmProblem& p, Policy policy, bool wide = false) {
  return {
      .m = p.m,
      .n = p.n,
      .k = p.depth(),
      .batch = p.batch,
      .alpha = p.alpha,
      .beta = p.beta,
      .a = {p.a, nullptr, p.stride_a, p.lda, 1, p.m},
      .b = {p.b, nullptr, p.stride_b, 1, p.ldb, p.n},
      .c = {p.c, nullptr, p.stride_c, p.ldc},
      .policy = policy,
      .wide = wide,
  };
}

template <Policy POLICY, bool WIDE = false>
gemm::Status launch_sgemm(const gemm::SgemmProblem& p, cudaStream_t stream) {
  return launch<POLICY>(request(p, POLICY, WIDE), p.workspace, stream);
}
// What a launch of Policy::automatic on this workspace has taken, once it has ended.
inline std::string policy_taken(const gemm::SgemmProblem& p) {
  if (p.batch == 0 || p.m == 0 || p.n == 0) return "fp16";
  std::vector<Findings> all(static_cast<std::size_t>(p.batch));
  gemm::check_cuda(cudaMemcpy(all.data(), p.workspace, sizeof(Findings) * all.size(), cudaMemcpyDeviceToHost),
                   "read what was found");
  std::int64_t whole = 0, in_parts = 0, again = 0;
  for (const Findings& found : all) {
    const bool few = found.uncertain_numbers <= most_uncertain(p.m, p.n, p.depth());
    whole += !few;
    in_parts += few && found.uncertain_parts > 0;
    again += found.again;
  }
  std::string text = whole == p.batch ? "tf32" : whole + in_parts == 0 ? "fp16" : "fp16 and tf32";
  if (again > 0) text += ", " + std::to_string(again) + " elements in fp32";
  return text;
}
// The most that either kind of tiles needs.
template <Policy POLICY>
std::size_t workspace_bytes(const gemm::SgemmProblem& p) {
  return std::max(Plan(request(p, POLICY, true)).bytes, Plan(request(p, POLICY)).bytes);
}

}  // namespace presplit
