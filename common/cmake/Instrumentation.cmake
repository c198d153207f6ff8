# How g++ compiles kernels for the CPU executor, which observes what they do: see common/simt/run/hooks.cpp.
include(CheckCXXSourceRuns)

# FMAs are counted as instructions. Every x86-64 CPU since 2013 has them, if not in every virtual machine; aarch64 always.
set(fma_option "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(fma_option -mfma)
  set(CMAKE_REQUIRED_FLAGS -mfma)
  check_cxx_source_runs("int main(int argc, char**) { return __builtin_fma(argc, 2.0, 1.0) == 2.0 * argc + 1.0 ? 0 : 1; }" GEMM_HAVE_FMA)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT GEMM_HAVE_FMA)
    message(STATUS "This CPU has no FMA instructions: kernels run, but their FMAs are not counted")
    set(fma_option "")
  endif()
else()
  set(GEMM_HAVE_FMA ON)
endif()

set(GEMM_KERNEL_LEVEL "" CACHE STRING "How far g++ optimises kernels, and only these, such as -O1 (empty: as all else)")

# g++ contracts a * b + c to an FMA when it optimises, and only then.
set(GEMM_COUNTS_FMAS ${GEMM_HAVE_FMA})
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR GEMM_KERNEL_LEVEL MATCHES "^-O[01g]$")
  set(GEMM_COUNTS_FMAS OFF)
endif()

# Ubuntu's g++ makes other calls of memcpy and memset, for checks of its own, and those it expands unseen.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -O2)
check_cxx_source_compiles("#ifndef _FORTIFY_SOURCE\n#error\n#endif\nint main() {}" GEMM_FORTIFIES)
unset(CMAKE_REQUIRED_FLAGS)
set(fortify_option "")
if(GEMM_FORTIFIES)
  set(fortify_option -U_FORTIFY_SOURCE)
endif()

set(gemm_instrumentation
  ${fortify_option}
  # Other sanitizers, if asked for, are for the executor itself: g++ can't combine them with these.
  -fno-sanitize=all
  # A call before each load and store; into each basic block; for each index beyond its array. The executor is what they call.
  -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 -fsanitize-coverage=trace-pc
  # Volatile accesses have calls of their own; and copies stay calls (hooks.cpp's), because of those that it expands g++ tells
  # only where they take one instruction.
  --param=tsan-distinguish-volatile=1 -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -fno-builtin-memcmp
  -fsanitize=bounds -fsanitize-recover=bounds
  # Kernels read floats as float4, which nvcc lets them do.
  -fno-strict-aliasing
  # One access in the source is one access of one thread, and one a * b + c is one FMA.
  # (g++ 13 would leave chains of FMAs apart, because they are slower on some CPUs.)
  -fno-tree-vectorize ${fma_option} -ffp-contract=fast --param=avoid-fma-max-bits=0
  # Two places in the source are two in the program, a barrier in each branch for one: no merging of the ends of branches, nor
  # of equal functions.
  -fno-tree-tail-merge -fno-crossjumping -fno-ipa-icf
  # And one place is one: no copy of a store for each way to get there, as where a value is one of two constants. That would
  # make several requests of a warp's one, and each version of g++ finds other places for it.
  -fno-thread-jumps
  # Nor of a loop, and a barrier in it, for each outcome of a condition: it may differ between threads (g++ 13 at -O3).
  -fno-unswitch-loops -fno-split-loops
  # A basic block begins with the call that counts it. When g++ puts blocks in order, it copies short ones, and so the
  # beginning of a block to the ends of several, whose runs then are not those of the FMAs behind.
  --param=max-grow-copy-bb-insns=0
  # With other parameters than in the source, functions forget on whose line they were inlined (tensorcore/03's ldmatrix).
  -fno-ipa-sra
  # A loop that computes nothing and never ends is stopped, and not left out, as C++ would allow.
  -fno-finite-loops
  # A thread whose local variables don't fit its stack meets the guard page below it, instead of jumping over.
  -fstack-clash-protection
  # For lines in reports.
  -g
  # Where the executor itself is optimised less (the sanitize preset), kernels and so their counts stay the same.
  $<$<CONFIG:RelWithDebInfo>:-O2>
  ${GEMM_KERNEL_LEVEL})

# Compiles CUDA's own syntax, too: <<<...>>>, and dynamic shared memory of any name.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(gemm_kernel_launcher ${Python3_EXECUTABLE} -E -s -S -B ${CMAKE_CURRENT_LIST_DIR}/compile_kernels.py
  ${CMAKE_CXX_COMPILER_LAUNCHER})

# gemm_instrument(file): this source holds kernels.
function(gemm_instrument file)
  set_source_files_properties(${file} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-Wno-unknown-pragmas;${gemm_instrumentation}")
endfunction()

# What all code is compiled and linked with. Shared memory is thread-local: without this, g++ would ask at every access whether
# `extern` arrays need a constructor.
set(gemm_kernel_options -fno-extern-tls-init)
# Copies that g++ leaves to the library are accesses, too (common/simt/run/hooks.cpp).
set(gemm_kernel_link_options LINKER:--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=memcmp
  LINKER:--wrap=__cxa_throw,--wrap=__cxa_allocate_exception)
