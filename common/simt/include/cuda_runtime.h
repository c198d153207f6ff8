// Stands in for CUDA's header of the same name in a `cpu` build, so that kernels and harness compile unchanged with
// g++. Language: what a kernel needs (common/simt/language/language.hpp). Runtime: memory, streams and errors
// (common/simt/language/runtime.hpp).
#pragma once

// By these, other headers know what has been included.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __HOST_DEFINES_H__

#include "common/simt/language/graphs.hpp"
#include "common/simt/language/language.hpp"
#include "common/simt/language/runtime.hpp"
#include "common/simt/language/written_launch.hpp"
#include "common/simt/run/executor.hpp"
#ifndef SIMT_KEYWORDS_STAY  // for whom rewrites the text, and refuses then
#include "common/simt/language/refused.hpp"
#endif
