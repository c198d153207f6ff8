// Stands in for CUDA's header of the same name in a `cpu` build, so that kernels and harness compile unchanged with
// g++. Language: what a kernel needs (common/simt/language/language.hpp). Runtime: memory, streams and errors
// (common/simt/language/runtime.hpp).
#pragma once

#include "common/simt/language/language.hpp"
#include "common/simt/language/refused.hpp"
#include "common/simt/language/runtime.hpp"
#include "common/simt/language/written_launch.hpp"
#include "common/simt/run/executor.hpp"
