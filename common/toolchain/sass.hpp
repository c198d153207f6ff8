// What nvcc made of a source file's kernels: registers and spills from ptxas, the hot loop's instructions from the
// machine code (SASS). The CPU executor counts accesses as the source writes them; nvcc may merge scalar loads, and
// only the SASS shows that. Needs no GPU and no CUDA headers, only nvcc, and nvdisasm for all that concerns SASS.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gemm {

struct Toolchain {
  std::string nvcc;      ///< absolute path
  std::string version;   ///< of nvcc: "13.0.88"
  std::string nvdisasm;  ///< absolute path; empty if there is none
};

/// nvcc as ./lab finds it: $CUDACXX, else PATH, else /usr/local/cuda/bin, else the wheels that lab put into this
/// checkout's .lab/. nvdisasm from beside it, else from PATH, else from .lab/. (cuobjdump would not do instead of it:
/// it starts nvdisasm itself.) Nothing if there is no nvcc, or if $CUDACXX is set and is none.
std::optional<Toolchain> find_toolchain();

/// How often each class of instruction occurs in a piece of machine code: static counts, one for all 32 lanes. Memory
/// instructions are classed by bits per lane ("LDS.128", "STG.32", "LDGSTS.128", generic "LD.64", local "LDL.32"),
/// ldmatrix by matrices ("LDSM.x4"), Tensor Core instructions by shape and types ("HMMA.16816.F32"), the rest by name.
using InstructionCounts = std::map<std::string, int>;

/// Accesses to shared and global memory for which a line of the source file is responsible, those of functions inlined
/// there included: line number to counts.
using LineInstructions = std::map<int, InstructionCounts>;

/// The innermost loop with the most multiply-adds. nvcc unrolls: one round may be many of the source's.
struct HotLoop {
  int line = 0;          ///< of the source file, the one with most of the multiply-adds; 0 if not known
  int instructions = 0;  ///< in one round, of all classes
  InstructionCounts counts;
  LineInstructions lines;
  std::vector<std::string> code;  ///< all of them in order, without guards: "DFMA R4, R12.reuse, R16, R4"

  /// Scalar multiply-adds a lane: FFMA and DFMA count one, FFMA2 and HFMA2 two.
  int multiply_adds() const;
  /// HMMA, DMMA, IMMA, HGMMA, ...
  int tensor_instructions() const;
  /// LDS of any width, and LDSM.
  int shared_loads() const;
  /// LDG of any width, and LDGSTS (cp.async).
  int global_loads() const;
  /// So many instructions, divided by the Tensor Core instructions if there are any, else by the multiply-adds.
  double per_fma(int instructions) const;
  double shared_loads_per_fma() const { return per_fma(shared_loads()); }
  double global_loads_per_fma() const { return per_fma(global_loads()); }
};

struct CompiledKernel {
  std::string symbol;              ///< mangled
  std::string signature;           ///< demangled
  std::string name;                ///< the function's, without namespaces and template arguments
  std::string template_arguments;  ///< "16, float", empty if it is no template
  std::string architecture;        ///< "sm_90a"
  int registers = 0;               ///< a thread
  int stack_bytes = 0;             ///< a thread: local arrays and spilled registers
  int spill_store_bytes = 0;       ///< a thread
  int spill_load_bytes = 0;        ///< a thread
  int static_shared_bytes = 0;     ///< a block, without dynamic shared memory
  int barriers = 0;
  int instructions = 0;  ///< of the whole kernel, each counted once, whether a loop repeats it or not
  std::optional<HotLoop> loop;
  LineInstructions lines;   ///< of the whole kernel, with nvcc's copies of a loop (unrolled, and for the rest)
  std::string no_loop_why;  ///< set where `loop` is not: no nvdisasm, it failed, or no loop multiplies
};

/// Compiles a source file for one architecture, as a Release build does, into a temporary directory that is gone
/// afterwards, and tells what became of each kernel, sorted by signature. Takes about a second. `include_root` is the
/// directory that #include "common/..." is relative to. Throws std::runtime_error with nvcc's first error line if it
/// fails, and for a path with $ ` " or \ in it, which nvcc would have a shell interpret.
std::vector<CompiledKernel> compile_kernels(const Toolchain& toolchain, const std::string& source,
                                            const std::string& include_root,
                                            const std::string& architecture = "sm_90a");

/// The kernels' resources for people, and each hot loop's instructions; lines of at most 110 columns.
std::string show(const std::vector<CompiledKernel>& kernels);

// ---- the parts that read the tools' output, which need no tools

/// The kernels in the output of `ptxas -v`.
std::vector<CompiledKernel> parse_ptxas(std::string_view output);

struct MachineCode {
  int instructions = 0;  ///< without the branch to itself and the NOPs behind a kernel
  std::optional<HotLoop> loop;
  LineInstructions lines;
};

/// The output of `nvdisasm -c -gi`, by mangled function name. `source` is the file that line numbers shall refer to, as
/// nvcc was given it. Where an inlined function is called on neighbouring lines, nvdisasm may name
/// the first of them for both.
std::map<std::string, MachineCode> parse_sass(std::string_view text, std::string_view source);

/// The class of an instruction (see InstructionCounts), empty for those that are not counted: integer arithmetic,
/// moves, control. `opcode` with its modifiers: "LDG.E.128.CONSTANT".
std::string instruction_class(std::string_view opcode, std::string_view operands);

}  // namespace gemm
