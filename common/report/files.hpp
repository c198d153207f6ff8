// Files that commands write: whole or not at all.
#pragma once

#include <string>

namespace gemm {

/// Writes text to a file by way of a temporary one beside it, so that nothing half-written is ever seen; "-" is
/// standard output, and what is no regular file (a pipe, a device) is written to directly. Throws UsageError.
void write_text(const std::string& path, const std::string& text);

/// Throws UsageError now if write_text would later, so that no long work is lost. An empty path is fine: nothing to
/// write.
void require_writable(const std::string& path);

/// Prints text for people on standard output, unless that is where the JSON goes.
void tell(const std::string& json_path, const std::string& text);

}  // namespace gemm
