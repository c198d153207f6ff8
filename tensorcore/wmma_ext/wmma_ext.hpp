// Matrix fragments without shared memory: an extension of nvcuda::wmma, after H. Ootomo and R. Yokota, "Reducing Shared
// Memory Footprint to Leverage High Throughput on Tensor Cores and its Flexible API Extension Library" (2023).
// Header-only, C++20, sm_75 and later, CUDA's headers only. ../README.md has the list of what is here.
#pragma once

// Besides nvcc the CPU executor's compiler knows kernels; its headers are there then.
#if !defined(__CUDACC__) && !__has_include("common/simt/language/language.hpp")
#error "wmma_ext has kernels: compile this file with nvcc (as a .cu file; in CMake its LANGUAGE is CUDA)"
#else
#include "discover.hpp"
#include "fill.hpp"
#include "foreach.hpp"
#include "fragment.hpp"
#include "layout.hpp"
#include "map.hpp"
#include "matrices.hpp"
#include "mma.hpp"
#include "operators.hpp"
#include "print.hpp"
#include "self_test.hpp"
#include "vector.hpp"
#endif
