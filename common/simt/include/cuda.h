// Stands in for CUDA's header of the same name: programs include it without need. The driver API (cuInit() and so on) is not here.
#pragma once

#include <cuda_runtime.h>

#define CUDA_VERSION CUDART_VERSION
