// Stands in for CUDA's header of the same name: all of it is in cuda_runtime.h.
#pragma once

#include <cuda_runtime.h>
