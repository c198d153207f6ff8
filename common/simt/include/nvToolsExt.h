// Stands in for CUDA's header of the same name: see nvtx3/nvToolsExt.h.
#pragma once

#include <nvtx3/nvToolsExt.h>
