// Stands in for CUDA's header of the same name: the built-in vector types and their make_ functions.
#pragma once

#include "common/simt/language/types.hpp"
