// A launch by <<<...>>>, on its way to the runtime.
#pragma once

#include "common/simt/language/grid.hpp"
#include "common/simt/language/runtime_types.hpp"

namespace simt {

/// A launch, as it stands in the source.
struct WrittenLaunch {
  Launch launch;
  cudaStream_t stream = nullptr;
  const char* name = nullptr;  ///< the kernel's, if launch.kernel is only what calls it
  const void* pc = nullptr;    ///< names its line
};

/// Told of each launch by <<<...>>> if there is one; false: it is not to run.
inline bool (*on_written_launch)(const WrittenLaunch& what) = nullptr;

}  // namespace simt
