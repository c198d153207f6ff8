# What programs must know to compile kernels while they run (common/toolchain/jit.hpp).

# gemm_kernel_headers(OUT): the headers whose texts are compiled at run time: those that sources ask for by
# gemm::kernel_headers("name"), and what these include. (The executor's own come in besides, where it is what compiles.) Of a
# stage's own file that is what stands above its line #ifndef __CUDACC_RTC__.
function(gemm_kernel_headers out)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*/*.cu ${PROJECT_SOURCE_DIR}/*/probes/*.cu)
  set(found "")
  set(named "")
  foreach(source ${sources})
    file(STRINGS ${source} lines REGEX "kernel_headers\\(\"")
    foreach(line ${lines})
      string(REGEX REPLACE ".*kernel_headers\\(\"([^\"]*)\".*" "\\1" name "${line}")
      list(APPEND named ${name})
    endforeach()
  endforeach()
  while(named)
    list(POP_FRONT named name)
    if(name IN_LIST found OR name MATCHES "^common/simt/")
      continue()
    endif()
    list(APPEND found ${name})
    # Which headers there are is decided when CMake runs, so a change of one makes it run again.
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${name} lines REGEX "^#(include \"|ifndef __CUDACC_RTC__)")
    foreach(line ${lines})
      if(line MATCHES "^#ifndef")
        break()
      endif()
      string(REGEX REPLACE "#include \"([^\"]*)\".*" "\\1" name "${line}")
      list(APPEND named ${name})
    endforeach()
  endwhile()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# gemm_embed(TARGET FUNCTION HEADER files...): the files' texts become part of the target, which gemm::FUNCTION(), declared in
# HEADER, gives back.
function(gemm_embed target function header)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  list(JOIN ARGN "," files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DFILES=${files} -DOUTPUT=${output}
            -DFUNCTION=${function} -DHEADER=${header}
            -P ${PROJECT_SOURCE_DIR}/common/cmake/embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/common/cmake/embed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# gemm_record_compiler(TARGET headers...): how the executor's kernels are compiled here becomes part of the target
# (common/backend/cpu/jit_flags.hpp). They all begin with the executor's headers, which are compiled in advance: else half
# of a kernel's time would go there. Shared memory is an array of the program's, so its place is known when a kernel is
# loaded. DWARF 4, because addr2line of binutils 2.40 takes the first header of a DWARF 5 file for the source file. Lines
# alone (-g1), because a check compiles thirty kernels and takes most of its time for that. (-O2 would take less, but unrolls
# less, and then a warp's lanes can make other requests, which are counted.) No libraries, because a kernel finds all that it calls
# in the program. And <cmath> without Bessel functions and the like, which each kernel would instantiate again.
function(gemm_record_compiler target)
  set(begin ${PROJECT_BINARY_DIR}/kernel_begin.hpp)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${configuration}}")
  list(APPEND flags -std=c++20 -Wno-unknown-pragmas ${gemm_instrumentation} ${gemm_kernel_options}
    -gdwarf-4 -g1 -fPIC -fvisibility=hidden -ftls-model=initial-exec)
  set(link -shared -nostdlib ${gemm_kernel_link_options})
  list(TRANSFORM link REPLACE "^LINKER:" "-Wl,")
  file(CONFIGURE OUTPUT ${begin} CONTENT "#include <cstddef>\n#undef _GLIBCXX_USE_STD_SPEC_FUNCS\n#include <cuda_runtime.h>\n#include \"common/simt/code/jit_entry.hpp\"\n")
  add_custom_command(OUTPUT ${begin}.gch DEPENDS ${begin} ${ARGN} VERBATIM COMMAND_EXPAND_LISTS
    COMMAND ${CMAKE_CXX_COMPILER} "${flags}" -I${PROJECT_SOURCE_DIR}/common/simt/include -I${PROJECT_SOURCE_DIR}
            -xc++-header ${begin} -o ${begin}.gch)
  add_custom_target(kernel_begin DEPENDS ${begin}.gch)
  add_dependencies(${target} kernel_begin)
  list(JOIN flags "\n" flags)
  string(PREPEND flags "-xc++\n")
  list(JOIN link "\n" link)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/jit_flags.cpp CONTENT "// Written by RunTimeCompilation.cmake.
#include \"common/backend/cpu/jit_flags.hpp\"

namespace gemm::jit_flags {
const char* const compiler = \"${CMAKE_CXX_COMPILER}\";
const char* const version = \"${CMAKE_CXX_COMPILER_VERSION}\";
const char* const begin = \"${begin}\";
const char* const compile = R\"~~~~(${flags})~~~~\";
const char* const link = R\"~~~~(${link})~~~~\";
}  // namespace gemm::jit_flags
")
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/jit_flags.cpp)
endfunction()
