// How stages are numbered and named: by the files that they are in.
#pragma once

#include <string>
#include <string_view>

namespace gemm {

/// The id of a stage in this file: stages/02_coalesced.cu is sgemm/02_coalesced. Throws std::logic_error unless the
/// path ends in DIRECTORY/NN_name.cu.
std::string stage_id_from_path(std::string_view path);

}  // namespace gemm
