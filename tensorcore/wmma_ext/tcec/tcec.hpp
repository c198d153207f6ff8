// FP32 matrix products on Tensor Cores, with the interface of nvcuda::wmma: a kernel moves here by its types.
//
//   using namespace wmma_ext;
//   tcec::fragment<matrix_a, 32, 32, 32, __half, row_major> a;  // from a float*: the split happens in registers
//   tcec::load_matrix_sync(a, p, ldm);
//   ...
//   tcec::mma_sync(c, a, b, c);
//
// An operand v becomes h + d 2^-11, both FP16 (or TF32, or three bfloat16's); h h' is added up with rounding to nearest,
// h d' + d h' inside the Tensor Cores. Method: H. Ootomo and R. Yokota, "Recovering Single Precision Accuracy from
// Tensor Cores While Surpassing the FP32 Theoretical Peak Performance" (2022). Range: split.hpp. mma.sync and
// nvcuda::wmma's TF32 and bfloat16 need sm_80, FP16 sm_75 (with shape 16 x 8 x 8, or nvcuda::wmma's).
#pragma once

// Besides nvcc the CPU executor's compiler knows kernels; its headers are there then.
#if !defined(__CUDACC__) && !__has_include("common/simt/language/language.hpp")
#error "wmma_ext has kernels: compile this file with nvcc (as a .cu file; in CMake its LANGUAGE is CUDA)"
#else
#include "complex.hpp"  // and with it all others
#endif
