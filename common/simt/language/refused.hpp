// Parts of CUDA C++ that are not here, and that no header of their own brings in: who uses one is told so in one line.
#pragma once

#define SIMT_REFUSED_TEXTURES _Pragma("GCC error \"the CPU executor has no textures, surfaces and CUDA arrays\"")
#define cudaTextureObject_t SIMT_REFUSED_TEXTURES unsigned long long
#define cudaSurfaceObject_t SIMT_REFUSED_TEXTURES unsigned long long
#define cudaArray_t SIMT_REFUSED_TEXTURES void*
