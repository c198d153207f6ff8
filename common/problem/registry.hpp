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

/// Another form of a stage's kernel, for an experiment on the stage's page (another unrolling, the same without its
/// padding pass). Named on the command line as NN:name; in lists only where they are asked for.
struct Variant {
  std::string_view name;  ///< letters, digits, '.', '_', '=' and '-'
  std::string_view idea;  ///< one line: what is different
  Status (*launch)(const SgemmProblem&, cudaStream_t) = nullptr;
  L1Cycles (*l1_cycles)(const SgemmProblem&) = nullptr;  ///< its own prediction, if it makes one
};

/// What an SGEMM stage says of itself.
struct StageInfo {
  std::string_view idea;  ///< one line, shown by `list`
  /// The stage's own prediction for a problem; it may depend on a leading dimension, which decides what meets in a
  /// bank.
  L1Cycles (*l1_cycles)(const SgemmProblem&) = nullptr;
  Accuracy accuracy = Accuracy::fp32;
  int min_compute_capability = 75;  ///< 10 * major + minor
  /// Enqueues the kernels on the stream and returns without waiting.
  Status (*launch)(const SgemmProblem&, cudaStream_t) = nullptr;
  /// How many floats launch needs at SgemmProblem::workspace, the most that any variant needs. Null: none.
  std::size_t (*workspace_floats)(const SgemmProblem&) = nullptr;
  std::size_t workspace_zeros = 0;         ///< the first so many of them are 0 before a launch, which leaves them so
  std::span<const Variant> variants = {};  ///< in an array that lives as long as the program
};

/// The same for FP16 operands: another launch, and what a stage of them says of itself.
struct HgemmVariant {
  std::string_view name, idea;
  Status (*launch)(const HgemmProblem&, cudaStream_t) = nullptr;
};
struct HgemmInfo {
  std::string_view idea;
  Accuracy accuracy = Accuracy::tensor_fp32;
  int min_compute_capability = 75;
  Status (*launch)(const HgemmProblem&, cudaStream_t) = nullptr;
  std::size_t (*workspace_bytes)(const HgemmProblem&) = nullptr;  ///< the most that any variant needs. Null: none
  std::span<const HgemmVariant> variants = {};
};

/// The same for FP32 operands and results by way of Tensor Cores.
struct TcecVariant {
  std::string_view name, idea;
  Status (*launch)(const SgemmProblem&, cudaStream_t) = nullptr;
  Accuracy accuracy = Accuracy::tensor_fp32;
  /// What a product costs Tensor Cores, in products of FP16 numbers, which bfloat16 ones equal and TF32 ones take twice
  /// as long as; 0: it is left to plain cores.
  double fp16_products = 3;
  bool fp16_range = true;  ///< operands are parted into FP16 numbers as they are, so must be in the range of those
  /// Of a kernel that chooses for itself: what it has chosen for the last product with this workspace, such as "fp16".
  std::string (*policy)(const SgemmProblem&) = nullptr;
};
struct TcecInfo {
  std::string_view idea;
  int min_compute_capability = 80;
  Status (*launch)(const SgemmProblem&, cudaStream_t) = nullptr;
  Accuracy accuracy = Accuracy::tensor_fp32;
  double fp16_products = 3;
  bool fp16_range = true;
  bool batch = false;  ///< it takes more than one product at a time (SgemmProblem::batch)
  std::string (*policy)(const SgemmProblem&) = nullptr;
  std::size_t (*workspace_bytes)(const SgemmProblem&) = nullptr;  ///< the most that any variant needs. Null: none
  std::span<const TcecVariant> variants = {};
};

/// The same for another launch of a tall & skinny kernel, and what a stage of them says of itself. Problem:
/// TsmttsmProblem or TsmmProblem.
template <template <class> class Problem>
struct TsmVariant {
  std::string_view name, idea;
  Status (*launch_d)(const Problem<double>&, cudaStream_t) = nullptr;
  Status (*launch_z)(const Problem<double2>&, cudaStream_t) = nullptr;
};
template <template <class> class Problem>
struct TsmInfo {
  std::string_view idea;
  int min_compute_capability = 75;
  Status (*launch_d)(const Problem<double>&, cudaStream_t) = nullptr;
  Status (*launch_z)(const Problem<double2>&, cudaStream_t) = nullptr;
  /// How many bytes launch needs as workspace, given m, n, k and sizeof(T), the most that any variant needs.
  std::size_t (*workspace_bytes)(int m, int n, std::int64_t k, std::size_t element) = nullptr;
  std::size_t workspace_zeros = 0;  ///< the first so many bytes of them are 0 before a launch, which leaves them so
  /// The stage's own prediction: how often a thread waits for device memory, one time after another, on a GPU with so
  /// many SMs. Null: latency is not what bounds it.
  double (*waits)(int m, int n, std::int64_t k, int sms) = nullptr;
  std::span<const TsmVariant<Problem>> variants = {};
  GeneratedKernels generated = {};  ///< for stages that take KernelOptions
};
using TsmttsmInfo = TsmInfo<TsmttsmProblem>;
using TsmmInfo = TsmInfo<TsmmProblem>;

/// Any stage, as programs and tests see it.
struct Stage {
  std::string_view idea;
  Operation op = Operation::gemm;
  std::optional<Type> type = {};  ///< the only one it takes; a tall & skinny stage takes double and double complex
  double fp16_products = 0;       ///< of an FP32 stage on Tensor Cores, as in TcecInfo
  bool fp16_range = false;
  bool batch = false;
  Accuracy accuracy = Accuracy::fp32;
  int min_compute_capability = 75;
  L1Cycles (*l1_cycles)(const SgemmProblem&) = nullptr;
  std::function<Status(const Problem&, cudaStream_t)> launch;
  std::function<std::size_t(const Problem&)> workspace_bytes;  ///< empty: none
  std::function<std::string(const Problem&)> policy;           ///< as in TcecInfo; empty: there is no choice
  std::size_t workspace_zeros = 0;                             ///< bytes
  double (*waits)(int m, int n, std::int64_t k, int sms) = nullptr;
  GeneratedKernels generated = {};

  std::string id;  ///< family/NN_name, from the file's path: stages/02_coalesced.cu is sgemm/02_coalesced; a variant's
                   ///< is its stage's, a colon and its name
  std::string number;  ///< NN, or NNa, or NN:variant
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
  Registration(const char* file, const HgemmInfo& info);
  Registration(const char* file, const TcecInfo& info);
  Registration(const char* file, const TsmttsmInfo& info);
  Registration(const char* file, const TsmmInfo& info);
};

}  // namespace gemm
