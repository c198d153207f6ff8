# For find_package(staged_gemm): the targets
#   staged_gemm::staged_gemm   the C functions of staged_gemm.h; needs neither CUDA's headers nor a toolkit
#   staged_gemm::tall_skinny, staged_gemm::tcec_sgemm   C++, which includes <cuda_runtime.h>
#   staged_gemm::wmma_ext      headers for nvcc
find_package(CUDAToolkit QUIET)
include(${CMAKE_CURRENT_LIST_DIR}/staged_gemm-targets.cmake)
