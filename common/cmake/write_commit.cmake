# Run at every build: writes OUTPUT with the commit of SOURCE, only if it changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed OR NOT commit)
  set(commit unknown)
endif()
file(WRITE ${OUTPUT}.new "#include \"common/report/build_info.hpp\"\n\nnamespace gemm {\nstd::string build_commit() { return \"${commit}\"; }\n}  // namespace gemm\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUTPUT}.new ${OUTPUT})
