// A failure as it is told to the stage's author.
#pragma once

#include <string>
#include <vector>

namespace gemm {

/// The explanation, a sentence on a line, and then the line of source that it names last, or else the reason, as it stands in the
/// file.
std::string told(const std::string& reason, const std::vector<std::string>& explanation);

}  // namespace gemm
