# Run at build time: writes OUTPUT, which defines gemm::FUNCTION(), declared in HEADER, with names and texts of FILES (relative
# to SOURCE, separated by commas).
set(text "// Written by common/cmake/embed.cmake.\n#include \"${HEADER}\"\n\nnamespace gemm {\n\nconst std::vector<EmbeddedText>& ${FUNCTION}() {\n  static const std::vector<EmbeddedText> all = {\n")
string(REPLACE "," ";" files "${FILES}")
foreach(name IN LISTS files)
  file(READ ${SOURCE}/${name} content)
  string(APPEND text "{\"${name}\", R\"~~~~(${content})~~~~\"},\n")
endforeach()
string(APPEND text "};\n  return all;\n}\n\n}  // namespace gemm\n")
file(WRITE ${OUTPUT} "${text}")
