// Stands in for CUDA's header of the same name: threadIdx and its relatives.
#pragma once

#include "common/simt/language/language.hpp"
