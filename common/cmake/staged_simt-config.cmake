# For find_package(staged_simt): CUDA programs that run on the CPU executor, without a GPU and without CUDA.
#
#   find_package(staged_simt REQUIRED)
#   simt_add_executable(name main.cu kernels.cu)
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(fmt)
find_dependency(Python3 COMPONENTS Interpreter)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "staged_simt needs g++: the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/staged_simt-targets.cmake)
get_filename_component(staged_simt_headers ${CMAKE_CURRENT_LIST_DIR}/../../../include/staged_simt ABSOLUTE)
file(READ ${CMAKE_CURRENT_LIST_DIR}/compile_words staged_simt_compile_words)

# simt_add_executable(NAME files...): all of the program's files, of which one has a main(). It is linked with the executor,
# which looks on while it runs.
function(simt_add_executable name)
  add_executable(${name} ${ARGN})
  foreach(file ${ARGN})
    if(file MATCHES "\\.cu$")
      set_source_files_properties(${file} PROPERTIES LANGUAGE CXX)
    endif()
  endforeach()
  target_compile_options(${name} PRIVATE ${staged_simt_compile_words})
  target_include_directories(${name} SYSTEM BEFORE PRIVATE ${staged_simt_headers}/common/simt/include ${staged_simt_headers})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
    "${Python3_EXECUTABLE};-E;-s;-S;-B;${staged_simt_headers}/common/cmake/compile_program.py")
  target_link_libraries(${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,staged_simt::staged_simt>)
endfunction()
