// Stands in for CUDA's header of the same name in a `cpu` build, so that kernels and harness compile unchanged with
// g++. Language: what a kernel needs (common/simt/language.hpp). Runtime: memory and errors (common/simt/runtime.hpp).
#pragma once

#include "common/simt/executor.hpp"
#include "common/simt/language.hpp"
#include "common/simt/runtime.hpp"
