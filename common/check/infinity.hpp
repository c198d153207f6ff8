// Infinity, NaN and numbers of very different size among the operands.
#pragma once

#include <string>

#include "common/problem/registry.hpp"

namespace gemm {

/// Whether the stage multiplies FP32 numbers of all their range, so that infinity and NaN come out as FP32 arithmetic has them.
bool has_infinity(const Stage& stage);

/// Launches a stage of which that is so on products with both, with zeros times infinity, and with numbers far larger than
/// their neighbours. Empty if every element of C is what it must be, else the first that is not. Throws DeviceError.
std::string wrong_infinity(const Stage& stage);

}  // namespace gemm
