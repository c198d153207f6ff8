# Run at build time: writes OUTPUT, which defines gemm::embedded_headers() with the texts of FILES (relative to SOURCE,
# separated by commas).
set(text "// Written by common/cmake/embed.cmake.\n#include \"common/embedded_headers.hpp\"\n\nnamespace gemm {\n\nconst std::vector<JitHeader>& embedded_headers() {\n  static const std::vector<JitHeader> all = {\n")
string(REPLACE "," ";" files "${FILES}")
foreach(name IN LISTS files)
  file(READ ${SOURCE}/${name} content)
  string(APPEND text "{\"${name}\", R\"~~~~(${content})~~~~\"},\n")
endforeach()
string(APPEND text "};\n  return all;\n}\n\n}  // namespace gemm\n")
file(WRITE ${OUTPUT} "${text}")
