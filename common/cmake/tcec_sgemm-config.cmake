# For find_package(tcec_sgemm): what its archives were built with must be here, too.
include(CMakeFindDependencyMacro)
foreach(package Threads CLI11 fmt nlohmann_json CUDAToolkit)
  find_dependency(${package})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/tcec_sgemm-targets.cmake)
