// Where the variables of the device lie in the program.
#pragma once

#include <cstdint>

#include "common/simt/observe/onlookers.hpp"

namespace simt {

HostWatch::Range device_section();
HostWatch::Range managed_section();
HostWatch::Range constant_section();

/// Whether the address lies in a section of __device__, __managed__ or __constant__ variables.
bool is_device_section(std::uintptr_t address);
/// Of __managed__ variables alone.
bool is_managed_section(std::uintptr_t address);

}  // namespace simt
