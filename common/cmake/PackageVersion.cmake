# gemm_package_version(NAME): find_package(NAME 0.9) finds what is installed if its minor version is the same, or from 1.0 on its
# major version.
include(CMakePackageConfigHelpers)
function(gemm_package_version name)
  set(compatibility SameMajorVersion)
  if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
  endif()
  set(file ${PROJECT_BINARY_DIR}/${name}-config-version.cmake)
  write_basic_package_version_file(${file} COMPATIBILITY ${compatibility} ${ARGN})
  install(FILES ${file} DESTINATION lib/cmake/${name} COMPONENT ${name})
endfunction()
