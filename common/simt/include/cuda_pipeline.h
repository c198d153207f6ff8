// Stands in for CUDA's header of the same name, of which only the primitives are there.
#pragma once

#include "common/simt/include/cuda_pipeline_primitives.h"
