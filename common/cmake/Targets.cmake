# How sources become targets on either back end. In a `cpu` build the .cu files are compiled by g++ as C++, with the
# executor's cuda_runtime.h in place of CUDA's.

# gemm_sources(TARGET files... [UNINSPECTED files...]): adds files to a target. The executor looks on what kernels do, except
# in UNINSPECTED files: what their kernels write, inspected kernels must not read.
function(gemm_sources target)
  cmake_parse_arguments(arg "" "" "UNINSPECTED" ${ARGN})
  target_sources(${target} PRIVATE ${arg_UNPARSED_ARGUMENTS} ${arg_UNINSPECTED})
  if(GEMM_ON_GPU)
    return()
  endif()
  foreach(file ${arg_UNINSPECTED})
    set_source_files_properties(${file} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-Wno-unknown-pragmas")
  endforeach()
  foreach(file ${arg_UNPARSED_ARGUMENTS})
    if(file MATCHES "\\.cu$")
      gemm_instrument(${file})
    endif()
  endforeach()
endfunction()

# gemm_kernel_library(NAME files...): an OBJECT library. Objects, because a registration is a static object that nothing refers
# to: from an archive the linker would leave it out.
function(gemm_kernel_library name)
  add_library(${name} OBJECT)
  gemm_sources(${name} ${ARGN})
  target_link_libraries(${name} PUBLIC gemm_options)
endfunction()

# gemm_stages(OUT directory): one OBJECT library and one executable for each NN_name.cu there; OUT lists the libraries.
function(gemm_stages out directory)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/[0-9][0-9]*.cu)
  get_filename_component(family ${directory} NAME)
  if(family STREQUAL stages)
    set(family sgemm)
  endif()
  set(libraries "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    if(GEMM_STAGES AND NOT name MATCHES "^(${GEMM_STAGES})")
      continue()
    endif()
    gemm_kernel_library(stage_${family}_${name} ${file})
    list(APPEND libraries stage_${family}_${name})
    add_executable(${family}_${name})
    target_link_libraries(${family}_${name} PRIVATE stage_main stage_${family}_${name} gemm_harness)
  endforeach()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

# gemm_probes(OUT directory): one OBJECT library for each NAME.cu there (common/probe.hpp), and one for the .cpp files that they
# share; OUT lists them.
function(gemm_probes out directory)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cu)
  file(GLOB shared CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${directory}/*.cpp)
  set(libraries "")
  if(shared)
    gemm_kernel_library(probes_shared ${shared})
    list(APPEND libraries probes_shared)
  endif()
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    gemm_kernel_library(probe_${name} ${file})
    list(APPEND libraries probe_${name})
  endforeach()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

# gemm_carry(TARGET library): a shared library lies beside the program, too, under the name by which the loader asks for it.
function(gemm_carry target library)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different
      $<TARGET_SONAME_FILE:${library}> $<TARGET_FILE_DIR:${target}>)
  endif()
endfunction()

# gemm_unhurried(files...): host code that nobody waits for (options, reports, tests): a third less to compile.
function(gemm_unhurried)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
