// All that a stage file needs to include.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/kernel/launch.cuh"
#include "common/kernel/status.hpp"
#include "common/problem/problem.hpp"
#include "common/problem/registry.hpp"
