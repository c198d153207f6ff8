// The stream that a stage is given to work in. Work in a default stream is then a mistake, although here all runs at once:
// on a GPU it is in no order with what comes before and after in the given stream.
#pragma once

#include <string>

#include "common/simt/language/runtime_types.hpp"

namespace simt {

/// Null: the default stream, or none at all.
inline cudaStream_t given_stream = nullptr;

/// Reports work in a default stream while another is given. `who` does it: "the kernel add", "cudaMemsetAsync()"; it was
/// issued at `pc`.
void expect_given_stream(cudaStream_t used, const std::string& who, const void* pc);

}  // namespace simt
