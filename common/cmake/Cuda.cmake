# CUDA, for the architectures that were asked for, else for the GPUs of this machine, else for all that are supported.
# Before CUDA is enabled, which would settle on the compiler's own default.
set(explicit_architectures "${CMAKE_CUDA_ARCHITECTURES}")
if(NOT explicit_architectures)
  set(CMAKE_CUDA_ARCHITECTURES OFF)
endif()
enable_language(CUDA)
if(NOT explicit_architectures)
  include(Architectures)
  gemm_default_architectures(CMAKE_CUDA_ARCHITECTURES)
endif()
find_package(CUDAToolkit 12.4 REQUIRED)
message(STATUS "CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
