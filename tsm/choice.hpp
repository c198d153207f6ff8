// Which of the generated kernels to launch for a tall & skinny product: what was tuned on a GPU like this one, else
// what was tuned for a size like this one, else a rule. K matters only where it is so short that A and B are about as
// large as the L2 cache: tables are tuned with far more, and say up to where 09 is ahead.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/problem/registry.hpp"
#include "common/toolchain/embedded_headers.hpp"

namespace gemm {

/// The fastest kernel found for a size by a search on a GPU: a line of tsm/tuned/GPU.json.
struct TunedKernel {
  Operation op = Operation::tsmttsm;
  Type type = Type::f64;
  int m = 0, n = 0;
  std::string stage;  ///< id
  KernelOptions options;
};
struct TunedTable {
  std::string device;  ///< as the CUDA runtime calls it
  std::string commit;  ///< with which it was tuned; empty for a table without kernels
  std::vector<TunedKernel> kernels;
  /// Of TSMTTSM, of real and of complex numbers: between how many megabytes of A and B stage 09, with its model's
  /// options, is faster than the kernel that was tuned, by the wider one's columns, from 1 on.
  using Range = std::array<double, 2>;
  std::array<std::vector<Range>, 2> short_mb = {};
};

/// Parses {"device": ..., "commit": ..., "kernels": [{"op": "tsmttsm", "type": "d", "m": 16, "n": 16, "stage": ...,
/// "options": ...}], "short_mb": {"d": [[0, 9.5], ...], "z": [...]}}, the options as kernel_options_from_json() has them. What a
/// kernel doesn't name it has from the one before; an option, too, where no stage is named. Throws UsageError, with `name`
/// in front.
TunedTable parse_tuned_table(std::string_view name, std::string_view text);

/// The files of tsm/tuned/ as they were when the program was built, and what they hold.
const std::vector<EmbeddedText>& embedded_tables();
const std::vector<TunedTable>& tuned_tables();

/// That of the GPU of this name; else the one whose name has most words in common with it, such as "H200"; else the
/// H200's. Null if there are none.
const TunedTable* nearest_table(std::span<const TunedTable> tables, std::string_view device);

/// Where a choice comes from.
enum class ChoiceFrom { tuned, neighbour, rule };
constexpr const char* choice_name(ChoiceFrom from) {
  return from == ChoiceFrom::tuned ? "tuned" : from == ChoiceFrom::neighbour ? "neighbour" : "rule";
}

struct Choice {
  const Stage* stage = nullptr;  ///< null: there is none, and `reason` says why
  KernelOptions options;         ///< all of them
  ChoiceFrom from = ChoiceFrom::rule;
  std::string reason;
};

/// How rows of TSMM's B lie: side by side from an address that 16 divides; from another one; or with gaps between them.
enum class RowsOfB { aligned, displaced, padded };

/// The rows of a problem: how many, how those of TSMM's B lie, and whether they are A's.
struct LongSide {
  std::int64_t rows;
  RowsOfB rows_of_b;
  bool in_place;

  LongSide(std::int64_t rows = any_long_side, RowsOfB rows_of_b = RowsOfB::aligned, bool in_place = false)
      : rows(rows), rows_of_b(rows_of_b), in_place(in_place) {}
};

/// For m, n >= 1, among `candidates` in the order of their numbers, the first one with its model's options where a
/// TSMTTSM has few rows (docs/tsm/14_best.md); by a rule where rows of TSMM's B are padded or
/// displaced (docs/tsm/15_tsmm_best.md); else:
/// (a) the stage and options of the table for this very size;
/// (b) else those of the tuned size nearest by the logarithms of m and n, or that stage with its model's options, if a
/// kernel of this size can't have the tuned ones, or would be 5 % slower with them, by the model;
/// (c) where nothing was tuned for this product and type, by docs/tsm/14_best.md and 15_tsmm_best.md, the first
/// candidate where C is narrow and the last, a pipeline, where it is wide.
/// With options that are asked for, the stage's model chooses the rest. A stage that refuses gives way to the others,
/// and so does one that can't have TSMM's B in A's place where it is.
Choice choose_kernel(const TunedTable& tuned, std::span<const Stage* const> candidates, Operation op, Type type, int m,
                     int n, const KernelOptions& asked, LongSide side = {});

/// The same for this device (without one, for an H200), from its table, among all stages that generate kernels for the
/// product.
Choice choose_kernel(Operation op, Type type, int m, int n, const KernelOptions& asked = {}, LongSide side = {});

/// The most workspace that a stage of choose_kernel() asks for, in bytes.
std::size_t most_workspace(const Problem& problem);

/// Whether B is A, so that the product is A's Gram matrix: it is symmetric (or Hermitian), and A is read once.
bool is_gram(const Problem& problem);

/// Whether TSMM's B is A.
///
/// Stages 13 and 13c, and the kernels compiled ahead of time, allow that. A row of A belongs to one warp. All its bytes
/// come to shared memory by cp.async; each lane waits for its own copies, and __syncwarp() follows, before the warp
/// multiplies and then stores the row. Copies in flight meanwhile are of rows that the same warp stores later. A sector
/// that two warps' rows share may be read before or after the other one's store: each uses its own bytes. Stage 12 must
/// not: threads of several warps may read a row that one of them has already stored.
bool is_in_place(const Problem& problem);

/// For the registration of a stage that launches what is chosen.
GeneratedKernels chosen_tsmttsm();
GeneratedKernels chosen_tsmm();

/// What is chosen for a problem: after the first time a look into a map. Not for several threads at a time. The reference
/// stays valid. Of a Gram matrix not all options are settled: the stage's own model for these has the rest.
const Choice& known_choice(const Problem& problem);

/// Launches it.
Status launch_chosen(const Problem& problem, cudaStream_t stream);

}  // namespace gemm
