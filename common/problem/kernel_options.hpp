// How a kernel that is generated for a problem shall be made: what the command line says, and what a stage chooses.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/problem/reduction.hpp"

namespace gemm {

/// Those that give a right result.
inline constexpr Reduction reductions[] = {Reduction::atomics, Reduction::shared_atomics, Reduction::local,
                                           Reduction::ordered};

constexpr const char* reduction_name(Reduction reduction) {
  return reduction == Reduction::atomics          ? "atomics"
         : reduction == Reduction::shared_atomics ? "shared-atomics"
         : reduction == Reduction::local          ? "local"
         : reduction == Reduction::ordered        ? "ordered"
                                                  : "none";
}

/// Where a thread of TSMM has the elements of C from that it needs for each row: its registers, device memory (that is,
/// the L1 cache), or its block's copy in shared memory.
enum class CSource { registers, global, shared };
constexpr const char* c_source_name(CSource source) {
  return source == CSource::registers ? "registers" : source == CSource::global ? "global" : "shared";
}

/// 0 or nothing: not said.
struct KernelOptions {
  // Of TSMTTSM.
  int tile_m = 0, tile_n = 0;           ///< elements of C that a thread adds up
  std::optional<bool> transposed = {};  ///< neighbouring threads have neighbouring columns, and not tiles
  std::optional<bool> leapfrog = {};    ///< the next rows are loaded before these are multiplied
  // Of both.
  int unroll = 0;  ///< rows that are loaded together
  // Of TSMTTSM.
  std::optional<Reduction> reduction = {};
  // Of both.
  int products = 0;  ///< of real numbers, for one of complex ones: 4, or 3 and more additions
  int threads = 0;   ///< of a block
  // Of TSMM.
  std::optional<CSource> c_source = {};
  // threads_per_row: with t threads for a row of B, each has every t-th column. turns: sets of rows that a block has, one
  // after the other. If options are complete and it is 0, only as many blocks as fit at a time have all rows.
  int threads_per_row = 0, turns = 0;

  bool of_tsmttsm() const { return tile_m || tile_n || transposed || leapfrog || reduction; }
  bool of_tsmm() const { return c_source || threads_per_row || turns; }
  /// Such a kernel is there to be timed, and never to be used: only `batch` takes these options.
  bool incorrect_on_purpose() const { return reduction == Reduction::none; }
  bool any() const { return of_tsmttsm() || of_tsmm() || unroll || products || threads; }
  auto operator<=>(const KernelOptions&) const = default;
};

struct JitRequest;
struct JitResult;

/// A kernel that there can be, and how good a stage's model takes it for: an SM's cycles for a row of K.
struct Candidate {
  KernelOptions options;  ///< complete
  double cycles = 0;
};
enum class Search { promising, exhaustive };

/// Rows of the long side, where it is longer than anything that depends on it.
constexpr std::int64_t any_long_side = std::numeric_limits<std::int64_t>::max();

/// What a stage says whose kernels are compiled for each m and n, of real or complex numbers.
struct GeneratedKernels {
  /// All options: those that are asked for, and its own choice of the rest.
  KernelOptions (*choose)(int m, int n, bool is_complex, const KernelOptions& asked) = nullptr;
  /// Why there can be no kernel with these (complete) options; empty if there can be one.
  std::string (*refusal)(int m, int n, bool is_complex, const KernelOptions& complete) = nullptr;
  /// All kernels that there can be with the options that are asked for, the best first; `promising`: without those that
  /// have too many registers by the model, and without options that the model does not vary.
  std::vector<Candidate> (*candidates)(int m, int n, bool is_complex, const KernelOptions& asked,
                                       Search search) = nullptr;
  /// What to compile.
  JitRequest (*request)(int m, int n, bool is_complex, bool conjugate, const KernelOptions& complete) = nullptr;
  /// Compiles and keeps it: gemm::find_kernel(), named here so that programs without such stages need no compiler.
  JitResult (*find)(const JitRequest& request) = nullptr;

  /// Of a stage that launches other stages' kernels: whose (an id; empty if none can) and with which (complete) options,
  /// for a long side of k rows.
  std::pair<std::string, KernelOptions> (*chosen)(int m, int n, std::int64_t k, bool padded, bool is_complex,
                                                  const KernelOptions& asked) = nullptr;

  explicit operator bool() const { return choose != nullptr; }
};

}  // namespace gemm
