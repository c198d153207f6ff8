# How sources become targets on either back end. In a `cpu` build the .cu files are compiled by g++ as C++, with the
# executor's cuda_runtime.h in place of CUDA's.

# The stages of a sample: those that tests name, and the largest.
if(GEMM_SAMPLE AND NOT GEMM_STAGES)
  set(GEMM_STAGES "0[1-4]|18|10_presplit|11_any")
endif()

# gemm_sources(TARGET files... [UNINSPECTED files...]): adds files to a target. The executor looks on what kernels do, except
# in UNINSPECTED files: what their kernels write, inspected kernels must not read.
function(gemm_sources target)
  cmake_parse_arguments(arg "" "" "UNINSPECTED" ${ARGN})
  target_sources(${target} PRIVATE ${arg_UNPARSED_ARGUMENTS} ${arg_UNINSPECTED})
  if(GEMM_ON_GPU)
    return()
  endif()
  if("${ARGN}" MATCHES "\\.cu(;|$)")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${gemm_kernel_launcher}")
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
# Files with kernels share a precompiled header, which is instrumented as they are: a copy of an inline function that is not
# would count nothing.
function(gemm_kernel_library name)
  add_library(${name} OBJECT)
  target_link_libraries(${name} PUBLIC gemm_options)
  set(others ${ARGN})
  list(FILTER others EXCLUDE REGEX "\\.cu$")
  if(GEMM_ON_GPU OR others)
    gemm_sources(${name} ${ARGN})
    return()
  endif()
  target_sources(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${gemm_kernel_launcher}")
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS -xc++)
  target_compile_options(${name} PRIVATE -Wno-unknown-pragmas ${gemm_instrumentation})
  if(NOT TARGET kernel_header)
    file(WRITE ${PROJECT_BINARY_DIR}/kernel_header.cpp "// Only for its precompiled header.\n")
    add_library(kernel_header OBJECT ${PROJECT_BINARY_DIR}/kernel_header.cpp)
    target_link_libraries(kernel_header PUBLIC gemm_options)
    target_compile_options(kernel_header PRIVATE -Wno-unknown-pragmas ${gemm_instrumentation})
    target_precompile_headers(kernel_header PRIVATE ${PROJECT_SOURCE_DIR}/common/stage.cuh)
  endif()
  target_precompile_headers(${name} REUSE_FROM kernel_header)
endfunction()

# gemm_stages(FAMILY): one OBJECT library and one executable for each NN_name.cu of this folder. FAMILY_stages lists the libraries
# in the caller; the global properties gemm_stages, gemm_numbered_probes and gemm_stage_programs, those of all folders.
function(gemm_stages family)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/[0-9][0-9]*.cu)
  set(libraries "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    if((GEMM_STAGES AND NOT name MATCHES "^(${GEMM_STAGES})") OR "${family}_${name}" IN_LIST GEMM_BROKEN)
      continue()
    endif()
    gemm_kernel_library(stage_${family}_${name} ${file})
    list(APPEND libraries stage_${family}_${name})
    add_executable(${family}_${name})
    target_link_libraries(${family}_${name} PRIVATE stage_${family}_${name})
    # What it is and what it needs: its text says.
    file(STRINGS ${file} generates REGEX "^#include \"(common/toolchain/jit|tsm/generated/|tsm/choice)")
    file(STRINGS ${file} measures REGEX "^const gemm::ProbeRegistration")
    if(measures)
      target_link_libraries(${family}_${name} PRIVATE main_probe gemm_tools)
      set_property(GLOBAL APPEND PROPERTY gemm_numbered_probes stage_${family}_${name})
      continue()
    endif()
    target_link_libraries(${family}_${name} PRIVATE main_stage)
    set_property(GLOBAL APPEND PROPERTY gemm_stage_programs ${family}_${name})
    if(GEMM_NVCC OR GEMM_ON_GPU)
      target_link_libraries(${family}_${name} PRIVATE as_compiled)
    endif()
    if(generates)
      target_link_libraries(${family}_${name} PRIVATE gemm_jit)
    endif()
    target_link_libraries(${family}_${name} PRIVATE gemm_harness)
  endforeach()
  set_property(GLOBAL APPEND PROPERTY gemm_stages ${libraries})
  set(${family}_stages "${libraries}" PARENT_SCOPE)
endfunction()

# gemm_stages_that_include(PREFIX LIST OUT): those libraries in the list named LIST whose stage includes a file that begins so.
function(gemm_stages_that_include prefix list out)
  set(found "")
  foreach(library ${${list}})
    get_target_property(file ${library} SOURCES)
    file(STRINGS ${file} includes REGEX "^#include \"${prefix}")
    if(includes)
      list(APPEND found ${library})
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# gemm_probes(directory): one OBJECT library for each NAME.cu there (common/report/probe_report.hpp), and one for the .cpp files that
# they share, in the global property gemm_probes.
function(gemm_probes directory)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/*.cu)
  file(GLOB shared CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/*.cpp)
  if(shared)
    gemm_kernel_library(probes_shared ${shared})
    set_property(GLOBAL APPEND PROPERTY gemm_probes probes_shared)
  endif()
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    gemm_kernel_library(probe_${name} ${file})
    set_property(GLOBAL APPEND PROPERTY gemm_probes probe_${name})
  endforeach()
endfunction()

# gemm_carry(TARGET library): a shared library lies beside the program, too, under the name by which the loader asks for it.
function(gemm_carry target library)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different
      $<TARGET_SONAME_FILE:${library}> $<TARGET_FILE_DIR:${target}>)
  endif()
endfunction()

# gemm_unhurried(targets...): host code that nobody waits for (options, reports, tests): a third less to compile. For a whole
# target, because a precompiled header must be compiled as what includes it.
function(gemm_unhurried)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endforeach()
endfunction()
