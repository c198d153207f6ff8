// In a program, what its host code does to memory that is the device's, or that the device may be using.
#pragma once

namespace simt {

void watch_host(bool on);

}  // namespace simt
