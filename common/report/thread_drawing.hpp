// A map of threads as a picture in text.
#pragma once

#include <string>

#include "common/backend/thread_map.hpp"

namespace gemm {

/// Two pictures side by side, in at most 80 columns: the warp of each element, and its lane. As many elements as have the
/// same warp, or thread, share a character; what does not fit even so is left out, and the picture says so. In colour each
/// warp has one, and thread 0's elements stand out.
std::string drawing(const ThreadMap& map, bool colour);

/// Numbers in rising order, in short: "0-3, 16-19".
std::string ranges(const std::vector<int>& numbers);

}  // namespace gemm
