// The list of stages. A stage adds itself with one Registration in its own file; programs and tests find it here.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"

namespace gemm {

/// The arithmetic a kernel promises. Tolerances follow from this and from nothing else (common/check/compare.hpp).
enum class Accuracy {
  fp32,
  tf32,  ///< operands rounded to TF32's 11 bits, or to FP16's
  fp64,
  tensor_fp32,  ///< FP32 sums that are cut off and not rounded, a Tensor Core's; or operands with 22 bits of FP32's 24
};

/// For how many cycles one warp-wide FMA of a stage's inner loop keeps its SM's L1 cache and shared memory busy, with
/// the loads as the source writes them (nvcc may merge some) and without amortised work such as filling tiles. That
/// unit passes one wavefront a cycle, at most one word from each of its 32 banks, and looks up four cache lines a cycle
/// (both read off an H200: docs/stages/01_naive.md).
struct L1Cycles {
  double global = 0;  ///< for loads from global memory that hit the L1 cache
  double shared = 0;  ///< for loads from shared memory

  double sum() const { return global + shared; }
};

/// Enqueues a stage's kernels on a stream and returns without waiting. Which of them are set says what product the
/// stage computes, and of which types.
struct Launch {
  template <class P>
  using Function = Status (*)(const P&, cudaStream_t);

  Function<SgemmProblem> sgemm = nullptr;
  Function<HgemmProblem> hgemm = nullptr;
  Function<TsmttsmProblem<double>> tsmttsm_d = nullptr;
  Function<TsmttsmProblem<double2>> tsmttsm_z = nullptr;
  Function<TsmmProblem<double>> tsmm_d = nullptr;
  Function<TsmmProblem<double2>> tsmm_z = nullptr;

  constexpr Launch() = default;
  constexpr Launch(Function<SgemmProblem> f) : sgemm(f) {}
  constexpr Launch(Function<HgemmProblem> f) : hgemm(f) {}
  constexpr Launch(Function<TsmttsmProblem<double>> d, Function<TsmttsmProblem<double2>> z)
      : tsmttsm_d(d), tsmttsm_z(z) {}
  constexpr Launch(Function<TsmmProblem<double>> d, Function<TsmmProblem<double2>> z) : tsmm_d(d), tsmm_z(z) {}
};

/// How a kernel computes FP32 products on Tensor Cores, if it does.
struct Emulation {
  /// Cost of a product, in FP16 products; a bfloat16 product costs one, a TF32 product two. 0: none on Tensor Cores.
  double fp16_products = 0;
  bool fp16_range = false;  ///< operands are split into FP16 numbers unscaled, so they must be in FP16's range
  /// The choice that a kernel made for the last product with this workspace, such as "fp16". Null: there is no choice.
  std::string (*policy)(const SgemmProblem&) = nullptr;
  const char* usual = "";  ///< the choice for numbers of about one size, whose cost fp16_products is
};

/// Another form of a stage's kernel, for an experiment on the stage's page (another unrolling, the same without its
/// padding pass). Named on the command line as NN:name; in lists only where they are asked for.
struct Variant {
  std::string_view name;  ///< letters, digits, '.', '_', '=' and '-'
  std::string_view idea;  ///< one line: what is different
  Launch launch = {};
  L1Cycles (*l1_cycles)(const SgemmProblem&) = nullptr;  ///< its own prediction, if it makes one
  std::optional<Accuracy> accuracy = {};                 ///< empty: the stage's
  std::optional<Emulation> emulation = {};               ///< empty: the stage's
};

/// What a stage says of itself.
struct StageInfo {
  std::string_view idea;  ///< one line, shown by `list`
  /// Number of the stage that this one changes, in the same family; the head's label Base names it, too. Empty: a root.
  std::string_view base = {};
  /// An SGEMM stage's own prediction for a problem; it may depend on a leading dimension, which decides what meets in a
  /// bank.
  L1Cycles (*l1_cycles)(const SgemmProblem&) = nullptr;
  Accuracy accuracy = Accuracy::fp32;
  int min_compute_capability = 75;  ///< 10 * major + minor
  Launch launch = {};
  Emulation emulation = {};
  bool batch = false;  ///< it takes more than one product at a time (SgemmProblem::batch)
  /// Bytes that launch needs at the problem's workspace, the most that any variant needs. Null: none.
  std::size_t (*workspace_bytes)(const Problem&) = nullptr;
  std::size_t workspace_zeros = 0;  ///< the first bytes of it that are 0 before a launch, which leaves them so
  /// A tall & skinny stage's own prediction: how often a thread waits for device memory, one time after another, on a
  /// GPU with `sms` SMs. Null: latency is not what bounds it.
  double (*waits)(int m, int n, std::int64_t k, int sms) = nullptr;
  std::span<const Variant> variants = {};  ///< in an array that lives as long as the program
  GeneratedKernels generated = {};         ///< for stages that take KernelOptions
};

/// Any stage, as programs and tests see it.
struct Stage {
  std::string_view idea;
  Operation op = Operation::gemm;
  std::optional<Type> type = {};  ///< the only one it takes; a tall & skinny stage takes double and double complex
  Emulation emulation = {};
  bool batch = false;
  Accuracy accuracy = Accuracy::fp32;
  int min_compute_capability = 75;
  L1Cycles (*l1_cycles)(const SgemmProblem&) = nullptr;
  std::function<Status(const Problem&, cudaStream_t)> launch;
  std::size_t (*workspace_bytes)(const Problem&) = nullptr;
  std::size_t workspace_zeros = 0;
  double (*waits)(int m, int n, std::int64_t k, int sms) = nullptr;
  GeneratedKernels generated = {};

  std::string id;  ///< family/NN_name, from the file's path: stages/02_coalesced.cu is sgemm/02_coalesced; a variant's
                   ///< is its stage's, a colon and its name
  std::string number;  ///< NN, or NNa, or NN:variant
  std::string base;    ///< family/NN of the stage that this one changes, of a variant its own; empty: a root
  std::string file;    ///< its source, as the compiler was given it
};

/// All registered stages, sorted by id.
const std::vector<Stage>& stages();

/// "sgemm", "tsm" or "tensorcore".
std::string_view family_of(const Stage& stage);

/// Those for an operation, of operands of this type, in one family; empty: in the one that is about this product, of FP32
/// matrices sgemm.
std::vector<const Stage*> stages_for(Operation op, Type type, std::string_view family = "");

/// The variants of a stage, in its own order. The references stay valid.
const std::vector<Stage>& variants(const Stage& stage);

/// Options that kernels for the other product have; empty if there are none of them.
std::string foreign_options(Operation op, const KernelOptions& options);

/// Why there can be no kernel of a stage that generates them, with these (complete) options; empty if there can be one.
std::string kernel_refusal(const Stage& stage, int m, int n, bool is_complex, const KernelOptions& complete);

/// Finds a stage by full id, NN_name, family/NN or NN alone (which means sgemm), or a variant by that, a colon and its
/// name. Throws UsageError if there is none.
const Stage& find_stage(std::string_view name);

struct Registration {
  Registration(const char* file, const StageInfo& info);
};

}  // namespace gemm
